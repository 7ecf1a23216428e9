"""What requests really had in tokens, and whether one is over the threshold. Light: every request comes by here."""

from collections.abc import Sequence
from operator import is_

from hermes_core.context import PluginContext
from hermes_core.types import Message, Request, Session, ToolSpec, Usage
from hermes_memory_compressor import tokens
from hermes_memory_compressor.config import Config, Limits, limits

_KEPT = 1_000  # sessions of which something is known
_CREDIBLE = 3.0  # a count further off than this factor is not of the whole request, such as without cached tokens


class Meter:
    """Corrects estimates by what the provider counted; each session's text and tools have a ratio of their own."""

    def __init__(self) -> None:
        self._ratios: dict[str, float] = {}
        self._around: dict[str, tuple[int, int, int]] = {}  # numbers alone: a request holds a whole conversation
        self._tools: tuple[Sequence[ToolSpec], int] = ((), 0)  # those of the last request, and their size
        self._said: tuple[Sequence[Message], int] = ((), 0)  # its messages below the prompt, and theirs

    def learn(self, session_id: str, request: Request, usage: Usage) -> None:
        """Compare an estimate with the count that came with the reply."""
        size = self.size(request)
        self._around.pop(session_id, None)
        reply = int(request.options.get("max_tokens") or 0)
        self._around[session_id] = request.context, reply, size - self._said[1]
        ratio = usage.input / max(1, size)
        if 1 / _CREDIBLE <= ratio <= _CREDIBLE:
            self._ratios[session_id] = ratio
        while len(self._around) > _KEPT:
            oldest = next(iter(self._around))
            del self._around[oldest]
            self._ratios.pop(oldest, None)

    def size(self, request: Request) -> int:
        """The estimated tokens of a request. What it shares with the last one is not counted again."""
        if self._tools[0] is not request.tools:
            self._tools = request.tools, tokens.of_tools(request.tools)
        prompt, said = request.messages[:1], request.messages[1:]
        before, size = self._said
        if len(before) > len(said) or not all(map(is_, before, said)):
            before, size = (), 0
        self._said = said, size + tokens.of_messages(said[len(before) :])
        return self._tools[1] + tokens.of_messages(prompt) + self._said[1]

    def ratio(self, session_id: str) -> float:
        """Real tokens for each estimated one."""
        return self._ratios.get(session_id, 1.0)

    def around(self, session_id: str) -> tuple[int, int, int]:
        """Of the session's last request: the model's window, the room for a reply, estimated tokens beside messages."""
        return self._around.get(session_id, (0, 0, 0))


def meter_of(ctx: PluginContext) -> Meter:
    """The one of this kernel."""
    made: Meter = ctx.state.setdefault("meter", Meter())
    return made


def limits_of(config: Config, request: Request) -> Limits:
    """The limits for a request."""
    return limits(config, request.context, int(request.options.get("max_tokens") or 0))


def is_due(ctx: PluginContext, session: Session, request: Request) -> bool:
    """Whether a request is over the threshold."""
    size = int(meter_of(ctx).size(request) * meter_of(ctx).ratio(session.id))
    config: Config = ctx.config
    return config.enabled and size >= limits_of(config, request).threshold
