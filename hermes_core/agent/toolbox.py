"""The tools on offer."""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from hermes_core.agent.arguments import tool_spec
from hermes_core.errors import UnknownName
from hermes_core.kinds import Tool
from hermes_core.types import Session, ToolSpec

__all__ = ["Toolbox"]


class Toolbox:
    """The tools offered in this process, by name, in a fixed order (the order is part of the prompt's bytes)."""

    def __init__(
        self,
        owned: Iterable[tuple[str, Tool]],
        *,
        toolsets: Sequence[str] = (),
        disabled: Sequence[str] = (),
        only: AbstractSet[str] | None = None,
    ) -> None:
        """``owned`` are tools with the labels of their plugins; ``only`` those named there, if given, are offered."""
        pairs = list(owned)
        self._owners = {tool.name: label for label, tool in pairs}
        tools = [tool for _, tool in pairs]
        if unknown := set(toolsets) - (known := {t.toolset for t in tools}):
            raise UnknownName("toolset", min(unknown), known, hint="`hermes tools list` shows what is offered.")
        chosen = (t for t in tools if t.name not in disabled and (not toolsets or t.toolset in toolsets))
        chosen = (t for t in chosen if only is None or t.name in only)
        self._tools = {t.name: t for t in sorted(chosen, key=lambda t: (t.toolset, t.name))}

    def offered(self, session: Session) -> dict[str, Tool]:
        """The tools that can be used now."""
        return {n: t for n, t in self._tools.items() if t.needs is None or t.needs(session) is None}

    def specs(self, session: Session) -> tuple[ToolSpec, ...]:
        """What the model is told of them."""
        return tuple(tool_spec(t) for t in self.offered(session).values())

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
