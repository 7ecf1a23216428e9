"""The mixture as a Provider."""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from typing import TYPE_CHECKING, Literal

from hermes_core.errors import UserError
from hermes_core.kinds import Provider
from hermes_core.types import (
    JSON,
    CallDelta,
    Delta,
    Done,
    Feature,
    Model,
    Reasoning,
    ReasoningDelta,
    Request,
    Response,
    Text,
    TextDelta,
    ToolCall,
    Usage,
    UsageDelta,
)
from hermes_provider_moa.panel import Panel, reason_of, split
from hermes_provider_moa.texts import KEY, asked, kept, reference_request, told

if TYPE_CHECKING:
    from hermes_core.control import SettingsBroker
    from hermes_provider_moa.config import Config

__all__ = ["Mixture"]

NAME = "mixture"
HINT = "Set providers.moa.references and providers.moa.aggregator, each model as PROVIDER:MODEL."
_CERTAINTY: tuple[Literal["", "estimated", "actual"], ...] = ("", "estimated", "actual")  # weakest first


class Mixture(Provider):
    """Has several models asked, and one answer. ``tell`` says a line to the person whose turn it is."""

    name = "moa"
    priority = 95  # only when somebody names it: it never is ready by itself
    default_model = NAME

    def __init__(self, settings: "SettingsBroker", config: "Config", *, tell: Callable[[str], None]) -> None:
        self._config, self._tell = config, tell
        self._panel = Panel(settings)

    async def models(self) -> Sequence[Model]:
        """List the one model that it is."""
        return [Model(name=NAME, features=frozenset({Feature.TOOLS}))]

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Answer a request. Raises ProviderError when the aggregator does not, UserError for what is set wrongly."""
        names, aggregator = self._set()
        at = asked(request.messages)
        used: list[Usage] = []
        said, meta = kept(request.messages, at), dict[str, JSON]()
        if said is None:
            said = await self._heard(names, request, used) if at >= 0 else []
            meta = {KEY: {"said": [list(one) for one in said]}}  # kept once, with the first reply to a question
        answer = await self._panel.ask(aggregator, told(request, at, said, self._config.letters))
        used.append(answer.usage)
        for delta in _deltas(answer):
            yield delta
        yield UsageDelta(usage=_sum(used))
        yield Done(reason=answer.reason, meta={**answer.message.meta, **meta})

    async def close(self) -> None:
        """Let go of the kernels beside."""
        await self._panel.close()

    def _set(self) -> tuple[list[str], str]:
        """Give who is asked, each once, and who answers. Raises UserError."""
        names = list(dict.fromkeys(self._config.references))
        if not names or not self._config.aggregator:
            raise UserError("The mixture of agents does not know whom to ask.", hint=HINT)
        for words in (*names, self._config.aggregator):
            split(words)
        return names, self._config.aggregator

    async def _heard(self, names: Sequence[str], request: Request, used: list[Usage]) -> list[tuple[str, str]]:
        """Have the references answer; one that fails is passed over, and the person is told."""
        said: list[tuple[str, str]] = []
        for words, found in await self._panel.ask_all(names, reference_request(request), self._config.seconds):
            if isinstance(found, Exception):
                self._tell(f"{words} is passed over: {reason_of(found, self._config.seconds)}")
                continue
            used.append(found.usage)
            text = "\n".join(part.text for part in found.message.parts if isinstance(part, Text)).strip()
            if text:
                said.append((words, text[: self._config.letters]))
            else:
                self._tell(f"{words} is passed over: it said nothing.")
        if not said:
            self._tell(f"No reference said anything; {self._config.aggregator} answers alone.")
        return said


def _deltas(answer: Response) -> list[Delta]:
    """Give a whole reply as what it came in."""
    made: list[Delta] = []
    calls = 0
    for part in answer.message.parts:
        if isinstance(part, Text):
            made.append(TextDelta(text=part.text))
        elif isinstance(part, Reasoning):
            made.append(ReasoningDelta(text=part.text, meta=part.meta))
        elif isinstance(part, ToolCall):
            arguments: dict[str, JSON] = dict(part.arguments)
            written = json.dumps(arguments, ensure_ascii=False)
            made.append(CallDelta(index=calls, id=part.id, name=part.name, arguments=written, meta=part.meta))
            calls += 1
    return made


def _sum(used: Sequence[Usage]) -> Usage:
    """Add up what all calls used; the cost is as certain as its weakest part."""
    names = ("input", "output", "cache_read", "cache_write", "reasoning", "calls")
    counted = {name: sum(getattr(one, name) for one in used) for name in names}
    known = [one.priced for one in used if one.calls]
    certain = min(known, key=_CERTAINTY.index) if known else ""
    return Usage(**counted, cost=sum(one.cost for one in used), priced=certain)
