"""The agent: a Hermes with a loop of its own, one session, and functions as tools."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Lock
from typing import Any, Self, TypedDict, TypeVar, Unpack, overload

from hermes_core.embed import Answer, Hermes
from hermes_core.errors import UserError
from hermes_core.kinds import Tool
from hermes_core.types import TurnBounds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from hermes_agent.typed import Answered
    from hermes_core.embed import Distribution, HowTurn
    from hermes_core.kinds.console import AskPerson
    from hermes_core.types import JSON, Effect, HistoryEntry, Message, Principal

__all__ = ["Agent", "AgentState", "Options"]

T = TypeVar("T")


class AgentState:
    """What an agent did."""

    def __init__(self, agent: "Agent") -> None:
        self._agent = agent

    @property
    def tool_history(self) -> "list[HistoryEntry]":
        """Every tool call of the agent's session, oldest first: input, output, outcome, seconds."""
        return self._agent._history()


class Options(TypedDict, total=False):
    """The options of Hermes that an agent takes, as ``Hermes`` says what they are."""

    distribution: "Distribution"
    home: "str | Path | None"
    profile: str | None
    config: "Mapping[str, JSON] | None"
    provider: str
    model: str
    toolsets: Sequence[str]
    ask: "AskPerson | None"
    yolo: bool
    safe_mode: bool
    owner: "Principal | None"
    strict: bool


class Agent:
    """An agent for scripts: create it, register functions as tools, run, look at the history."""

    def __init__(
        self,
        name: str = "agent",
        *,
        session: str = "",
        instructions: str = "",
        tools: Iterable[Tool] = (),
        deps: object = None,
        **options: Unpack[Options],
    ) -> None:
        """Make an agent. It has no tools but its own, unless ``toolsets`` name some of the plugins' that are enabled.

        Args:
            name: What its sessions are said to come from.
            session: The session to go on with; a new one where none is named.
            instructions: What is added to the prompt of a new session, and said to one that is there.
            tools: Tools of its own, beside the functions that are registered.
            deps: What its functions get that have a parameter of ``Context``.
            options: As of ``Hermes``.

        Raises UserError where ``toolsets`` is one text.
        """
        if isinstance(options.get("toolsets"), str):  # else each letter of it would be one
            raise UserError("toolsets is a list of names.", hint=f'Such as toolsets=["{options["toolsets"]}"].')
        self.name = name
        self.session = session
        self.state = AgentState(self)
        self._instructions, self._deps = instructions, deps
        self._told = ""  # the session that they were said to
        self._tools: list[Tool] = list(tools)
        self._options = options
        self._runner: asyncio.Runner
        self._busy = Lock()
        self._thread: ThreadPoolExecutor | None = None  # where the runner is, if a loop ran already: in a notebook
        self._hermes: Hermes | None = None  # while it runs, as the runner

    def register_tool(
        self, function: "Tool | Callable[..., Any]", *, effects: "Iterable[Effect]" = (), toolset: str = "own",
        idempotent: bool = False,
    ) -> Tool:  # fmt: skip
        """Make a function the model may call; its docstring and annotations describe it. Raises UserError."""
        if self._hermes is not None:
            raise UserError("Tools are registered before the first run; this agent is already running.")
        from hermes_agent.tools import tool_of

        made = function if isinstance(function, Tool) else tool_of(function, effects, toolset, idempotent, self._deps)
        self._tools.append(made)
        return made

    @overload
    def run(self, message: "str | Message") -> Answer: ...
    @overload
    def run(self, message: "str | Message", *, returns: type[T], tries: int = 3) -> "Answered[T]": ...
    @overload
    def run(self, message: "str | Message", *, returns: Any, tries: int = 3) -> "Answered[Any]": ...
    def run(self, message: "str | Message", *, returns: Any = None, tries: int = 3) -> "Answer | Answered[Any]":
        """Answer one message, in the same session every time; with ``returns``, by a value of that type.

        Raises HermesError when the turn fails: Refused where ``tries`` answers did not fit.
        """
        if self._hermes is None:
            self._runner, self._hermes = asyncio.Runner(), self._begun()
            self._thread = ThreadPoolExecutor(1, "hermes-agent") if asyncio._get_running_loop() else None
        said = bool(self.session) and self.session == self._told
        where: HowTurn = {"session": self.session, "origin": self.name, "system": "" if said else self._instructions}
        if not self._options.get("toolsets"):
            # By both its names: a name alone may be that of a toolset of the plugins', which is not meant.
            where["bounds"] = TurnBounds(tools=tuple(f"{tool.toolset}/{tool.name}" for tool in self._tools))
        if returns is None:
            answer = self._play(self._hermes.run(message, **where))
        else:
            from hermes_agent.typed import run

            answer = self._play(run(self._hermes, message, returns=returns, tries=tries, **where))
        self.session = self._told = answer.session
        return answer

    def close(self) -> None:
        """Let go of everything."""
        if self._hermes is not None:
            self._play(self._hermes.close())
            if self._thread is None:
                self._runner.close()
            else:
                self._thread.submit(self._runner.close).result()
                self._thread.shutdown()
            self._hermes = None

    def _play(self, work: Coroutine[Any, Any, T]) -> T:
        if self._thread is None and asyncio._get_running_loop():
            work.close()
            raise UserError("This agent ran outside of an event loop before.", hint="Close it, or use `Hermes` there.")
        if not self._busy.acquire(blocking=False):  # in another thread, or a tool of its own that wants to run it
            work.close()
            raise UserError("This agent is at work already.", hint="Wait for its answer, or make another Agent.")
        try:
            return self._runner.run(work) if self._thread is None else self._aside(self._thread, work)
        finally:
            self._busy.release()

    def _aside(self, thread: ThreadPoolExecutor, work: Coroutine[Any, Any, T]) -> T:
        """Play in the thread; what interrupts the wait for it ends the turn, too."""
        begun: Future[asyncio.Task[Any] | None] = Future()

        async def play() -> T:
            begun.set_result(asyncio.current_task())
            return await work

        played = thread.submit(self._runner.run, play())
        try:
            return played.result()
        except BaseException:
            if not played.done() and (task := begun.result()):
                self._runner.get_loop().call_soon_threadsafe(task.cancel)
                wait([played])
            raise

    def _begun(self) -> Hermes:
        """Begin to run with the tools there are. Raises UserError for one that nobody would be told of."""
        hermes = Hermes(tools=self._tools, **self._options)
        off = hermes.runtime.settings.config.agent.disabled_tools
        there = hermes.runtime.toolbox().tools
        for tool in self._tools:
            if tool.name not in off and not any(tool is one for one in there):
                raise UserError(f"Another tool is called {tool.name} already.", hint="Give yours another name.")
        return hermes

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _history(self) -> "list[HistoryEntry]":
        if self._hermes is None or not self.session:
            return []
        found = self._hermes.sessions.tool_history(self._hermes.owner, session_id=self.session, limit=10_000)
        return list(reversed(self._play(found)))
