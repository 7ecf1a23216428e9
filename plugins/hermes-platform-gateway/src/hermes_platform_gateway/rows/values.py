"""What the rows of the gateway say, without the tables."""

from collections.abc import Mapping, Sequence
from typing import Literal

from attrs import Factory, evolve

from hermes_core.types import JSON, Chat, Message, Principal
from hermes_core.values import frozen

__all__ = [
    "KEPT", "Account", "AccountLease", "Binding", "Invite", "KnownChat", "OutboxRow", "Outgoing", "Pairing", "Person",
    "PutQuestion", "QuietHours", "Restriction",
]  # fmt: skip

KEPT = 7 * 86400.0  # seconds that a row stays after it was sent or given up


@frozen(kw_only=True)
class Outgoing:
    """One message that has to go out. ``key`` makes it unique for all time: what is put twice is sent once.

    ``kind`` is answer, notice, question or message. ``account`` is the bot's name on the ``platform``; ``trace`` is
    that of the message which it answers. What nobody asked for just now is ``unasked``: it waits while its person wants
    to be left in peace. It ``opens`` a thread of that name, where its platform can make one.
    """

    key: str
    owner: Principal
    platform: str
    account: str
    chat: Chat
    message: Message
    kind: str = "answer"
    session_id: str = ""
    turn_id: str = ""
    trace: str = ""
    unasked: bool = False
    opens: str = ""

    def to(self, thread: str) -> "Outgoing":
        """The same for a thread that there is."""
        return evolve(self, chat=evolve(self.chat, thread=thread), opens="")


@frozen(kw_only=True)
class OutboxRow:
    """A message that has to go out, and how far it came. Times are seconds since 1970.

    ``state`` is draft (its turn still runs), waiting, sending (a service was asked, and there is no receipt yet), sent,
    failed or abandoned. ``pieces`` are the messages it is sent as, once that was decided; ``receipts`` name those that
    arrived, in order, an empty text where the service gave no id. ``placeholders`` are ids of messages that the next
    pieces are edited into; an empty one cannot be edited any more. ``tries`` counts the tries of the next piece that
    may have arrived. ``repeated`` is the number of the last piece, from 1, that may be seen twice; 0 when none is.
    ``sent`` is when it was sent or given up; before that, when its next piece was first tried. Until ``held`` is over
    it waits for the end of quiet hours.
    """

    id: int
    outgoing: Outgoing
    state: str
    pieces: Sequence[Message] = ()
    receipts: Sequence[str] = ()
    placeholders: Sequence[str] = ()
    error: str = ""
    holder: str = ""
    tries: int = 0
    repeated: int = 0
    created: float = 0.0
    due: float = 0.0
    sent: float = 0.0
    held: float = 0.0


@frozen(kw_only=True)
class KnownChat:
    """A chat of ``owner``, who is ``sender`` there and speaks with the bot ``account``.

    ``home`` marks the one chat of its platform for what has no other place to go. ``dead`` says why nothing can be
    delivered there; ``seen`` is in seconds since 1970.
    """

    owner: Principal = Factory(Principal)
    platform: str
    account: str = ""
    chat: str
    thread: str = ""
    kind: str = "dm"
    name: str = ""
    sender: str = ""
    home: bool = False
    dead: str = ""
    seen: float = 0.0

    @property
    def address(self) -> str:
        """How it is named as a target: ``PLATFORM:CHAT[:THREAD]``."""
        return ":".join(part for part in (self.platform, self.chat, self.thread) if part)


@frozen(kw_only=True)
class Binding:
    """Where a session key leads. ``overrides`` are what was chosen in that chat: ``model``, ``effort``."""

    key: str
    session_id: str
    overrides: Mapping[str, JSON]
    made: float
    used: float


@frozen(kw_only=True)
class AccountLease:
    """The right to serve one account, with the token that proves it."""

    platform: str
    account: str
    holder: str
    fence: int


@frozen(kw_only=True)
class Account:
    """An account as it is shown. ``served`` says whether its holder is still there; ``since`` is seconds since 1970."""

    platform: str
    account: str
    holder: str
    state: str
    error: str
    since: float
    served: bool = False


@frozen(kw_only=True)
class Person:
    """An account that was let in. ``role`` is admin or user; ``by`` who let it in; ``since`` in seconds since 1970."""

    platform: str
    sender: str
    person: str
    role: str = "user"
    name: str = ""
    by: str = ""
    since: float = 0.0


@frozen(kw_only=True)
class Pairing:
    """A stranger who waits with a code, where they wrote, and the code's hash."""

    id: int = 0
    platform: str
    sender: str
    account: str = ""
    chat: str = ""
    name: str = ""
    salt: str
    hash: str
    created: float = 0.0
    expires: float = 0.0


@frozen(kw_only=True)
class PutQuestion:
    """A question that was put ``to`` somebody, who alone may answer it, or where ``addressee`` is admin any admin.

    ``kind`` is that of the question, or ``command``: then ``says`` are command lines, of which one is carried out; or
    ``bundle``, which stands for several: then they are their ids, and behind them how the message of all begins.
    ``owner`` is the person whose session it is about; ``keys`` name the messages that ask it. ``closed`` says by what
    it was ended: the event of a press, or ``settled``; empty while it is open.
    """

    id: str
    to: Principal
    owner: str = ""
    session_id: str = ""
    kind: str = "approval"
    addressee: str = ""
    says: Sequence[str] = ()
    platform: str = ""
    account: str = ""
    chat: str = ""
    thread: str = ""
    keys: Sequence[str] = ()
    closed: str = ""
    asked: float = 0.0

    @property
    def whose(self) -> Principal:
        """Whose the session is."""
        return Principal(profile=self.to.profile, person=self.owner)


@frozen(kw_only=True)
class Restriction:
    """Who is not heard. ``subject`` is a person, an account (``telegram:123``) or a group (``telegram#-100``).

    A ``block`` holds until it is taken back, a ``mute`` until an instant. ``person`` is whom it was said of, ``by`` who
    said it; times are seconds since 1970, and ``until`` is 0 for ever.
    """

    subject: str
    kind: Literal["block", "mute"] = "block"
    person: str = ""
    by: str = ""
    since: float = 0.0
    until: float = 0.0


@frozen(kw_only=True)
class Invite:
    """A word that lets one account in as ``person``, once. It is kept as a hash.

    One that is ``fresh`` is good only while nobody is that person yet: it gives nobody what is another's. ``used`` is
    the account that it let in.
    """

    hash: str
    person: str
    role: str = "user"
    by: str = ""
    fresh: str = ""
    used: str = ""
    created: float = 0.0
    expires: float = 0.0


@frozen(kw_only=True)
class QuietHours:
    """When nothing comes to a person that they did not ask for: from ``begins`` to ``ends`` (``HH:MM``) in a ``zone``.

    Without a ``platform`` and ``chat`` it holds in all their chats; an empty zone is that of this machine.
    """

    profile: str = "default"
    person: str
    platform: str = ""
    chat: str = ""
    begins: str
    ends: str
    zone: str = ""
