"""A request as the body of a chat-completions call."""

from collections.abc import Mapping

from hermes_core.types import JSON, Request
from hermes_openai_wire.entry import Entry
from hermes_openai_wire.marks import FIELD, marked, wants_marks
from hermes_openai_wire.messages import Conversion, Encoded, Written, encoded, to_messages, to_tools
from hermes_provider_kit.shape import named, wanted

__all__ = ["chat_body", "clamp_effort", "encode", "held_to", "is_reasoning_model", "output_limit"]

_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


def chat_body(
    entry: Entry,
    key: str,
    request: Request,
    model: str,
    extra: Mapping[str, JSON],
    *,
    with_usage: bool = True,
    whole: bool = False,
    written: Written | None = None,
) -> dict[str, JSON]:
    """The body of a call; ``extra`` is laid over it last, and a null in it takes a field away.

    A ``whole`` answer comes at once, every other is streamed. With what was ``written`` before, messages and tools are
    JSON already.
    """
    reasoning_model = is_reasoning_model(entry, model)
    how = Conversion(entry=entry, key=key, system_role="developer" if reasoning_model else "system")
    messages: JSON
    if wants_marks(entry, model, extra):  # which stand elsewhere with each request
        messages, extra = marked(to_messages(request.messages, how), extra), {**extra}
        extra.pop(FIELD, None)
    else:
        messages = written.messages(request.messages, how) if written else to_messages(request.messages, how)
    body: dict[str, JSON] = {"model": model, "messages": messages, "stream": not whole}
    if with_usage and not whole:
        body["stream_options"] = {"include_usage": True}
    if request.tools:
        body["tools"] = written.tools(request.tools) if written else to_tools(request.tools)
    if limit := output_limit(entry, request):
        body[entry.max_tokens_field] = limit
    temperature = request.options.get("temperature")
    if isinstance(entry.temperature, int | float):
        body["temperature"] = entry.temperature
    elif temperature is not None and entry.temperature != "omit" and not reasoning_model:
        body["temperature"] = temperature
    if not (entry.no_effort and model.rsplit("/", 1)[-1].lower().startswith(entry.no_effort)):
        _add_effort(body, entry, str(request.options.get("effort") or ""))
    if schema := held_to(entry, request, model):
        body["response_format"] = {"type": "json_schema", "json_schema": named(schema)}
    for over in (entry.extra_body, extra):
        for name, value in over.items():
            if value is None:
                body.pop(name, None)
            else:
                body[name] = value
    return body


def held_to(entry: Entry, request: Request, model: str) -> dict[str, JSON]:
    """The schema that the service can hold the answer to; empty where there is none, or it cannot."""
    able = model.rsplit("/", 1)[-1].lower().startswith(entry.schemas) and not (entry.local and request.tools)
    return wanted(request) if entry.schemas and able else {}


def encode(body: Mapping[str, JSON]) -> bytes:
    """The body's bytes; a lone surrogate becomes a question mark."""
    fields = (f"{encoded(name)}:{held if type(held) is Encoded else encoded(held)}" for name, held in body.items())
    return f"{{{','.join(fields)}}}".encode("utf-8", "replace")


def is_reasoning_model(entry: Entry, model: str) -> bool:
    """Whether it is a model that wants the developer role and no temperature."""
    return bool(entry.reasoning_models) and model.rsplit("/", 1)[-1].lower().startswith(entry.reasoning_models)


def output_limit(entry: Entry, request: Request) -> int:
    """The most tokens the reply may have, within what the service takes; 0 leaves it to the service."""
    wanted = request.options.get("max_tokens") or entry.default_output
    limit = wanted if isinstance(wanted, int) else 0
    return min(limit, entry.max_output) if entry.max_output else limit


def clamp_effort(entry: Entry, effort: str) -> str:
    """The nearest effort the service knows, the lower one of two; empty when it knows none."""
    if effort not in _EFFORTS or not entry.efforts or effort in entry.efforts:
        return effort if effort in _EFFORTS else ""
    wanted = _EFFORTS.index(effort)
    known = sorted(_EFFORTS.index(e) for e in entry.efforts if e in _EFFORTS)
    lower = [e for e in known if e < wanted]
    return _EFFORTS[lower[-1] if lower else known[0]] if known else ""


def _add_effort(body: dict[str, JSON], entry: Entry, effort: str) -> None:
    effort = clamp_effort(entry, effort)
    if not effort:
        return
    if entry.effort == "reasoning_effort":
        body["reasoning_effort"] = effort
    elif entry.effort == "reasoning":
        body["reasoning"] = {"effort": effort}
    elif entry.effort == "thinking":
        body["thinking"] = {"type": "disabled" if effort == "none" else "enabled"}
    elif entry.effort == "enable_thinking":
        body["enable_thinking"] = effort != "none"
