"""The brokers of a plugin's context: what a plugin may do with the kernel, one class for each thing.

What the manifest must have in ``[permissions] kernel`` is marked at each method, or at its class. Without it they raise
NotPermitted.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from hermes_core import masking
from hermes_core.errors import Conflict, UserError
from hermes_core.permissions import free, needs
from hermes_core.types import (
    JSON,
    Document,
    Envelope,
    Event,
    MediaRequest,
    MediaResponse,
    MediaVerb,
    Message,
    PastTurn,
    Principal,
    Question,
    Request,
    Response,
    Session,
    Speaker,
    Target,
    TurnOrder,
    TurnResult,
)

if TYPE_CHECKING:
    from hermes_core.database import Prepared
    from hermes_core.kinds import ToolContext
    from hermes_core.kinds.console import AskPerson

__all__ = [
    "DocumentsBroker",
    "HistoryBroker",
    "LlmBroker",
    "Mailbox",
    "MasksBroker",
    "MessagesBroker",
    "SecretsBroker",
    "TextStream",
    "TurnEnds",
    "TurnsBroker",
]


@free
class SecretsBroker(ABC):
    """Secrets by name; only those the manifest declares."""

    @abstractmethod
    def get(self, name: str) -> str:
        """Return the secret, or an empty string when it is not set. Raises NotPermitted for an undeclared name."""

    def set(self, name: str, value: str) -> None:
        """Keep a secret of one's own, such as a key that was made. Raises NotPermitted, and UserError as it says."""
        raise UserError(f"The secret {name} cannot be kept here.")

    @abstractmethod
    def resolve(self, value: str) -> str:
        """Return a setting's value with ``env:NAME`` followed. Raises NotPermitted for an undeclared name."""


@needs("llm.call", "called a model on your account")
class LlmBroker(ABC):
    """Model calls on the user's account."""

    @abstractmethod
    async def complete(self, request: Request, task: str = "", session: Session | None = None) -> Response:
        """Return one whole reply; an empty ``request.model`` means the user's model. Raises ProviderError.

        ``task`` names what it is for (``compression``, ``title``): the user may set up a model for it, under
        ``auxiliary``, and sees what it cost. ``session`` is the one it is done for.
        """

    async def media(
        self, verb: MediaVerb, request: MediaRequest, task: str = "", session: Session | None = None
    ) -> MediaResponse:
        """Return what the user's model for that makes of texts, pictures or sounds. As ``complete`` else.

        ``task`` is the verb unless it says more. Raises ProviderError, and UserError where nobody can do it.
        """
        raise UserError(f"Nobody can {verb} here.")


@needs("history.rewrite", "reached for what a model is told")
class HistoryBroker(ABC):
    """What a model is told of a session's past, between its turns."""

    @abstractmethod
    async def read(self, owner: Principal, session_id: str) -> Sequence[Message]:
        """Return the context in force: stored messages, or what they were compacted to and those after. UnknownName."""

    @abstractmethod
    async def replace(self, owner: Principal, session_id: str, messages: Sequence[Message]) -> None:
        """Put another context in its place; the stored messages stay and can be searched.

        Raises Busy while a turn runs, UnknownName, and UserError when the new one is not valid for every provider, not
        smaller, without the last thing the person said, or with a call nobody made. Then nothing changed.
        """


@needs("messages.send", "sent something in your name")
class MessagesBroker(ABC):
    """Messages to the chats of one owner."""

    @abstractmethod
    async def targets(self, owner: Principal) -> Sequence[Target]:
        """Return the chats of an owner, last used first."""

    @abstractmethod
    async def find(self, owner: Principal, target: str, session: Session | None = None) -> Sequence[Target]:
        """Return the chats that a target means.

        ``origin`` is the one that ``session`` was last asked in; ``local`` and an origin that is no chat mean none.
        ``all`` is home on every platform, ``PLATFORM`` home on that; else ``PLATFORM:CHAT[:THREAD]`` or a name.
        Raises UnknownName for what is no chat of the owner's, UserError for one that cannot be reached.
        """

    @abstractmethod
    async def send(
        self, owner: Principal, target: str, message: Message, session: Session | None = None, key: str = ""
    ) -> Sequence[Target]:
        """Write a message down to be sent, and say to which chats; raises as ``find``.

        What is sent twice with one ``key`` is sent once. Where the chat is not the one that ``session`` was asked in,
        the conversation there is told of it too. A message of what comes from outside says so (``untrusted``).
        """


# how a turn ends -> what the commit that ends it stores besides, of StoreBroker.prepare; None: nothing
TurnEnds: TypeAlias = Callable[[TurnResult], Awaitable["Prepared[object] | None"]]


class Mailbox(MessagesBroker):
    """Who sends to chats, as the kernel uses it: also in the commit that ends a turn. Says what became of messages."""

    name: str

    @abstractmethod
    async def ending(self, owner: Principal, target: str, message: Message, turn_id: str) -> "Prepared[object]":
        """Return what tells a target of a turn's end, for the commit that ends it. Raises UnknownName, UserError."""

    @abstractmethod
    async def ask(self, owner: Principal, target: str, question: Question) -> None:
        """Put a question for a yes to a target, once for its id, with how to answer it. Raises as ``find``.

        It has its row in ``ctx.approvals`` by then, where its answer is looked out for.
        """

    @abstractmethod
    async def named(self, word: str, owner: Principal | None) -> Sequence[tuple[str, str]]:
        """Return the trace and the turn of each message that a word names, of an owner or of anybody."""

    @abstractmethod
    async def sent(self, trace: str, turn_id: str, owner: Principal | None) -> Sequence[Mapping[str, Any]]:
        """Return what went out of a trace or a turn, oldest first, with its account's state; nothing that was said."""


_GRANTS = needs("approvals.settle", "granted a turn what its person is asked for", given="order.bounds.grants")
_NO_TURNS = "No turn can be run from here."


@needs("turns.run", "ran a turn")
class TurnsBroker:
    """Turns that a plugin orders, as durable as those a person asks for.

    A message is written down with its order before anything is done. A process that dies leaves a turn that ``resume``,
    ``hermes resume`` or the gateway's next start plays to its end, within the same bounds. ``owner`` is whose turn it
    is, the owner of this Hermes if unsaid. Every method raises UnknownName for a session that is not theirs.

    ``order`` says where a turn is, what it may do and what becomes of it; without one it is in a new session.

    A host, with ``host.serve`` too, gives what it heard as the Envelope that it came in: the platform in it is the
    origin of its session, and its event is known by it. Where ``run`` is to tell it ``stored``, the session is named.
    """

    @needs("host.serve", "served people")
    async def take_up(
        self, session: str = "", *, owner: Principal | None = None, origin: str = "", system: str = "", folder: str = ""
    ) -> Session:
        """Take up a session by its exact id, or a new one, which has no row until something is said.

        ``system`` is added to the prompt of a new one, which works in ``folder`` if one is given.
        """
        raise UserError(_NO_TURNS)

    @_GRANTS
    @needs("turns.run", "ran a turn")
    def run(
        self,
        message: str | Message | Envelope,
        *,
        owner: Principal | None = None,
        order: TurnOrder | None = None,
        ask: "AskPerson | None" = None,
        call: "ToolContext | None" = None,
        stored: "Callable[[str], Awaitable[None]] | None" = None,
        ends: TurnEnds | None = None,
    ) -> AsyncGenerator[Event, None]:
        """Order a turn and play it here; yields its events, an Ended last. Closing it interrupts the turn.

        Yields nothing for an event that came before: see ``past``. ``ask`` puts questions to a person; without it, and
        without a target of the order's, nobody is there, and what needs a yes is refused. ``stored`` is told the
        session once the order is written down. ``ends`` is asked before the turn's end is stored, and what it prepares
        is stored with that, or neither; whoever plays the turn to its end after a death gives its own. Raises UserError
        for an order that cannot be kept, and where there are no turns.

        With the ``call`` of a tool that declares Effect.DELEGATE the turn works for that call: in a session of its own
        below the call's, which no list shows; within what is left of the bounds, rules and limits of the call's turn,
        for which its use counts; with the person of that turn to ask. It ends with the call at the latest, and what it
        saw from outside is from outside for the call. An event is one of that call: a call that is run again after a
        death goes on with the turn it had, or yields the end of it. Raises ToolError when the tool does not declare it.
        """
        raise UserError(_NO_TURNS)

    @_GRANTS
    @needs("turns.run", "ran a turn")
    async def queue(
        self, message: str | Message | Envelope, *, owner: Principal | None = None, order: TurnOrder | None = None
    ) -> str:
        """Order a turn and play it not now: a gateway does, or ``resume``. Its session; empty for an old event."""
        raise UserError(_NO_TURNS)

    async def steer(self, session: str, message: str | Message | Envelope, *, owner: Principal | None = None) -> None:
        """Say something to the running turn: its model hears it with the next tool result, else as the next message."""
        raise UserError(_NO_TURNS)

    async def interrupt(self, session: str, *, owner: Principal | None = None, elsewhere: bool = False) -> bool:
        """Stop the turn that runs in a session in this process; False when none does.

        One that runs ``elsewhere`` is left word, which the host that plays it hears: ``ctx.host.turns.stop_wanted``.
        """
        raise UserError(_NO_TURNS)

    async def busy(self, session: str, *, owner: Principal | None = None, elsewhere: bool = True) -> bool:
        """Tell whether a turn runs in a session: in whatever process that lives, or, not ``elsewhere``, in this one."""
        raise UserError(_NO_TURNS)

    @needs("turns.run", "ran a turn")
    @needs("host.serve", "said who speaks", given="speaker")
    def resume(
        self,
        session: str,
        *,
        owner: Principal | None = None,
        ask: "AskPerson | None" = None,
        ends: TurnEnds | None = None,
        only: Literal["", "cut", "waiting"] = "",
        model: str = "",
        effort: str = "",
        speaker: Speaker | None = None,
    ) -> AsyncGenerator[Event, None]:
        """Play the turn that a death cut off in a session, else the message that waits there longest; or nothing.

        With ``only`` one of both: a turn that was ``cut`` off, or what is ``waiting``, which is not played while a turn
        is open. ``model`` and ``effort`` are what the conversation chose. Closing it interrupts the turn. ``speaker``
        says of whoever wrote the message what their host knows by now, in the place of what it knew when it came.
        """
        raise UserError(_NO_TURNS)

    async def interrupted(self, *, owner: Principal | None = None) -> Sequence[str]:
        """Return the sessions whose turn a death cut off, oldest first; then those where a message waits for nobody."""
        raise UserError(_NO_TURNS)

    async def drop(self, session: str, *, owner: Principal | None = None) -> tuple[str, int]:
        """Give up the turn that a death cut off in a session, and what waits there: its id, and how many messages."""
        raise UserError(_NO_TURNS)

    async def past(self, event: str, *, owner: Principal | None = None) -> PastTurn | None:
        """Return what became of an ``event`` of this plugin; None when none was ordered."""
        raise UserError(_NO_TURNS)

    @needs("turns.run", "ran a turn")
    @needs("sessions.write", "changed past conversations")
    async def forget(self, event: str, *, owner: Principal | None = None) -> bool:
        """Forget that an ``event`` was ordered; what was said stays in its session. One that waits is not played.

        False when none was. Raises UserError while its turn runs.
        """
        raise UserError(_NO_TURNS)

    def notices(self) -> Sequence[str]:
        """Say what a person should know after turns here: no model is connected, rules fit no tool, plugins failed.

        Once the kernel is closed it says what failed then, too.
        """
        return ()


@free
class DocumentsBroker(ABC):
    """Small JSON values of the plugin in the kernel's store. No plugin sees another's.

    A document belongs to an ``owner``, to an owner's session (``session_id`` too), or, with neither, to the plugin
    alone. One of a session is deleted with it, and copied when the whole session is forked.
    """

    @abstractmethod
    async def get(self, name: str, *, owner: Principal | None = None, session_id: str = "") -> Document | None:
        """Return the document of a name, or None."""

    @abstractmethod
    async def put(
        self,
        name: str,
        value: JSON,
        *,
        version: int | None = None,
        owner: Principal | None = None,
        session_id: str = "",
    ) -> Document:
        """Write a document whole; committed when this returns.

        With a ``version`` only over that version, 0 when there must be none: else raises Conflict. Raises UnknownName
        for another's session, UserError for what is not JSON, above one mebibyte, or the 257th document of one place.
        """

    @abstractmethod
    async def delete(
        self, name: str, *, version: int | None = None, owner: Principal | None = None, session_id: str = ""
    ) -> bool:
        """Delete a document; whether there was one. Raises Conflict when the ``version`` is another."""

    @abstractmethod
    async def list(self, *, owner: Principal | None = None, session_id: str = "") -> Sequence[Document]:
        """Return the documents of exactly one place, by name."""

    @abstractmethod
    async def export(self, owner: Principal) -> Sequence[Document]:
        """Return all documents of an owner, those of their sessions included."""

    @abstractmethod
    async def erase(self, owner: Principal) -> int:
        """Delete all of an owner, those of their sessions included; how many there were."""

    async def change(
        self,
        name: str,
        edit: Callable[[JSON | None], JSON | None],
        *,
        owner: Principal | None = None,
        session_id: str = "",
    ) -> JSON | None:
        """Replace a document by what ``edit`` makes of it, and return that; None is no document, before and after.

        ``edit`` is called again when somebody else was faster. Raises what it raises, as ``put``, and Conflict when
        others were faster ten times.
        """
        for left in reversed(range(10)):
            before = await self.get(name, owner=owner, session_id=session_id)
            after, version = edit(before.value if before else None), before.version if before else 0
            try:
                if after is not None:
                    await self.put(name, after, version=version, owner=owner, session_id=session_id)
                elif before:
                    await self.delete(name, version=version, owner=owner, session_id=session_id)
                return after
            except Conflict:
                if not left:
                    raise
        return None  # pragma: no cover - the loop returns or raises


class TextStream(Protocol):
    """Text in pieces, at whatever places they were cut: what comes out is what the whole text would give."""

    def feed(self, piece: str) -> str:
        """Return what of the text so far can be shown. A line that has not ended is held back."""

    def close(self) -> str:
        """Return the rest."""


@free
class MasksBroker:
    """Takes secrets out of texts: the values that the kernel knows, and what the maskers of plugins find.

    It does so whatever ``security.redact_secrets`` says. Logs, faults, errors and results are masked by the kernel;
    this is for what a plugin shows or sends by itself.
    """

    def text(self, text: str) -> str:
        """Return a whole text, masked."""
        return masking.masked(text)

    def stream(self, *, people: bool = False) -> TextStream:
        """Return the same for text that comes in pieces; short names for ``people`` too, equal in all texts of a home.

        Raises UserError when the key of these names cannot be kept.
        """
        raise UserError("Text in pieces cannot be masked here.")
