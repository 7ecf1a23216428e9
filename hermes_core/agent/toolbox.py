"""The tools on offer."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from hermes_core.agent import toolsearch
from hermes_core.agent.arguments import tool_spec
from hermes_core.errors import UnknownName
from hermes_core.kinds import Tool
from hermes_core.types import Session, ToolSpec

__all__ = ["Toolbox"]


class Toolbox:
    """The tools offered in this process, by name, in a fixed order (the order is part of the prompt's bytes).

    Toolsets outside of ``core`` are offered by search when ``search`` is on, or auto and their schemas are long.
    """

    def __init__(
        self,
        owned: Iterable[tuple[str, Tool]],
        *,
        toolsets: Sequence[str] = (),
        disabled: Sequence[str] = (),
        core: Sequence[str] = (),
        search: str = "off",
        only: AbstractSet[str] | None = None,
    ) -> None:
        """``owned`` are tools with the labels of their plugins; with ``only``, no others are known."""
        pairs = list(owned)
        self._owners = {tool.name: label for label, tool in pairs}
        tools = sorted((t for _, t in pairs if t.name not in disabled), key=lambda t: (t.toolset, t.name))
        if unknown := set(toolsets) - (known := {t.toolset for _, t in pairs}):
            raise UnknownName("toolset", min(unknown), known, hint="`hermes tools list` shows what is offered.")
        tools = [t for t in tools if only is None or t.name in only]
        self._installed = {t.name: t for t in tools}
        self._tools = {t.name: t for t in tools if not toolsets or t.toolset in toolsets}
        self._core, self._search = frozenset(core), search

    def offered(self, session: Session) -> dict[str, Tool]:
        """The tools that can be used now."""
        return {n: t for n, t in self._tools.items() if t.needs is None or t.needs(session) is None}

    def specs(self, session: Session, *, window: int = 0, begun: Sequence[ToolSpec] = ()) -> tuple[ToolSpec, ...]:
        """What the model is told of them. ``window`` is what fits into the model, ``begun`` what it was told before:
        whether tools are searched for does not change in a session."""
        offered = self.offered(session)
        behind = {n: t for n, t in offered.items() if t.toolset not in self._core}
        specs = tuple(tool_spec(t) for t in offered.values())
        if begun:
            search = any(s.name == toolsearch.CALL for s in begun)
        else:
            long = self._search == "auto" and toolsearch.worth_it([s for s in specs if s.name in behind], window)
            search = self._search == "on" or long
        if not search or not behind:
            return specs
        return toolsearch.by_search([s for s in specs if s.name not in behind], [*behind.values()])

    def callable(self, told: Sequence[ToolSpec]) -> Mapping[str, Tool]:
        """The tools that calls of a session may name: those on offer, and those it was told of that are still there."""
        names = {spec.name for spec in told}
        tools = {n: t for n, t in self._installed.items() if n in self._tools or n in names}
        if toolsearch.CALL not in names:
            return tools
        return {**toolsearch.search_tools({n: t for n, t in tools.items() if n not in names}), **tools}

    def has(self, told: Sequence[ToolSpec]) -> bool:
        """Whether every tool that a session was told of is still installed."""
        return {spec.name for spec in told} <= self.callable(told).keys()

    def owner(self, tool: Tool) -> str:
        """The label of the plugin that added a tool."""
        return self._owners.get(tool.name, tool.toolset)

    def get(self, name: str) -> Tool | None:
        """A tool by its name."""
        return self._tools.get(name)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """All tools."""
        return tuple(self._tools.values())

    @property
    def toolsets(self) -> set[str]:
        """The toolsets they belong to."""
        return {tool.toolset for tool in self._tools.values()}

    @property
    def names(self) -> tuple[str, ...]:
        """All names."""
        return tuple(self._tools)
