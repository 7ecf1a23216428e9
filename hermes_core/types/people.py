"""Who speaks, and what is asked of them."""

from collections.abc import Sequence
from typing import Literal

from attrs import Factory

from hermes_core.types.base import Effect, Outcome
from hermes_core.types.content import Message
from hermes_core.types.guarding import CommandPart
from hermes_core.types.turns import Speaker, TurnBounds, TurnOrder
from hermes_core.values import frozen


@frozen(kw_only=True)
class Principal:
    """Who owns a session, memo, grant or job: a person within a profile."""

    profile: str = "default"
    person: str = "owner"


@frozen(kw_only=True)
class Rights:
    """What somebody may do; the owner of this Hermes, whose are these, whatever they want.

    ``role`` is what it is called, and ``words`` say it to them, a line each. ``refused`` says why nothing of theirs may
    run now; who is ``silent`` is not told so. ``bounds`` are around each turn of theirs. ``models`` are patterns of
    ``provider:model`` that may answer them, the first of which is one model, theirs where they choose none; None: all.
    ``backend`` opens the place for their commands, those of this machine are not behind its wall unless ``walled``, and
    ``asks`` says who says yes to a risky one.
    """

    role: str = "owner"
    words: Sequence[str] = ()
    refused: str = ""
    silent: bool = False
    bounds: TurnBounds | None = None
    models: Sequence[str] | None = None
    backend: str = ""
    walled: bool = False
    asks: Literal["person", "admin"] = "person"


@frozen
class Chat:
    """Where a message goes: a chat of a service, a ``thread`` in it, the message there that it answers.

    Without Feature.THREADS ``thread`` is always empty.
    """

    id: str
    thread: str = ""
    reply_to: str = ""


@frozen(kw_only=True)
class Member:
    """Somebody in a chat: ``id`` is what ``Envelope.sender`` would say; an ``admin`` may change the chat."""

    id: str
    name: str = ""
    admin: bool = False


@frozen(kw_only=True)
class Envelope:
    """One incoming message with its return address. ``event_id`` is the platform's own and makes it unique.

    ``account`` is the bot's own name there. ``kind`` says who else reads the chat: in a ``dm`` nobody. ``addressed``
    says whether it speaks to the bot: by its name, as an answer to it, or because nobody else is there. ``quote`` is
    the text it answers, ``quote_by`` who wrote that where it is known; ``message_id`` what ``Chat.reply_to`` and
    ``react`` would name. ``roles`` are the sender's.
    ``order`` is how it wants to be answered, where a plugin wrote it; ``speaker`` who the sender is, as a host says.
    ``what`` came: a press is of a button of ours, whose words it has; ``removed`` that the sender put the bot out.
    """

    platform: str
    account: str
    event_id: str
    chat: str
    sender: str
    message: Message
    thread: str = ""
    kind: Literal["dm", "group", "channel"] = "dm"
    what: Literal["message", "press", "removed"] = "message"
    addressed: bool = True
    sender_name: str = ""
    chat_name: str = ""
    message_id: str = ""
    quote: str = ""
    quote_by: str = ""
    roles: Sequence[str] = ()
    order: TurnOrder | None = None
    speaker: Speaker | None = None


@frozen(kw_only=True)
class Waiting:
    """A message that waits in a session. ``mode`` is steer (with the next tool result) or queue (a turn of its own).

    ``envelope`` is how it came, with the message as it waits; None for what waits since before that was stored.
    """

    id: int
    message: Message
    mode: str
    trace: str = ""
    envelope: Envelope | None = None


@frozen(kw_only=True)
class Target:
    """A chat that a message can be sent to. ``address`` names it, as ``name`` does where only one has that.

    ``home`` is the one of its platform; ``dead`` says why nothing can be delivered there. ``served``: a gateway is
    connected with it now; else what is sent waits until one is.
    """

    address: str
    name: str = ""
    kind: str = "dm"
    home: bool = False
    dead: str = ""
    served: bool = False


@frozen(kw_only=True)
class Sent:
    """Where a sent message can be found again."""

    chat: str
    message_id: str


@frozen(kw_only=True)
class Question:
    """Something only a person can decide. ``subject`` shows exactly what will happen, or is what is asked.

    It is put ``to`` the person of the conversation, or to an admin of this Hermes, whom nobody else may answer for.

    ``covers`` says in words what the choices ``session`` and ``always`` of an approval allow beyond this once; a
    platform shows it with them. A choice or text is answered by a Verdict of ``allow`` whose ``choice`` is the answer.
    """

    id: str
    kind: Literal["approval", "choice", "text"]
    subject: str
    risk: str = ""
    choices: Sequence[str] = ("once", "session", "always", "deny")
    covers: str = ""
    to: Literal["person", "admin"] = "person"


@frozen(kw_only=True)
class Verdict:
    """The answer of a gate or a person. ``choice`` is the picked choice or typed text of a Question.

    ``effects`` is for a gate that knows better than the tool what this one call does (``git status`` only reads):
    the policy decides on those of all gates together; None leaves it at what the tool declares.

    The rest is for ``judge_command``: no mode lifts a ``hard`` deny; ``commands`` are the parts of the call that rules
    and grants see, None where it was not looked at; a yes may be ``lasting`` where it can be granted for good.
    """

    outcome: Outcome
    reason: str = ""
    by: str = ""
    choice: str = ""
    effects: frozenset[Effect] | None = None
    hard: bool = False
    commands: Sequence[CommandPart] | None = None
    lasting: bool = False

    @classmethod
    def refused(cls, by: str, instead: str = "") -> "Verdict":
        """Return a person's no, with what they want ``instead``: the model is told it in their words."""
        wanted = f", who wants this instead: {instead.strip()[:2000]}" if instead.strip() else ""
        return cls(outcome="deny", reason=f"refused by the person{wanted}", by=by, choice="deny")

    def __attrs_post_init__(self) -> None:
        if self.hard and self.outcome != "deny":
            raise ValueError(f"only a deny is hard, and this is {self.outcome!r}")


@frozen(kw_only=True)
class Approval:
    """A question for a person's yes: asked about which call, and what became of it.

    ``state`` is open, answered, expired (nobody answered in time) or withdrawn (the turn ended, or nobody was there).
    ``covers`` says in words what more than a single yes would allow; ``rules`` are its rules, with words and folder.
    ``root`` is the conversation that a session grant holds in: of a child agent, that of its first parent.
    ``owner`` is whose call it is; ``addressee`` who may answer: empty, the same person, or ``admin``, any admin.
    ``asked`` and ``answered`` are seconds since 1970.
    """

    id: str
    session_id: str
    turn_id: str = ""
    call_id: str = ""
    subject: str
    risk: str = ""
    choices: Sequence[str] = ()
    covers: str = ""
    rules: Sequence[tuple[str, str, str]] = ()
    root: str = ""
    kind: str = "approval"
    state: str = "open"
    verdict: str = ""
    choice: str = ""
    reason: str = ""
    answered_by: str = ""
    addressee: str = ""
    owner: Principal = Factory(Principal)
    asked: float = 0.0
    answered: float = 0.0

    @property
    def answer(self) -> Verdict:
        """How it was settled. An open one is a no."""
        outcome: Outcome = "allow" if self.verdict == "allow" else "deny"
        choice = self.choice or ("once" if outcome == "allow" else "deny")
        return Verdict(outcome=outcome, choice=choice, reason=self.reason, by=self.answered_by)

    @property
    def summary(self) -> str:
        """How it was settled, in words that follow "already"."""
        by = f" by {self.answered_by}" if self.answered_by else ""
        said = {"allow": f"allowed ({self.choice or 'once'})", "deny": "denied"}.get(self.verdict, "settled")
        return f"{self.state if self.state == 'expired' else 'answered'}: {said}{by}"


@frozen(kw_only=True)
class Grant:
    """What a person allowed beyond one call, in their words. Without ``session_id`` it holds in every conversation."""

    id: int
    session_id: str = ""
    rule: str
    words: str
    folder: str = ""
    approval_id: str = ""
    created: float = 0.0
