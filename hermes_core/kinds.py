"""The five kinds of plugin: provider, tool, backend, platform, memory. Abstract and small.

A kind has at most three abstract methods. Everything else has a default that says "no" politely. Every method that
may wait is ``async`` and must tolerate being cancelled: afterwards the object is used again.
"""

import inspect
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, get_type_hints, overload

from attrs import frozen

from hermes_core.errors import ToolError, UserError
from hermes_core.types import (
    ChildResult,
    ChildTask,
    Delta,
    Effect,
    Endpoint,
    Envelope,
    Event,
    ExecRequest,
    ExecResult,
    Feature,
    Memo,
    Message,
    Model,
    Part,
    Price,
    Principal,
    Question,
    Request,
    Sent,
    Session,
    SlashCommand,
    Source,
    Verdict,
)

__all__ = [
    "Backend",
    "Desk",
    "Memory",
    "Platform",
    "Process",
    "Provider",
    "Tool",
    "ToolContext",
    "ToolOutput",
    "Workspace",
    "tool",
]

ToolOutput = str | Sequence[Part]


class Provider(ABC):
    """Answers requests with a model.

    ``rank`` orders the automatic choice: the lowest ready rank wins (10 hosted, 50 on this machine, 90 last resort).
    """

    name: str
    rank: int = 10
    default_model: str = ""  # empty: the first of models()

    @abstractmethod
    async def models(self) -> Sequence[Model]:
        """The models on offer. Raises ProviderError when the provider cannot be asked."""

    @abstractmethod
    def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Answer a request piece by piece, ending with exactly one Done. Raises ProviderError."""

    def window(self, model: str) -> int:
        """Tokens that fit into a model as far as that is known without asking anybody; 0 when it is not."""
        return 0

    def price(self, model: str) -> Price | None:
        """What a model costs by the list, for usage that comes without a cost; None when that is not known."""
        return None

    async def body(self, request: Request) -> bytes:
        """The bytes that ``stream`` would send for a request; empty where nothing is sent or it cannot be said."""
        return b""

    def at(self, endpoint: Endpoint) -> "Provider":
        """The same provider at the address, or with the key, that the user configured. Raises UserError."""
        raise UserError(f"Provider {self.name} takes no address or key; remove providers.{endpoint.name}.")

    async def ready(self) -> bool:
        """Whether it could answer now (a key is set, the local server is up). Asked only in the automatic choice."""
        return False

    async def close(self) -> None:
        """Let go of connections."""


class ToolContext(ABC):
    """What a running tool may use. Every call gets its own."""

    session: Session
    call_id: str
    workspace: "Workspace"

    @abstractmethod
    def progress(self, text: str) -> None:
        """Show live output to whoever watches."""

    @abstractmethod
    async def ask(self, question: Question) -> Verdict:
        """Ask a person. With nobody there the verdict is deny at once, and its ``by`` is empty."""

    @abstractmethod
    async def spill(self, name: str, data: bytes) -> str:
        """Keep output that is too long for the model in a file; the path under which it can be read."""

    @abstractmethod
    async def child(self, task: ChildTask) -> ChildResult:
        """Hand work to a child agent, in a process of its own, and wait for what comes of it.

        It gets no more than this agent has: rules, tools, budget. Whatever happens to it is a result, never an error;
        cancelling ends it. Run again after a crash, the same call finds the child it had. Several may run side by side.
        Raises ToolError when the tool does not declare Effect.DELEGATE.
        """

    @abstractmethod
    def from_outside(self) -> None:
        """Say that this call's result comes from outside, as those of an ``untrusted`` tool always do.

        It is then fenced for the model, and the policy asks a person before the agent acts on it. An OutOfReach is
        taken for words of our own unless this was said, or ``opened``: say it before you open what a page named.
        """

    @property
    @abstractmethod
    def cancelled(self) -> bool:
        """Whether the turn was interrupted."""


@frozen(kw_only=True, eq=False)
class Tool:
    """A function the model may call. Usually made by ``@tool`` from an async function.

    ``touches`` gives the resource keys of a call (``file:/abs/path``, ``host:example.org``, ``process``): calls run
    side by side only where their keys do not overlap; None means "anything", so the call runs alone. It may raise
    OutOfReach: the call is then refused in these words.
    ``after`` names tools that must have run before in the same session.
    ``untrusted``: its results come from outside; a tool of which only some do calls ``ToolContext.from_outside``.
    ``needs`` gives a reason why the tool is not offered now, or None.
    ``makes`` gives the tools that this one has made for a session's owner up to now. They are offered in sessions that
    begin later, and can be called at once: it is asked before the calls of each reply, so it must not wait. What it
    makes is judged and written down like any other tool, under its own name, and never takes an installed one's place.
    """

    name: str
    description: str
    params: type
    run: Callable[[ToolContext, Any], Awaitable[ToolOutput]]
    toolset: str = "other"
    effects: frozenset[Effect] = frozenset()
    idempotent: bool = False
    touches: Callable[[Any], Iterable[str]] | None = None
    untrusted: bool = False
    after: Sequence[str] = ()
    needs: Callable[[Session], str | None] | None = None
    makes: Callable[[Session], Iterable["Tool"]] | None = None
    seconds: float = 0.0  # the longest a call may take; 0: the configured default


@frozen
class NoArguments:
    """The parameters of a tool that takes none."""


@overload
def tool(function: Callable[..., Awaitable[ToolOutput]], /) -> Tool: ...
@overload
def tool(
    *,
    name: str = "",
    toolset: str = "other",
    effects: Iterable[Effect] = (),
    idempotent: bool = False,
    touches: Callable[[Any], Iterable[str]] | None = None,
    untrusted: bool = False,
    after: Sequence[str] = (),
    needs: Callable[[Session], str | None] | None = None,
    makes: Callable[[Session], Iterable[Tool]] | None = None,
    seconds: float = 0.0,
) -> Callable[[Callable[..., Awaitable[ToolOutput]]], Tool]: ...
def tool(function: Callable[..., Awaitable[ToolOutput]] | None = None, /, **options: Any) -> Any:
    """Make a Tool from an async function; its docstring is what the model reads.

    The function takes its arguments as one attrs class, and a ToolContext first if it asks for one.
    Raises TypeError when the function is not async, has no docstring or more parameters than that.
    """
    if function is None:
        return lambda f: _make_tool(f, **options)
    return _make_tool(function)


def _make_tool(function: Callable[..., Awaitable[ToolOutput]], *, name: str = "", **options: Any) -> Tool:
    label = name or function.__name__
    if not inspect.iscoroutinefunction(function):
        raise TypeError(f"tool {label}: write 'async def {function.__name__}(…)'")
    if not function.__doc__:
        raise TypeError(f"tool {label}: write a docstring; the model reads it")
    hints = get_type_hints(function)
    given = [hints.get(p) for p in inspect.signature(function).parameters]
    wants_context = bool(given) and isinstance(given[0], type) and issubclass(given[0], ToolContext)
    classes = given[1:] if wants_context else given
    if len(classes) > 1 or (classes and not hasattr(classes[0], "__attrs_attrs__")):
        raise TypeError(f"tool {label}: take (context: ToolContext, params: AttrsClass), or either, or neither")
    params = classes[0] if classes else NoArguments

    async def run(context: ToolContext, arguments: Any) -> ToolOutput:
        return await function(*([context] if wants_context else []), *([arguments] if classes else []))

    options["effects"] = frozenset(options.get("effects", ()))
    return Tool(
        name=label, description=inspect.cleandoc(function.__doc__), params=params or NoArguments, run=run, **options
    )


class Process(ABC):
    """A command running in the background of a workspace."""

    id: str

    @abstractmethod
    async def read(self) -> bytes:
        """Output since the last read."""

    @abstractmethod
    async def poll(self) -> int | None:
        """The exit status, or None while it runs."""

    @abstractmethod
    async def kill(self) -> None:
        """End it and everything it started."""

    async def write(self, data: bytes) -> None:
        """Send to its standard input."""
        raise ToolError("This process takes no input.")


class Workspace(ABC):
    """A place where commands run. ``cwd`` is the folder that relative paths start from."""

    features: frozenset[Feature] = frozenset()
    cwd: str = ""

    @property
    def shell_cwd(self) -> str:
        """The folder the next shell command starts in: not ``cwd`` where an earlier ``cd`` lasts."""
        return self.cwd

    @property
    def busy(self) -> bool:
        """Whether something runs in it that ``close`` would end; then it is not closed for being idle."""
        return False

    @abstractmethod
    async def run(self, request: ExecRequest) -> ExecResult:
        """Run a command to its end. A time-out kills all it started and gives status 124.

        Raises ToolError when the command cannot be started or the place cannot be reached.
        """

    async def start(self, request: ExecRequest) -> Process:
        """Start a command in the background; only with Feature.BACKGROUND."""
        raise ToolError("This workspace runs nothing in the background.")

    async def read(self, path: str) -> bytes:
        """The bytes of a file. Raises ToolError when there is none."""
        script = '[ ! -e "$1" ] || [ -f "$1" ] || { echo "it is no regular file" >&2; exit 1; }; exec cat -- "$1"'
        result = await self.run(ExecRequest(argv=("sh", "-c", script, "sh", path), limit=100_000_000))
        if result.status:
            raise ToolError(f"Cannot read {path}: {result.output.decode(errors='replace').strip()}")
        return result.output

    async def write(self, path: str, data: bytes) -> None:
        """Replace a file as a whole, making its folders; never a half-written file. Raises ToolError."""
        script = (
            'set -e; p=$1; d=$(dirname -- "$p"); mkdir -p -- "$d"; t=$(mktemp "$d/.hermes.XXXXXX"); '
            'trap \'rm -f -- "$t"\' EXIT; cat >"$t"; m=644; [ ! -e "$p" ] || m=$(stat -c %a -- "$p"); '
            'chmod "$m" "$t"; mv -f -- "$t" "$p"'
        )
        result = await self.run(ExecRequest(argv=("sh", "-c", script, "sh", path), stdin=data))
        if result.status:
            raise ToolError(f"Cannot write {path}: {result.output.decode(errors='replace').strip()}")

    async def close(self) -> None:
        """End what still runs and let go of the place."""


class Backend(ABC):
    """Opens places where commands run. The same key gives the same place.

    ``features`` are those its places will have, as far as that is known before one is opened.
    """

    name: str
    features: frozenset[Feature] = frozenset()

    @abstractmethod
    async def open(self, key: str) -> Workspace:
        """Open a place; ``key`` is the session's folder. Raises UserError when it cannot be reached."""

    async def ready(self) -> bool:
        """Whether it could open a place now, so that it may be offered. Never raises; opens nothing that stays."""
        return False


class Desk(ABC):
    """What the kernel tells a platform, and what a platform may ask of it."""

    @property
    @abstractmethod
    def commands(self) -> Sequence[SlashCommand]:
        """The slash commands that work in a conversation, for completion and menus. The kernel runs them."""

    @abstractmethod
    def status(self, chat: str) -> Mapping[str, str]:
        """What to show about a chat: ``session``, ``title``, ``provider``, ``model``, ``cwd``, ``mode``, ``notice``."""

    @abstractmethod
    async def interrupt(self, chat: str) -> bool:
        """Stop the running turn of a chat; False when none runs."""


class Platform(ABC):
    """A message service. ``limit`` is the longest message it takes, in characters; 0 means no limit."""

    name: str
    features: frozenset[Feature] = frozenset()
    limit: int = 0

    async def open(self, desk: Desk) -> None:
        """Called once, before receive."""

    @abstractmethod
    def receive(self) -> AsyncIterator[Envelope]:
        """Incoming messages, each with the service's own event id; ends when the person leaves.

        The next one is asked for while a turn still runs. Every message ends in an Ended event (LIVE) or a send.
        """

    @abstractmethod
    async def send(self, chat: str, message: Message, key: str) -> Sent | None:
        """Send one message. ``key`` is an idempotency key, used where the service has one."""

    async def ack(self, envelope: Envelope) -> None:
        """The kernel has stored the message; the service may forget it."""

    async def edit(self, sent: Sent, message: Message) -> None:
        """Replace a sent message; only with Feature.EDIT."""
        raise UserError(f"Platform {self.name} cannot edit messages.")

    async def show(self, chat: str, event: Event) -> None:
        """An event of a running turn: all of them with Feature.LIVE, only Started with Feature.TYPING."""

    async def ask(self, chat: str, question: Question) -> Verdict | None:
        """Ask the person in this chat; None where the platform has no way to ask."""
        return None

    async def close(self) -> None:
        """Disconnect and restore what was changed."""


class Memory(ABC):
    """A store across sessions. Nothing of one owner is ever seen by another."""

    name: str

    @abstractmethod
    async def add(self, owner: Principal, text: str, source: Source) -> Memo:
        """Remember something. The same text twice is one memo. Raises ToolError when it cannot be kept."""

    @abstractmethod
    async def search(self, owner: Principal, query: str, limit: int) -> Sequence[Memo]:
        """At most ``limit`` memos that match, best first. An empty query matches all."""

    @abstractmethod
    async def forget(self, owner: Principal, memo_id: str) -> None:
        """Forget a memo. Forgetting twice is quiet."""

    async def brief(self, session: Session) -> str:
        """What the model should know from the start; frozen into the prompt for the session."""
        return ""

    async def learn(self, session: Session, messages: Sequence[Message]) -> None:
        """Look at a finished turn and remember what is worth it. Not called where its model saw text from outside."""
