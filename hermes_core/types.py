"""Values that cross the boundary between the kernel and a plugin. Frozen, keyword only, no behaviour.

Sizes and times: text is ``str`` without lone surrogates, binary data is ``bytes``, durations are seconds as
``float``, instants are seconds since the epoch as ``float``, token counts are ``int``, money is US dollars.

Unions (``Part``, ``Delta``, ``Event``) may grow in a minor release: ignore members you do not know.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from attrs import Factory, field, frozen

if TYPE_CHECKING:
    import click

JSON: TypeAlias = Any  # None, bool, int, float, str, list of JSON, dict of str to JSON; a recursive alias buys nothing
Meta: TypeAlias = Mapping[str, JSON]

Role = Literal["system", "user", "assistant", "tool"]
StopReason = Literal["stop", "tools", "length", "refused"]
Outcome = Literal["deny", "ask", "allow"]


class Feature(Enum):
    """Something a model, platform or workspace says it can do. The contract kit fails a claim that is not kept."""

    # models
    TOOLS = "tools"
    REASONING = "reasoning"
    IMAGES = "images"
    # workspaces
    PERSISTENT_SHELL = "persistent_shell"  # cwd and environment last from one run to the next
    BACKGROUND = "background"
    PTY = "pty"
    SNAPSHOT = "snapshot"
    ISOLATED = "isolated"  # nothing done inside reaches the machine that Hermes runs on
    # platforms
    EDIT = "edit"
    TYPING = "typing"
    MEDIA = "media"
    BUTTONS = "buttons"
    THREADS = "threads"
    REACTIONS = "reactions"
    VOICE = "voice"
    LIVE = "live"  # wants every event of a turn as it happens, through Platform.show


class Effect(Enum):
    """What a tool may do to the world. The policy point decides on these, never on a tool's name."""

    READ_FILES = "read_files"
    WRITE_FILES = "write_files"
    EXECUTE = "execute"
    NETWORK = "network"
    SEND = "send"
    REMEMBER = "remember"
    RECALL = "recall"  # reads what was remembered or said before
    SCHEDULE = "schedule"
    ASK = "ask"
    CONFIGURE = "configure"


# --- content -----------------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class Text:
    """Plain text or markdown."""

    text: str


@frozen(kw_only=True)
class Blob:
    """A file or picture: either its bytes or the path of a local copy."""

    media_type: str
    data: bytes | None = field(default=None, repr=False)
    path: str | None = None
    name: str = ""


@frozen(kw_only=True)
class Reasoning:
    """What a model thought. ``meta`` holds the provider's own signatures under the provider's key."""

    text: str
    meta: Meta = Factory(dict)


@frozen(kw_only=True)
class ToolCall:
    """A model's wish to run a tool.

    ``invalid`` says why the arguments could not be read; then ``arguments`` is empty and the tool is not run.
    """

    id: str
    name: str
    arguments: Mapping[str, JSON]
    invalid: str = ""
    meta: Meta = Factory(dict)


@frozen(kw_only=True)
class ToolResult:
    """What a tool call came to. Exactly one for each ToolCall in a stored history."""

    call_id: str
    name: str
    parts: Sequence["Text | Blob"]
    failed: bool = False


Part: TypeAlias = Text | Blob | Reasoning | ToolCall | ToolResult


@frozen(kw_only=True)
class Message:
    """One message of a conversation. ``meta`` is returned to the provider that wrote it, untouched."""

    role: Role
    parts: Sequence[Part]
    meta: Meta = Factory(dict)


# --- model -------------------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class Model:
    """A model a provider offers. ``context`` and ``output`` are token limits, 0 when unknown."""

    name: str
    context: int = 0
    output: int = 0
    features: frozenset[Feature] = frozenset({Feature.TOOLS})


@frozen(kw_only=True)
class Endpoint:
    """Where the user says a provider is reached. Empty fields leave the provider's own default in force."""

    name: str
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    wire: str = ""  # "chat" or "responses"; empty: the provider chooses
    headers: Mapping[str, str] = field(factory=dict, repr=False)
    extra_body: Meta = Factory(dict)
    context: int = 0
    timeout: float = 0.0  # seconds without a byte before a reply counts as stale; 0: the provider's default


@frozen(kw_only=True)
class ToolSpec:
    """A tool as a model sees it. ``schema`` is a JSON Schema object."""

    name: str
    description: str
    schema: Meta


@frozen(kw_only=True)
class Request:
    """One model call. The prompt is ``messages[0]`` with role ``system``.

    ``options`` uses these keys: ``max_tokens``, ``temperature``, ``effort``. Unknown keys are ignored.
    """

    model: str
    messages: Sequence[Message]
    tools: Sequence[ToolSpec] = ()
    options: Meta = Factory(dict)


@frozen(kw_only=True)
class TextDelta:
    """A piece of the answer."""

    text: str


@frozen(kw_only=True)
class ReasoningDelta:
    """A piece of the model's thinking."""

    text: str
    meta: Meta = Factory(dict)


@frozen(kw_only=True)
class CallDelta:
    """A piece of the ``index``-th tool call; ``arguments`` is a fragment of JSON text to be joined."""

    index: int
    id: str = ""
    name: str = ""
    arguments: str = ""
    meta: Meta = Factory(dict)


@frozen(kw_only=True)
class Usage:
    """Tokens and money of one or more model calls. ``input`` counts cached tokens too."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0
    cost: float = 0.0
    calls: int = 0


@frozen(kw_only=True)
class UsageDelta:
    """What the call has used so far; the last one counts."""

    usage: Usage


@frozen(kw_only=True)
class Done:
    """The end of a stream; exactly one, last. ``meta`` becomes the stored message's ``meta``."""

    reason: StopReason
    meta: Meta = Factory(dict)


Delta: TypeAlias = TextDelta | ReasoningDelta | CallDelta | UsageDelta | Done


@frozen(kw_only=True)
class Response:
    """A whole reply, assembled from a stream."""

    message: Message
    reason: StopReason
    usage: Usage


# --- people ------------------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class Principal:
    """Who owns a session, memo, grant or job: a person within a profile."""

    profile: str = "default"
    person: str = "owner"


@frozen(kw_only=True)
class Envelope:
    """One incoming message with its return address. ``event_id`` is the platform's own and makes it unique."""

    platform: str
    account: str
    event_id: str
    chat: str
    sender: str
    message: Message
    thread: str = ""


@frozen(kw_only=True)
class Sent:
    """Where a sent message can be found again."""

    chat: str
    message_id: str


@frozen(kw_only=True)
class Question:
    """Something only a person can decide. ``subject`` shows exactly what will happen."""

    id: str
    kind: Literal["approval", "choice", "text"]
    subject: str
    risk: str = ""
    choices: Sequence[str] = ("once", "session", "always", "deny")


@frozen(kw_only=True)
class Verdict:
    """The answer of a gate or a person. ``choice`` is the picked choice or typed text of a Question."""

    outcome: Outcome
    reason: str = ""
    by: str = ""
    choice: str = ""


# --- conversation ------------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class Session:
    """One conversation. ``origin`` names the way in: ``cli``, a platform, ``embed``, ``child``."""

    id: str
    origin: str
    owner: Principal = Principal()
    parent: str = ""
    title: str = ""
    cwd: str = ""
    provider: str = ""
    model: str = ""
    created: float = 0.0


@frozen(kw_only=True)
class SessionEnd:
    """Why a session came to rest: ``closed``, ``interrupted``, ``failed``."""

    reason: str


@frozen(kw_only=True)
class PromptBlock:
    """A named piece of the system prompt. Tiers are joined in the order stable, context, volatile."""

    name: str
    text: str
    tier: Literal["stable", "context", "volatile"] = "stable"


@frozen(kw_only=True)
class Prompt:
    """The system prompt, built once per session and stored with it."""

    blocks: Sequence[PromptBlock]


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
class Failed:
    """The turn could not go on. ``kind`` is the error's class name in snake case; ``hint`` says what to do now."""

    kind: str
    text: str
    hint: str = ""


@frozen(kw_only=True)
class Ended:
    """The last event of every turn. ``answer`` is the final text; ``reason`` is done, failed or interrupted."""

    session_id: str
    turn_id: str
    answer: str
    reason: Literal["done", "failed", "interrupted"]
    usage: Usage


Event: TypeAlias = Started | Said | Thinking | Called | Progress | Returned | Asked | Failed | Ended


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
    """One message found by search. ``snippet`` marks the words as ``>>>word<<<``."""

    session_id: str
    message_id: int
    title: str
    role: Role
    snippet: str
    created: float
    origin: str = ""


# --- work --------------------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class ExecRequest:
    """A command to run. ``argv`` is never passed through a shell; ``on_output`` gets output as it comes."""

    argv: Sequence[str]
    stdin: bytes = b""
    cwd: str = ""
    env: Mapping[str, str] = Factory(dict)
    seconds: float = 180.0
    limit: int = 1_000_000  # bytes of output kept in memory; head and tail are kept, the middle is dropped
    on_output: Callable[[bytes], None] | None = None


@frozen(kw_only=True)
class ExecResult:
    """What a command came to: exit status (124 after a time-out, 128+n after signal n) and joined output."""

    status: int
    output: bytes
    truncated: bool = False


@frozen(kw_only=True)
class Source:
    """Where a memo came from. ``trusted`` is false when its text came from outside (a page, a file, a stranger)."""

    by: str
    session_id: str = ""
    trusted: bool = True


@frozen(kw_only=True)
class Memo:
    """One remembered thing."""

    id: str
    text: str
    source: Source
    score: float = 1.0


# --- house -------------------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class Command:
    """A CLI command. ``name`` is its words (``telegram login``); ``build`` makes the click command when it is used."""

    name: str
    summary: str
    build: Callable[[], "click.Command"]


@frozen(kw_only=True)
class SlashCommand:
    """A command typed into a conversation. ``run`` gets the session and the rest of the line, returns what to show."""

    name: str
    summary: str
    run: Callable[[Session, str], Awaitable[str]]
    usage: str = ""


@frozen(kw_only=True)
class Migration:
    """One step of a plugin's own tables: ``number`` counts from 1, ``sql`` is one or more statements."""

    number: int
    sql: Sequence[str]


@frozen(kw_only=True)
class Finding:
    """What a check found. ``fix`` is a command or sentence that mends it."""

    level: Literal["ok", "warning", "fault"]
    text: str
    fix: str = ""


@frozen(kw_only=True)
class Check:
    """Something doctor may ask a plugin."""

    name: str
    run: Callable[[], Awaitable[Sequence[Finding]]]


Phase = Literal["discover", "declare", "consent", "import", "register", "call"]


@frozen(kw_only=True)
class Fault:
    """A recorded plugin failure: who, in which phase, where, what, and what to do now."""

    plugin: str
    phase: Phase
    where: str
    error: str
    hint: str = ""
    version: str = ""
