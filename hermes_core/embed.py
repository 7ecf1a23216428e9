"""Build your own program on the kernel: a named Distribution, a running Hermes, or just an Agent.

agent = Agent(name="helper")
agent.register_tool(count_words, effects={Effect.READ_FILES})
print(agent.run("How many words are in README.md?"))
print(agent.state.tool_history)
"""

import asyncio
import inspect
from collections.abc import Callable, Iterable
from typing import Any, Self, get_type_hints

import attrs

from hermes_core.distribution import HERMES, Allow, Distribution
from hermes_core.errors import UserError
from hermes_core.hermes import Answer, Hermes
from hermes_core.kinds import Tool, ToolContext, ToolOutput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.types import Effect, HistoryEntry

__all__ = ["HERMES", "Agent", "Allow", "Answer", "Distribution", "Hermes"]


class AgentState:
    """What an agent did."""

    def __init__(self, agent: "Agent") -> None:
        self._agent = agent

    @property
    def tool_history(self) -> "list[HistoryEntry]":
        """Every tool call of the agent's session, oldest first: input, output, outcome, seconds."""
        return self._agent._history()


class Agent:
    """An agent for scripts: create it, register functions as tools, run, look at the history."""

    def __init__(self, name: str = "agent", *, session: str = "", **options: Any) -> None:
        """Take the ``options`` of Hermes (``provider``, ``model``, ``home``, ``toolsets``, ``ask`` …)."""
        self.name = name
        self.session = session
        self.state = AgentState(self)
        self._tools: list[Tool] = list(options.pop("tools", ()))
        self._options = options
        self._runner: asyncio.Runner
        self._hermes: Hermes | None = None  # while it runs, as the runner

    def register_tool(
        self, function: "Tool | Callable[..., Any]", *, effects: "Iterable[Effect]" = (), toolset: str = "own",
        idempotent: bool = False,
    ) -> Tool:  # fmt: skip
        """Make a function the model may call; its docstring and annotations describe it. Raises UserError."""
        if self._hermes is not None:
            raise UserError("Tools are registered before the first run; this agent is already running.")
        made = function if isinstance(function, Tool) else _tool_of(function, effects, toolset, idempotent)
        self._tools.append(made)
        return made

    def run(self, message: str) -> Answer:
        """Answer one message, in the same session every time. Raises HermesError when the turn fails."""
        if self._hermes is None:
            self._runner, self._hermes = asyncio.Runner(), Hermes(tools=self._tools, **self._options)
        answer = self._runner.run(self._hermes.run(message, session=self.session, origin=self.name))
        self.session = answer.session
        return answer

    def close(self) -> None:
        """Let go of everything."""
        if self._hermes is not None:
            self._runner.run(self._hermes.close())
            self._runner.close()
            self._hermes = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _history(self) -> "list[HistoryEntry]":
        if self._hermes is None or not self.session:
            return []
        runtime = self._hermes.runtime

        async def read() -> "list[HistoryEntry]":
            store = await runtime.store()
            return await store.history.tool_calls(runtime.owner, session_id=self.session, limit=10_000)

        return list(reversed(self._runner.run(read())))


def _tool_of(function: Callable[..., Any], effects: "Iterable[Effect]", toolset: str, idempotent: bool) -> Tool:
    """Make a Tool from a plain function: each parameter becomes an argument. Raises UserError."""
    label = getattr(function, "__name__", "tool")
    if not function.__doc__:
        raise UserError(f"Write a docstring for {label}; the model reads it.")
    hints = get_type_hints(function)
    fields = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise UserError(f"Tool {label}: parameter {parameter.name} cannot be given by name.")
        default = attrs.NOTHING if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = attrs.field(default=default, type=hints.get(parameter.name, str), kw_only=True)
    params = attrs.make_class(f"{label}_arguments", fields, frozen=True)

    async def run(_context: ToolContext, arguments: Any) -> ToolOutput:
        given = {name: getattr(arguments, name) for name in fields}
        if inspect.iscoroutinefunction(function):
            result = await function(**given)
        else:
            result = await asyncio.to_thread(function, **given)
        return result if isinstance(result, str) else repr(result)

    return Tool(
        name=label, description=inspect.cleandoc(function.__doc__), params=params, run=run, toolset=toolset,
        effects=frozenset(effects), idempotent=idempotent,
    )  # fmt: skip
