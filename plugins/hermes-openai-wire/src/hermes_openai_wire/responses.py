"""One streamed call of the Responses API, through the ``openai`` SDK, which is imported when it is first used."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from types import ModuleType

from hermes_core.errors import ProviderError, Unavailable, UserError
from hermes_core.types import (
    JSON,
    CallDelta,
    Delta,
    Done,
    ReasoningDelta,
    Request,
    StopReason,
    TextDelta,
    ToolSpec,
    UsageDelta,
)
from hermes_openai_wire.line import Line
from hermes_openai_wire.responses_input import ITEMS, responses_arguments
from hermes_openai_wire.usage import read_usage
from hermes_provider_kit.calls import mended_delta
from hermes_provider_kit.replies import Patience
from hermes_provider_kit.surrogates import mend

__all__ = ["stream_responses"]

INSTALL = "pip install 'hermes-openai-wire[responses]'"
_TEXT = frozenset({"response.output_text.delta", "response.refusal.delta"})
_THOUGHT = frozenset({"response.reasoning_summary_text.delta", "response.reasoning_text.delta"})
_WAITS = frozenset({"keepalive", "response.queued", "response.in_progress"})  # bring a reply on by nothing
_END = frozenset({"response.completed", "response.incomplete", "response.failed"})


async def stream_responses(line: Line, request: Request, model: str) -> AsyncGenerator[Delta, None]:
    """Answer piece by piece. Raises ProviderError, or UserError when the SDK is not installed."""
    sdk = _sdk(line)
    import httpx2

    client = sdk.AsyncOpenAI(
        api_key=line.service.key or "none",
        base_url=line.service.url,
        max_retries=0,  # retries are the kernel's
        timeout=line.stale_seconds,
        default_headers=line.request_headers(),
        http_client=(shared := _shared_client(sdk, line)),
    )
    try:
        stream = await client.responses.create(**responses_arguments(line, request, model))
        reply = _Reply(line, model, request.tools)
        try:
            patience = Patience(line.service, line.stale_seconds)
            async for event in stream:
                said = event.to_dict(warnings=False) if hasattr(event, "to_dict") else event
                deltas = reply.take(said)
                patience.hear(something=said.get("type") not in _WAITS, size=len(str(said.get("delta", ""))))
                for delta in deltas:
                    yield delta
                if reply.ended:
                    break
        finally:
            await stream.close()
        for delta in reply.end():
            yield delta
    except (sdk.OpenAIError, httpx2.HTTPError, httpx2.StreamError) as error:
        raise await _failure(sdk, line, model, error) from error
    except (ValueError, AttributeError, TypeError, RecursionError) as error:  # what the SDK makes of a broken stream
        raise Unavailable(f"{line.service.title} sent a reply that is not the Responses protocol: {error}") from error
    finally:
        if shared is None:
            await client.close()


def _sdk(line: Line) -> ModuleType:
    try:
        import openai
    except ImportError:
        raise UserError(
            f"{line.service.title} is set to the responses protocol, which needs the openai package.",
            hint=f"Install it: {INSTALL}. Or set protocol to chat.",
        ) from None
    return openai


def _shared_client(sdk: ModuleType, line: Line) -> object:
    # From major 3 the SDK speaks through httpx2, so our one client serves; older ones bring their own library.
    return line.client() if int(sdk.__version__.split(".")[0]) >= 3 else None


class _Reply:
    """The state of one reply: what the stream said so far. ``tools`` are those on offer."""

    def __init__(self, line: Line, model: str, tools: Sequence[ToolSpec]) -> None:
        self._tools = tools
        self._line = line
        self._model = model
        self._calls = 0
        self._items: list[JSON] = []
        self._refused = False
        self._last: Mapping[str, JSON] | None = None
        self._status = ""

    @property
    def ended(self) -> bool:
        """Whether the service said that the reply is over."""
        return self._last is not None

    def take(self, event: Mapping[str, JSON]) -> list[Delta]:
        """The deltas of one event. Raises ProviderError."""
        kind = event.get("type")
        if kind in _TEXT and isinstance(event.get("delta"), str):
            self._refused = self._refused or kind == "response.refusal.delta"
            return [TextDelta(text=mend(event["delta"]))] if event["delta"] else []
        if kind in _THOUGHT and isinstance(event.get("delta"), str):
            return [ReasoningDelta(text=mend(event["delta"]))] if event["delta"] else []
        if kind == "response.output_item.done" and isinstance(event.get("item"), dict):
            return self._item(event["item"])
        if kind == "error":
            raise self._error(event)
        if kind in _END:
            found = event.get("response")
            self._last = found if isinstance(found, dict) else {}
            self._status = str(kind).removeprefix("response.")
            if self._status == "failed":
                raise self._error(self._last.get("error") or {"message": "the reply failed"})
        return []

    def _error(self, error: JSON) -> ProviderError:
        from hermes_provider_kit.failures import broken_off

        return broken_off(error, service=self._line.about(self._model))

    def _item(self, item: Mapping[str, JSON]) -> list[Delta]:
        if item.get("type") == "reasoning":
            # Without the sealed content the service cannot use it, as nothing is stored there.
            if item.get("encrypted_content"):
                self._items.append({k: v for k, v in item.items() if v is not None and k != "status"})
        elif item.get("type") == "function_call":
            self._calls += 1
            arguments = str(item.get("arguments") or "").strip() or "{}"
            call_id = str(item.get("call_id") or item.get("id") or f"call_{self._calls}")
            name = str(item.get("name") or "")
            made = CallDelta(index=self._calls - 1, id=call_id, name=name, arguments=mend(arguments))
            # Whether the whole reply is cut is not known here; one that is cut says of the item that it is incomplete.
            return [mended_delta(made, self._tools, cut=item.get("status") == "incomplete")]
        return []

    def end(self) -> list[Delta]:
        """Usage and Done. Raises Unavailable when the reply was cut."""
        if self._last is None:
            raise Unavailable(f"{self._line.service.title} cut the reply: the stream ended before it was finished.")
        usage = self._last.get("usage")
        meta = {self._line.key: {ITEMS: self._items}} if self._items else {}
        return [
            UsageDelta(usage=read_usage(usage if isinstance(usage, dict) else {})),
            Done(reason=self._reason(self._last), meta=meta),
        ]

    def _reason(self, last: Mapping[str, JSON]) -> StopReason:
        details = last.get("incomplete_details")
        why = details.get("reason") if isinstance(details, dict) else ""
        if self._refused or why == "content_filter":
            return "refused"
        if self._status == "incomplete":
            return "length"
        return "tools" if self._calls else "stop"


async def _failure(sdk: ModuleType, line: Line, model: str, error: Exception) -> ProviderError:
    if isinstance(error, sdk.APIStatusError):
        from hermes_openai_wire.chat import reply_failure

        headers = {name.lower(): value for name, value in error.response.headers.items()}
        return await reply_failure(line, model, error.status_code, headers, _body_text(error))
    if isinstance(error, sdk.APIError) and isinstance(error.body, dict):
        from hermes_provider_kit.failures import broken_off

        return broken_off(error.body, service=line.about(model))
    from hermes_provider_kit.transport import network_failure

    cause = error.__cause__ if isinstance(error.__cause__, Exception) else error
    return network_failure(line.service, cause, line.stale_seconds)


def _body_text(error: Exception) -> str:
    from json import dumps

    try:
        return str(error.response.text)  # type: ignore[attr-defined]
    except Exception:  # noqa: BLE001 - an unread body raises a different error in each major
        return dumps({"error": getattr(error, "body", None) or str(error)}, default=str)
