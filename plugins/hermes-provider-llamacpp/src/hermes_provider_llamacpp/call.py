"""One streamed call: a request as llama.cpp takes it, and its events as deltas."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from hermes_core.errors import ContextTooLong
from hermes_core.types import JSON, Delta, Request
from hermes_openai_wire.body import chat_body
from hermes_openai_wire.decode import ChatDecoder
from hermes_openai_wire.entry import Entry
from hermes_provider_kit.failures import Service
from hermes_provider_llamacpp.engine import Engine, Model

__all__ = ["KEY", "made_body", "stream_events"]

KEY = "gguf"
# What does not think has a template that knows nothing of the switch, which changes nothing there.
_ENTRY = Entry(
    name=KEY,
    title="llama.cpp",
    summary="Models of GGUF files.",
    local=True,
    key_needed=False,
    schemas=("",),
    replay=("reasoning_content",),
)


def made_body(request: Request, model: str, extra: Mapping[str, JSON]) -> dict[str, JSON]:
    """Make the body of a call; what the person set is laid over it."""
    effort = str(request.options.get("effort") or "")
    thinking: dict[str, JSON] = {"chat_template_kwargs": {"enable_thinking": effort != "none"}} if effort else {}
    return chat_body(_ENTRY, KEY, request, model, {**thinking, **extra})


async def stream_events(
    engine: Engine, model: Model, request: Request, name: str, extra: Mapping[str, JSON]
) -> AsyncGenerator[Delta, None]:
    """Answer piece by piece. Raises ProviderError."""
    service = Service(title="llama.cpp", url="", local=True, model=name)
    decoder = ChatDecoder(service, KEY, request.tools)
    async with aclosing(engine.ask(model, made_body(request, name, extra))) as events:
        async for event in events:
            if too_long := _too_long(event, model.room):
                raise too_long
            for delta in decoder.feed([event]):
                yield delta
            if decoder.failed is not None:
                raise decoder.failed
    for delta in decoder.end():
        yield delta


def _too_long(event: JSON, room: int) -> ContextTooLong | None:
    error = event.get("error") if isinstance(event, Mapping) else None
    if not (isinstance(error, Mapping) and error.get("type") == "exceed_context_size_error"):
        return None
    return ContextTooLong(
        f"There is room for {room:,} tokens here, and the conversation has {error.get('n_prompt_tokens', 'more')}.",
        window=room,
        hint="Compact it, or raise providers.gguf.context_length: it costs memory.",
    )
