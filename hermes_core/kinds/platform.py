"""Services that people write on."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Sequence

from hermes_core.errors import UserError
from hermes_core.kinds.console import Console
from hermes_core.types import Chat, Envelope, Event, Feature, Member, Message, Question, Sent, SlashCommand, Verdict

__all__ = ["ConsoleDriver", "Platform"]


class Platform(ABC):
    """A message service. ``limit`` is the longest message it takes, as ``length`` counts; 0 means no limit.

    ``account`` is who the bot is there. One process at a time serves an account; where it does no harm that several do,
    as with a server that clients choose, it is not ``exclusive``.
    """

    name: str
    account: str = ""
    exclusive: bool = True
    features: frozenset[Feature] = frozenset()
    limit: int = 0

    def unfit(self) -> str:
        """Say why it cannot be opened by this process here, such as a terminal that is too small; empty when it can."""
        return ""

    def commands(self) -> Sequence[SlashCommand]:
        """Return slash commands of its own, for those who write on it. Names that are taken are not taken away."""
        return ()

    async def open(self, console: Console) -> None:
        """Connect; called before receive, and again after a close. ``account`` is known when it returns.

        Another process may serve the account: then this one stands by, connected, and nothing else is called yet.

        Raises UserError for what only a person can mend (a wrong token): it is not tried again. After any other error
        it is: after its ``retry_after``, else later and later.
        """

    @abstractmethod
    def receive(self) -> AsyncIterator[Envelope]:
        """Yield incoming messages, each with the service's event id; ends when the person leaves. Raises as ``open``.

        The next one is asked for while a turn still runs. Every message ends in an Ended event (LIVE) or a send.
        """

    @abstractmethod
    async def send(self, chat: Chat, message: Message, key: str) -> Sent | None:
        """Send one message: markdown, files, buttons, as far as ``features`` say. Unknown parts are left out.

        A poll, or a location, that it does not know is a Text to it; with Feature.POLLS or LOCATIONS it comes alone.

        ``key`` is an idempotency key: with Feature.IDEMPOTENT a send that is repeated is seen once. Raises NotSent when
        it surely did not arrive, Undeliverable when it never will. Any other error is taken for "perhaps it did".
        """

    def length(self, text: str) -> int:
        """Say how long a text is for the service's ``limit``; in characters, unless it counts otherwise."""
        return len(text)

    async def ack(self, envelope: Envelope) -> None:
        """Tell the service that the kernel has stored the message: it may forget it."""

    async def edit(self, sent: Sent, message: Message) -> None:
        """Replace a sent message; only with Feature.EDIT. Nothing to change is no error. Raises as ``send``."""
        raise UserError(f"Platform {self.name} cannot edit messages.")

    async def delete(self, sent: Sent) -> None:
        """Take a sent message away; only with Feature.DELETE. One that is gone is no error. Raises as ``send``."""
        raise UserError(f"Platform {self.name} cannot delete messages.")

    async def show(self, chat: Chat, event: Event) -> None:
        """Show an event of a running turn: all of them with Feature.LIVE, only Started with Feature.TYPING.

        Started is shown again every few seconds while the turn runs.
        """

    async def ask(self, chat: Chat, question: Question) -> Verdict | None:
        """Ask the person in this chat while they wait, with Feature.LIVE; None where there is no way to ask.

        On other platforms the kernel asks by a message with Buttons, and hears what is pressed or written.
        """
        return None

    async def react(self, chat: Chat, message_id: str, sign: str) -> None:
        """Put an emoji on a message, in place of our last one; only with Feature.REACTIONS. Raises as ``send``."""
        raise UserError(f"Platform {self.name} has no reactions.")

    async def make_thread(self, chat: Chat, name: str) -> Chat:
        """Begin a thread in a chat, and say where to send to it; only with Feature.THREADS. Raises as ``send``."""
        raise UserError(f"Platform {self.name} cannot begin threads.")

    async def members(self, chat: Chat, sender: str = "") -> Sequence[Member]:
        """Say who is in a chat, if the service tells; of ``sender`` only them, or nobody. With Feature.MEMBERS."""
        raise UserError(f"Platform {self.name} does not say who is in a chat.")

    async def leave(self, chat: Chat) -> None:
        """Leave a group, with Feature.LEAVE, which tells when the bot is put out of one, too. Raises as ``send``."""
        raise UserError(f"Platform {self.name} leaves no chats.")

    async def close(self) -> None:
        """Disconnect and restore what was changed."""


class ConsoleDriver(ABC):
    """Drives the console of a platform on which people wait: what they say goes to turns and slash commands.

    It gives the platform a Console, and shows or sends there what comes of it. Turns are those of ``ctx.turns``, slash
    commands those of ``ctx.slash``. A home has one: of several, the first in ``plugins.order``.
    """

    name: str

    @abstractmethod
    async def serve(self, platform: Platform, session: str, require: Callable[[str, str], None]) -> None:
        """Open a platform, carry until those on it leave, and close it; the first chat goes on with a ``session``.

        ``require(permission, did)`` raises NotPermitted for what the plugin of the platform may not ask of a Console.
        """
