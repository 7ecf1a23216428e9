"""Functions the model may call."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, get_type_hints, overload

from hermes_core.errors import UnknownName
from hermes_core.kinds.backend import Workspace
from hermes_core.types import JSON, Effect, Offer, Part, Question, Session, ToolResult, Verdict
from hermes_core.values import frozen

__all__ = ["Tool", "ToolContext", "ToolOutput", "ToolSource", "tool"]

ToolOutput = str | Sequence[Part]


class ToolContext(ABC):
    """What a running tool may use. Every call gets its own."""

    session: Session
    call_id: str
    workspace: Workspace

    @abstractmethod
    def progress(self, text: str) -> None:
        """Show live output to whoever watches."""

    @abstractmethod
    async def ask(self, question: Question) -> Verdict:
        """Ask a person; needs ASK or EXECUTE. With nobody there the verdict is deny at once, its ``by`` is empty."""

    @abstractmethod
    async def spill(self, name: str, data: bytes) -> str:
        """Keep output that is too long for the model in a file; the path under which it can be read."""

    @abstractmethod
    def offer(self) -> Offer:
        """Return the tools of this conversation now: those its model is told of, those behind them, also new ones."""

    @abstractmethod
    async def call(self, name: str, arguments: Mapping[str, JSON]) -> ToolResult:
        """Call another tool, as the model of this conversation could: judged, written down and told of on its own.

        Its result is as the model would read it, but for the fence around text from outside; what it brings from
        outside, this call brings. It is made once: when this call is run again after a death, the same call gives the
        same result. One call is made after another, for a tool without ``touches``. Raises ToolError for what is
        beyond the bounds: 4 deep, 200 for the calls of one reply, nothing left of the budget.
        """

    @abstractmethod
    def from_outside(self) -> None:
        """Say that this call's result comes from outside, as those of an ``untrusted`` tool always do.

        It is then fenced for the model, and the policy asks a person before the agent acts on it. An OutOfReach is
        taken for words of our own unless this was said, or ``opened``: say it before you open what a page named.
        """

    async def resource(self, name: str) -> Any:
        """Return the session's own of this plugin's resource, or another's ``shared`` one, opened when needed.

        It stays open at least as long as this call, unless a person stops it. Ask again rather than keep it. Raises
        UnknownName, and what opening it raises.
        """
        raise UnknownName("resource", name)

    @property
    @abstractmethod
    def cancelled(self) -> bool:
        """Whether the turn was interrupted."""


@frozen
class NoArguments:
    """The parameters of a tool that takes none."""


@frozen(kw_only=True, eq=False)
class Tool:
    """A function the model may call. Usually made by ``@tool`` from an async function.

    ``run`` is given an instance of ``params``, an attrs class; or, where there is a ``schema``, the mapping that the
    model gave, once it has that shape. Every model is sent this JSON Schema as it is, with its formats and references.

    ``touches`` gives the resource keys of a call (``file:/abs/path``, ``host:example.org``, ``process``): calls run
    side by side only where their keys do not overlap; None means "anything", so the call runs alone. It may raise
    OutOfReach: the call is then refused in these words.
    ``after`` names tools that must have run before in the same session.
    ``untrusted``: its results come from outside; a tool of which only some do calls ``ToolContext.from_outside``.
    ``needs``, asked before each turn, gives a reason why it is not offered, or None; a call is answered with it.
    ``left`` takes the place of ``run`` where a death cut a call: it sees to what still runs, and says what came of it.
    """

    name: str
    description: str
    run: Callable[[ToolContext, Any], Awaitable[ToolOutput]]
    params: type = NoArguments
    schema: Mapping[str, JSON] | None = None
    toolset: str = "other"
    effects: frozenset[Effect] = frozenset()
    idempotent: bool = False
    touches: Callable[[Any], Iterable[str]] | None = None
    untrusted: bool = False
    after: Sequence[str] = ()
    needs: Callable[[Session], str | None] | None = None
    seconds: float = 0.0  # the longest a call may take; 0: the configured default
    left: Callable[[ToolContext, Any], Awaitable[ToolOutput]] | None = None


@frozen(kw_only=True, eq=False)
class ToolSource:
    """Tools that come and go while Hermes runs: those of a server, those that an agent wrote for itself.

    ``tools`` gives those that a session may have now. It is asked before each turn, and for a call of what is no
    installed tool, so it must not wait; what takes long is kept ready elsewhere. What is new is offered from the next
    turn on, behind what was there, and can be called at once by ``tool_call``; what has gone answers with an error.
    Each tool belongs to ``toolset``, and its name begins with that of the source and ``_``. It is judged and written
    down like any other, and never takes the place of one that is installed.
    """

    name: str
    toolset: str
    tools: Callable[[Session], Iterable[Tool]]


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
