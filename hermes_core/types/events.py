"""A session, and what a turn in it yields."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from attrs import Factory

from hermes_core.types.base import JSON, Role
from hermes_core.types.content import Message, Part, ToolCall, ToolResult
from hermes_core.types.model import Usage
from hermes_core.types.people import Principal, Question, Rights, Verdict
from hermes_core.types.turns import Speaker, TurnBounds
from hermes_core.values import frozen


@frozen(kw_only=True)
class Session:
    """One conversation. ``origin`` names the way in: ``cli``, a platform, ``embed``, ``child``.

    ``parent`` is the session that a child agent's works for; of one that a plugin hides it is that plugin's label, of
    one that a person put away ``(archived)``.
    ``turn`` is the id of the turn that runs in it, as hooks and tools see it; empty between turns.
    ``backend`` names what opens the place where its tools work; ``cwd`` is a folder there.
    ``untrusted``: what its model knows comes in part from outside, as hooks and tools see it during a turn.
    ``bounds`` are those of the turn that runs in it, and ``attended`` says that a person can be asked in it.
    ``speaker`` is whose words that turn answers, None where that is the owner, ``rights`` what they may do.
    """

    id: str
    origin: str
    owner: Principal = Factory(Principal)
    parent: str = ""
    title: str = ""
    cwd: str = ""
    provider: str = ""
    model: str = ""
    created: float = 0.0
    turn: str = ""
    backend: str = ""
    untrusted: bool = False
    bounds: TurnBounds | None = None
    attended: bool = False
    speaker: Speaker | None = None
    rights: Rights | None = None

    @property
    def asker(self) -> Principal:
        """Whose words the turn answers that runs in it; between turns its owner's."""
        return Principal(profile=self.owner.profile, person=self.speaker.person) if self.speaker else self.owner


@frozen(kw_only=True)
class SessionRow:
    """A session as lists show it; ``preview`` is the start of what the person said first.

    ``state`` is idle, running, or interrupted: its process died in the middle of a turn.
    """

    session: Session
    messages: int
    tool_calls: int
    updated: float
    usage: Usage
    preview: str
    state: str


@frozen(kw_only=True)
class MessageTrace:
    """What became of a message, without what was said: all rows with one trace, or where there is none of a turn.

    Times are seconds since 1970, 0 for what has not happened. ``received`` are rows of the inbox with their
    ``address``, whether they are the asker's own (``mine``), and whether somebody works in their session (``alive``).
    ``turns`` hold ``models``, ``tools`` and ``questions``, the instant they ``answered`` at, and ``alive``.
    ``outgoing`` is what went out, as whoever sends it tells.
    """

    trace: str
    turn_id: str
    received: Sequence[Mapping[str, Any]]
    turns: Sequence[Mapping[str, Any]]
    outgoing: Sequence[Mapping[str, Any]] = ()


@frozen(kw_only=True)
class PastTurn:
    """What became of a message that came in.

    ``state`` is ``waiting`` (it has no turn yet), ``open`` (its turn runs), ``cut`` (the process of its turn died),
    ``done``, ``failed`` or ``interrupted``. ``answer`` is empty until it is done. ``last``: no other turn came after.
    """

    session_id: str
    turn_id: str
    state: Literal["waiting", "open", "cut", "done", "failed", "interrupted"]
    message: Message
    answer: str = ""
    error: str = ""
    provider: str = ""
    model: str = ""
    started: float = 0.0
    ended: float = 0.0
    usage: Usage = Factory(Usage)
    last: bool = True


@frozen(kw_only=True)
class TurnResult:
    """What a turn came to, told before it is stored. ``answer`` is empty unless ``done``; ``parts`` go with it."""

    session_id: str
    turn_id: str
    state: Literal["done", "failed", "interrupted"]
    answer: str = ""
    parts: Sequence[Part] = ()
    error: str = ""


@frozen(kw_only=True)
class SessionEnd:
    """Why a session came to rest: ``closed``, ``interrupted``, ``failed``."""

    reason: str


@frozen(kw_only=True)
class TurnEnd:
    """How a turn came to its end. ``error`` is one word for why it failed: of REASONS, or its error's kind.

    ``seconds`` are those since it began, or was taken up, in this process; ``usage`` is that of the whole turn.
    """

    reason: Literal["done", "failed", "interrupted"]
    usage: Usage
    seconds: float
    error: str = ""


@frozen(kw_only=True)
class PromptBlock:
    """A named piece of the system prompt. Tiers are joined in the order stable, context, volatile."""

    name: str
    text: str
    tier: Literal["stable", "context", "volatile"] = "stable"


@frozen(kw_only=True)
class Prompt:
    """The system prompt, built once per session and stored with it. ``context`` is as in Request.

    ``tools`` are the names of the tools on offer, each with its toolset, for blocks that depend on them.
    """

    blocks: Sequence[PromptBlock]
    context: int = 0
    tools: Mapping[str, str] = Factory(dict)


@frozen(kw_only=True)
class Started:
    """A turn has a row and an owner."""

    session_id: str
    turn_id: str
    provider: str
    model: str


@frozen(kw_only=True)
class Said:
    """A piece of the answer."""

    text: str


@frozen(kw_only=True)
class Thinking:
    """A piece of the model's thinking."""

    text: str


@frozen(kw_only=True)
class Called:
    """A tool call was stored and is about to be judged and run."""

    call: ToolCall


@frozen(kw_only=True)
class Progress:
    """Live output of a running tool."""

    call_id: str
    text: str


@frozen(kw_only=True)
class Returned:
    """A tool call has its result, and the result is stored."""

    call: ToolCall
    result: ToolResult
    seconds: float


@frozen(kw_only=True)
class Asked:
    """A question went to a person, and this is what came back."""

    question: Question
    verdict: Verdict


@frozen(kw_only=True)
class Noticed:
    """Something worth knowing while a turn goes on: a wait, or that the answer begins again. One line."""

    text: str


@frozen(kw_only=True)
class Failed:
    """The turn could not go on. ``kind`` is the error's class name in snake case; ``hint`` says what to do now."""

    kind: str
    text: str
    hint: str = ""


@frozen(kw_only=True)
class Used:
    """A model call is over. ``usage`` is that of the turn so far.

    ``context`` is how many tokens the conversation takes now, ``window`` how many fit; 0 where nobody knows.
    """

    usage: Usage
    context: int = 0
    window: int = 0


@frozen(kw_only=True)
class Ended:
    """The last event of every turn. ``answer`` is the final text; ``reason`` is done, failed or interrupted.

    ``note`` is something a person should know of the answer, such as that it was cut.
    """

    session_id: str
    turn_id: str
    answer: str
    reason: Literal["done", "failed", "interrupted"]
    usage: Usage
    note: str = ""


Event: TypeAlias = Started | Said | Thinking | Called | Progress | Returned | Asked | Noticed | Used | Failed | Ended


@frozen(kw_only=True)
class HistoryEntry:
    """One tool call of the past: what went in, what came out, how long it took."""

    session_id: str
    turn_id: str
    call_id: str
    name: str
    arguments: Mapping[str, JSON]
    output: str
    outcome: Literal["pending", "started", "ok", "failed", "refused", "unknown"]
    started: float
    seconds: float
    repeats: int = 0  # earlier identical calls (same name and arguments) of the same session


@frozen(kw_only=True)
class Hit:
    """One message found by search. ``snippet`` marks the words as ``>>>word<<<``.

    ``message_id`` is its number in its session, from 1; it calls ``tools``, or says what they gave. ``untrusted`` is as
    in Message.
    """

    session_id: str
    message_id: int
    title: str
    role: Role
    snippet: str
    created: float
    origin: str = ""
    tools: Sequence[str] = ()
    untrusted: bool = False
