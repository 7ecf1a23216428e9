"""What one running call may use."""

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from math import inf
from typing import Any

from attrs import evolve

from hermes_core.agent.arguments import tool_spec
from hermes_core.agent.capabilities import refused
from hermes_core.agent.indirect import CALL, inner
from hermes_core.agent.outputs import seen_in
from hermes_core.agent.policy.taint import Seen
from hermes_core.agent.reply import read_arguments
from hermes_core.codec import canonical
from hermes_core.errors import ToolError, UserError
from hermes_core.kinds import Tool, ToolContext
from hermes_core.plugins.fence import stopped
from hermes_core.store.outside import result_of
from hermes_core.types import JSON, Effect, Message, Offer, Progress, Question, ToolCall, ToolResult, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.agent.tools import CallRunner

__all__ = ["CallContext"]

_DEEPEST, _MOST = 4, 200  # calls below one another, and by the tools of one reply
_GRACE = 5.0  # seconds for a call to end that nobody waits for any more


class CallContext(ToolContext):
    """The context of one call of a turn. ``outside``: its result comes from outside, ``declared``: its tool says so."""

    def __init__(self, runner: "CallRunner", call: ToolCall, tool: Tool, outside: bool) -> None:
        self.session = runner.session
        self.workspace = runner.permitted(tool)
        self.call_id = call.id
        self._runner, self._tool, self._report = runner, tool, runner.runtime.report
        self.outside, self.declared = outside, False
        self._redactor = runner.runtime.settings.masks.stream()
        self._over = False
        self._done: list[Callable[[], None]] = []  # says of each resource that this call needs it no more
        self.at_work: dict[str, Callable[[], Awaitable[object]]] = {}  # what works for this call: what ends it
        self._one, self._made = asyncio.Lock(), Counter[str]()

    def progress(self, text: str) -> None:
        self._show(self._redactor.feed(text) if self._redactor else text)

    def _show(self, text: str) -> None:
        if text:
            self._runner.emit(Progress(call_id=self.call_id, text=text))

    async def ask(self, question: Question) -> Verdict:
        self._need({Effect.ASK, Effect.EXECUTE}, "ask a person")
        return await self._runner.ask(question) or Verdict(outcome="deny", reason="Nobody is here to ask.")

    async def spill(self, name: str, data: bytes) -> str:
        return await self.keep(name, [data])

    async def keep(self, name: str, pieces: Iterable[bytes]) -> str:
        """Do the same for output in pieces, so that it is not in memory twice."""
        # Some services use the same ids in every reply: the turn keeps their outputs apart.
        plain = "".join(c if c.isalnum() or c in "-_." else "_" for c in f"{self.call_id}-{name}")[-100:]
        folder = self._runner.runtime.home.outputs / self.session.id
        path = folder / f"{self._runner.turn.id[:8]}-{plain}"

        def write() -> None:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with path.open("wb") as file:
                file.writelines(pieces)

        try:
            await asyncio.to_thread(write)
        except OSError as error:
            raise ToolError(f"The output could not be kept in {path}: {error.strerror}") from error
        return await seen_in(self._runner.workspace, path)

    async def resource(self, name: str) -> Any:
        if self._over:
            raise UserError(f"The call that {name} is for is over.")
        owner = self._runner.runtime.toolbox().owner(self._tool)
        thing, done = await self._runner.sessions.resources.use(owner, name, self.session, self.workspace)
        self._done.append(done)
        return thing

    async def call(self, name: str, arguments: Mapping[str, JSON]) -> ToolResult:
        try:
            given, invalid = read_arguments(json.dumps(dict(arguments)))
        except (TypeError, ValueError, RecursionError) as error:
            raise ToolError(f"{name} was not called: its arguments are no JSON object: {error}") from None
        async with self._one:
            runner = self._runner
            self._may_call(name, evolve(await runner.meter.left(), calls=inf).exhausted)
            words = f"{name} {canonical(given)}"
            self._made[words] += 1
            mark = f"{hashlib.sha256(words.encode()).hexdigest()[:12]}-{self._made[words]}"
            call = ToolCall(id=f"{self.call_id}/{mark}", name=name, arguments=given, invalid=invalid)
            task = asyncio.ensure_future(runner.below(self.call_id, inner(call)))
            self.at_work[call.id] = partial(stopped, task, _GRACE)
            try:
                result = await task
            finally:
                del self.at_work[call.id]
            said = (Message(role="assistant", parts=(call,)), result_of(result))
            if result.untrusted:
                self.from_outside()
            known = evolve(runner.session, untrusted=runner.session.untrusted or result.untrusted)
            self._runner = evolve(runner, session=known, seen=Seen(messages=(*runner.seen.messages, *said)))
            return result

    def _may_call(self, name: str, exhausted: str) -> None:
        """Refuse a call that may not be: raises ToolError."""
        if self._tool.touches is not None:
            raise refused(self._tool, "call a tool: it has touches, so its own calls do not run alone", self._report)
        why = "the call that wants it is over" if self._over else f"no {exhausted} is left" if exhausted else ""
        if self._runner.level >= _DEEPEST:
            why = f"{_DEEPEST} calls below another are the most"
        elif next(self._runner.count) >= _MOST:
            why = f"{_MOST} calls by tools are the most for one reply"
        if why:
            raise ToolError(f"{name} was not called: {why}.")

    def below(self) -> "CallRunner":
        """Return what turns that work for this call are bound by. Raises ToolError, UserError when it is over."""
        self._need({Effect.DELEGATE}, "hand work to child agents")
        if self._over:
            raise UserError("The call that this turn would work for is over.")
        return self._runner

    def _need(self, effects: set[Effect], what: str) -> None:
        if self._tool.effects.isdisjoint(effects):
            raise refused(self._tool, f"{what}: it does not declare that effect", self._report)

    async def settle(self) -> None:
        """Show the rest, and end the turns that the tool did not wait for: none outlives the call it works for."""
        self._over = True
        if self._redactor:
            self._show(self._redactor.close())
        for done in self._done:
            done()
        for end in list(self.at_work.values()):
            await end()

    def offer(self) -> Offer:
        names = {spec.name for spec in self._runner.specs}
        tools = {name: tool for name, tool in self._runner.tools.items() if name != CALL}
        behind = tuple(tool_spec(tool) for name, tool in tools.items() if name not in names)
        toolsets = {name: tool.toolset for name, tool in tools.items()}
        return Offer(tools=self._runner.specs, behind=behind, toolsets=toolsets, sent=self._runner.specs)

    def from_outside(self) -> None:
        self.outside = self.declared = True

    @property
    def cancelled(self) -> bool:
        task = asyncio.current_task()
        return bool(task and task.cancelling())
