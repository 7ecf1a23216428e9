"""A running Hermes: a product, its home and its settings, put together to a kernel that answers."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypedDict, Unpack

from hermes_core.environment import switched_on
from hermes_core.errors import HermesError
from hermes_core.kinds import Tool
from hermes_core.product import OURS, Product
from hermes_core.values import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.agent.kernel import Kernel
    from hermes_core.control import ApprovalsBroker, SessionsBroker
    from hermes_core.kinds.console import AskPerson, Returns
    from hermes_core.plugins.index import Index
    from hermes_core.types import JSON, Event, Message, Principal, TurnBounds, Usage

__all__ = ["Answer", "Hermes", "HowTurn"]


@frozen(kw_only=True)
class Answer:
    """What a turn came to. Printing it prints the text. ``usage`` says what it took, and what that cost."""

    text: str
    session: str
    reason: str
    turn: str = ""
    note: str = ""
    usage: "Usage | None" = None

    def __str__(self) -> str:
        return self.text


class HowTurn(TypedDict, total=False):
    """How one turn is played. ``system`` is added to a new session's prompt, and said to a session that is there."""

    session: str
    origin: str
    owner: "Principal | None"
    system: str
    ask: "AskPerson | None"
    model: str
    effort: str
    bounds: "TurnBounds | None"


class Hermes:
    """A running kernel. Use it as ``async with``; several may live in one process.

    ``config`` maps dotted settings to values and beats the user's file. ``home`` is the folder for state.
    ``tools`` are added by the program itself. ``ask`` is called when something needs a person's yes.
    """

    def __init__(
        self, distribution: Product = OURS, *, home: str | Path | None = None, profile: str | None = None,
        config: "Mapping[str, JSON] | None" = None, provider: str = "", model: str = "", toolsets: Sequence[str] = (),
        tools: Sequence[Tool] = (), ask: "AskPerson | None" = None, yolo: bool = False, safe_mode: bool = False,
        owner: "Principal | None" = None, index: "Index | None" = None, strict: bool = False,
    ) -> None:  # fmt: skip
        self.distribution = distribution
        self._home, self._profile, self._config = home, profile, dict(config or {})
        self._ask, self._owner, self._safe_mode, self._index = ask, owner, safe_mode, index
        self._options: dict[str, Any] = {
            "provider": provider, "model": model, "toolsets": tuple(toolsets), "tools": tuple(tools), "yolo": yolo,
            "strict": strict or switched_on("HERMES_STRICT"), "interfaces": distribution.interfaces,
        }  # fmt: skip
        self._runtime: Kernel | None = None

    async def __aenter__(self) -> Self:
        self.runtime  # noqa: B018 - assembling raises now what would be raised later
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def runtime(self) -> "Kernel":
        """The kernel behind this object; private rooms may be reached through it at your own risk."""
        if self._runtime is None:
            self._runtime = self._assemble()
        return self._runtime

    @property
    def owner(self) -> "Principal":
        """Whose this is: whoever no ``owner`` is said for."""
        return self.runtime.owner

    @property
    def sessions(self) -> "SessionsBroker":
        """Past conversations of an owner: lists, messages, tool calls, search, usage, forks, deletion."""
        from hermes_core.agent.sessions import BrokeredSessions

        return BrokeredSessions(self.runtime, "embed")

    @property
    def approvals(self) -> "ApprovalsBroker":
        """What waits for a person's yes, and what people granted: lists, and settling it from any process."""
        from hermes_core.agent.approvals import BrokeredApprovals

        return BrokeredApprovals(self.runtime)

    def turn(
        self, message: "str | Message", *, returns: "Returns | None" = None, **how: Unpack[HowTurn]
    ) -> "AsyncGenerator[Event, None]":
        """Answer one message; yields events, an Ended last. The same ``session`` goes on with the conversation.

        Closing it (``contextlib.aclosing``) interrupts the turn.
        """
        made: dict[str, Any] = {"ask": self._ask, "returns": returns, **how}
        return self.runtime.turns.run(message, **made)

    def interrupt(self, session: str) -> bool:
        """Stop the turn that runs in a session; its Ended still comes. False when none runs."""
        return self.runtime.turns.interrupt(session)

    async def steer(self, session: str, message: "str | Message") -> None:
        """Say something to the running turn: it reaches the model with the next tool result, else as the next message.

        It is stored when this returns. Raises HermesError.
        """
        await self.runtime.turns.queue(session, message, mode="steer")

    async def queue(self, session: str, message: "str | Message") -> None:
        """Say something that has its turn after the running one. It is stored when this returns. Raises HermesError."""
        await self.runtime.turns.queue(session, message)

    def follow(self, session: str) -> "AsyncGenerator[Event, None]":
        """Play the message that waits longest in a session; yields as ``turn`` does, or nothing when none waits."""
        return self.runtime.turns.follow(session, ask=self._ask)

    def resume(self, session: str, *, owner: "Principal | None" = None, **how: Any) -> "AsyncGenerator[Event, None]":
        """Finish a turn that a death left open, with the ``bounds``, ``ask``, ``model`` it had; yields as ``turn``."""
        return self.runtime.turns.resume(session, owner=owner, **{"ask": self._ask, **how})

    async def interrupted(self, *, owner: "Principal | None" = None) -> "list[str]":
        """Return the sessions with such a turn, oldest first; then those in which a message waits."""
        return await (await self.runtime.store()).journal.interrupted(owner or self.runtime.owner)

    async def run(
        self, message: "str | Message", *, returns: "Returns | None" = None, told: "Callable[[Event], object]" = bool,
        **how: Unpack[HowTurn],
    ) -> Answer:  # fmt: skip
        """Answer one message as a whole, with each event ``told``. Raises the HermesError that the turn failed with."""
        from hermes_core.agent.failed import error_of
        from hermes_core.types import Ended, Failed

        failure: Failed | None = None
        answer: Answer | None = None
        async for event in self.turn(message, returns=returns, **how):
            told(event)
            if isinstance(event, Failed):
                failure = event
            elif isinstance(event, Ended):
                more: dict[str, Any] = {"turn": event.turn_id, "note": event.note, "usage": event.usage}
                answer = Answer(text=event.answer, session=event.session_id, reason=event.reason, **more)
        if failure is not None:
            raise error_of(failure)
        if answer is None:  # it was broken off from outside
            raise HermesError("The turn ended without an answer.")
        return answer

    async def close(self) -> None:
        """Let go of everything."""
        if self._runtime is not None:
            runtime, self._runtime = self._runtime, None
            await runtime.close()

    def _assemble(self) -> "Kernel":
        from hermes_core.agent.brokers import make_broker
        from hermes_core.agent.kernel import Kernel
        from hermes_core.config.settings import load_settings
        from hermes_core.types import Principal

        distribution = self.distribution
        home = distribution.home(self._profile, self._home)
        settings = load_settings(
            home, overrides=self._config, defaults=distribution.defaults, locked=distribution.locked
        )
        home.create()

        return Kernel(
            settings,
            distribution.installed(home, safe_mode=self._safe_mode) if self._index is None else self._index,
            distribution.consent(home, safe_mode=self._safe_mode),
            broker=make_broker,
            owner=self._owner or Principal(profile=home.profile),
            **self._options,
        )
