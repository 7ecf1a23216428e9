"""A client's own tools: the model may call them, and the client runs them. Nothing of them is ever run here."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.kinds import Tool, ToolSource
from hermes_core.types import JSON, Blob, Message, Part, Session, Text, ToolCall, ToolResult
from hermes_core.values import frozen
from hermes_platform_api.places import holder_of

if TYPE_CHECKING:
    from hermes_platform_api.held import HeldTurn

__all__ = [
    "ClientResult",
    "ClientTool",
    "ClientTools",
    "HeldTurns",
    "call_id",
    "event_of_call",
    "held_turns",
    "is_client_tool",
    "make_source",
    "renamed",
]

_SOURCE = "client"  # begins the names by which the model knows them, so that none takes the place of a tool of ours
_LONGEST = 64  # characters of such a name
_CALL = re.compile(r"(?:call|toolu)_([0-9a-fx][0-9a-f]{31})[0-9a-f]{8}")
_MOST = 100  # turns that wait for their clients; beyond, of who has most the one that waits longest is stopped


@frozen(kw_only=True)
class ClientTool:
    """A function that runs at the client."""

    name: str
    description: str = ""
    schema: Mapping[str, JSON]

    @property
    def offered(self) -> str:
        """The name by which the model knows it."""
        return _offered(self.name)


@frozen(kw_only=True)
class ClientTools:
    """All that a request brings. ``prefix`` begins the ids of calls; not ``parallel``: one is handed out at a time.

    ``hint`` is said to the model with the message, where the client wants a call.
    """

    tools: Sequence[ClientTool]
    parallel: bool = True
    prefix: str = "call_"
    hint: str = ""


@frozen(kw_only=True)
class ClientResult:
    """What a client's tool gave."""

    parts: Sequence[Text | Blob]
    failed: bool = False


class HeldTurns:
    """The turns that have tools of their clients, one a session. One of these is in each kernel.

    ``asked`` is whether anybody ever asked for tools: where nobody does, the settings leave those of clients out.
    """

    def __init__(self) -> None:
        self._held: dict[str, HeldTurn] = {}
        self.asked = False

    def tools(self, session: Session) -> Iterable[Tool]:
        """Those that the turn of a session may call."""
        self.asked = True
        held = self._held.get(session.id)
        return held.tools if held else ()

    def waiting(self, person: str, ids: Iterable[str]) -> "HeldTurn | None":
        """Find the turn that waits for results of these calls."""
        wanted = {*ids}
        there = (turn for turn in self._held.values() if turn.person == person and not turn.ending)
        return next((turn for turn in there if turn.handed.keys() & wanted), None)

    def at(self, session: str) -> "HeldTurn | None":
        """Find the turn of a session."""
        return self._held.get(session)

    async def enter(self, session: str, held: "HeldTurn") -> None:
        """Let a turn's tools be offered in its session. Of too many that wait, one of who has most is stopped."""
        self._held[session] = held
        waiting = [turn for turn in self._held.values() if turn.handed]
        if len(waiting) > _MOST:
            many = Counter(holder_of(turn.person) for turn in waiting)
            await max(waiting, key=lambda turn: many[holder_of(turn.person)]).stop()  # of equals the first

    def leave(self, held: "HeldTurn") -> None:
        """Forget a turn that is over."""
        for session in [name for name, turn in self._held.items() if turn is held]:
            del self._held[session]


def held_turns(ctx: PluginContext) -> HeldTurns:
    """Return the one of this kernel."""
    found = ctx.state.setdefault("client-tools", HeldTurns())
    assert isinstance(found, HeldTurns)
    return found


def make_source(ctx: PluginContext) -> ToolSource:
    """Return where the model's tools of clients come from."""
    return ToolSource(name=_SOURCE, toolset=_SOURCE, tools=held_turns(ctx).tools)


def is_client_tool(name: str) -> bool:
    """Tell whether the name by which the model knows a tool is that of a client's."""
    return name.startswith(f"{_SOURCE}_")


def event_of_call(call_id: str) -> str:
    """Return the event of the turn that a call was handed out by; empty for a call that is none of ours."""
    found = _CALL.fullmatch(call_id)
    return found[1] if found else ""


def call_id(prefix: str, event: str, inner: str) -> str:
    """Return the id under which a client gets a call: the same after a restart, and nobody else's."""
    return f"{prefix}{event}{hashlib.sha256(inner.encode('utf-8', 'replace')).hexdigest()[:8]}"


def renamed(messages: Sequence[Message], tools: ClientTools | None) -> Sequence[Message]:
    """Return what was said elsewhere, with calls of a client's tools under the names that the model knows."""
    names = {one.name: one.offered for one in tools.tools} if tools else {}
    if not names:
        return messages
    return [evolve(message, parts=tuple(_named(part, names) for part in message.parts)) for message in messages]


def _named(part: Part, names: Mapping[str, str]) -> Part:
    if isinstance(part, ToolCall | ToolResult) and part.name in names:
        return evolve(part, name=names[part.name])
    return part


def _offered(name: str) -> str:
    whole = f"{_SOURCE}_{name}"
    if len(whole) <= _LONGEST:
        return whole
    return f"{whole[: _LONGEST - 9]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"
