"""The tools on offer."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from hermes_core.agent import toolsearch
from hermes_core.agent.arguments import tool_spec
from hermes_core.agent.bounds import permits
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
        off_on: Mapping[str, Sequence[str]] = {},
        core: Sequence[str] = (),
        search: str = "off",
        only: AbstractSet[str] | None = None,
        report: Callable[[Tool, BaseException], None] = lambda _tool, _error: None,
    ) -> None:
        """``owned`` are tools with the labels of their plugins; with ``only``, no others are known.

        ``off_on`` are those that sessions of an origin are not told of; one that knows them keeps them.

        ``report`` is told when a tool fails to say what it made.
        """
        pairs = list(owned)
        self._owners = {tool.name: label for label, tool in pairs}
        tools = sorted((t for _, t in pairs if t.name not in disabled), key=lambda t: (t.toolset, t.name))
        if unknown := set(toolsets) - (known := {t.toolset for _, t in pairs}):
            raise UnknownName("toolset", min(unknown), known, hint="`hermes tools list` shows what is offered.")
        self._makers = [t for t in tools if t.makes and (not toolsets or t.toolset in toolsets)]
        self._taken, self._only, self._report = {*self._owners, *disabled}, only, report
        tools = [t for t in tools if only is None or t.name in only]
        self._installed = {t.name: t for t in tools}
        self._tools = {t.name: t for t in tools if not toolsets or t.toolset in toolsets}
        self._core, self._search = frozenset(core), search
        self._made_by: dict[str, Tool] = {}
        self._off_on = off_on

    def offered(self, session: Session, told: AbstractSet[str] = frozenset()) -> dict[str, Tool]:
        """The tools that can be used now. ``told`` are those that a session knows of already."""
        off = set(self._off_on.get(session.origin, ())) - told
        tools = {n: t for n, t in {**self._tools, **self._made(session)}.items() if n not in off}
        tools = {n: t for n, t in tools.items() if permits(session.bounds, t)}
        return {n: t for n, t in tools.items() if t.needs is None or t.needs(session) is None}

    def _made(self, session: Session) -> dict[str, Tool]:
        """What tools have made for the session's owner up to now; one that fails to say so has made none."""
        made: dict[str, Tool] = {}
        for maker in self._makers:
            try:
                found = list(maker.makes(session)) if maker.makes else []
            except Exception as error:  # noqa: BLE001 - a plugin's fault costs its own feature only
                self._report(maker, error)
                continue
            made |= {t.name: t for t in sorted(found, key=lambda t: t.name) if self._may_appear(t.name)}
            self._made_by |= {t.name: maker for t in found}
        return made

    def _may_appear(self, name: str) -> bool:
        return name not in self._taken and (self._only is None or name in self._only)

    def specs(self, session: Session, *, window: int = 0, begun: Sequence[ToolSpec] = ()) -> tuple[ToolSpec, ...]:
        """What the model is told of them. ``window`` is what fits into the model, ``begun`` what it was told before:
        whether tools are searched for does not change in a session."""
        known = {s.name for s in begun}
        offered = self.offered(session, known)
        if begun:  # what appeared since is called through tool_call: the first bytes of requests stay what they were
            made = {n: t for n, t in self._made(session).items() if n in known}
            offered = {**{n: t for n, t in offered.items() if n in self._tools}, **made}
        behind = {n: t for n, t in offered.items() if t.toolset not in self._core}
        specs = tuple(tool_spec(t) for t in offered.values())
        if begun:
            search = toolsearch.SEARCH in known
        else:
            long = self._search == "auto" and toolsearch.worth_it([s for s in specs if s.name in behind], window)
            search = self._search == "on" or long
        if not search or not behind:
            return (*specs, toolsearch.call_spec()) if any(t.name in offered for t in self._makers) else specs
        return toolsearch.by_search([s for s in specs if s.name not in behind], [*behind.values()])

    def callable(self, told: Sequence[ToolSpec], session: Session) -> Mapping[str, Tool]:
        """The tools that calls of a session may name: those on offer, and those it was told of that are still there."""
        names = {spec.name for spec in told}
        off = set(self._off_on.get(session.origin, ())) - names
        tools = {n: t for n, t in self._installed.items() if n in self._tools or n in names} | self._made(session)
        tools = {n: t for n, t in tools.items() if n not in off}
        if toolsearch.CALL not in names:
            return tools
        search = toolsearch.search_tools({n: t for n, t in tools.items() if n not in names})
        return {**{n: t for n, t in search.items() if n in names}, **tools}

    def has(self, told: Sequence[ToolSpec], session: Session) -> bool:
        """Whether every tool that a session was told of is still there."""
        return {spec.name for spec in told} <= self.callable(told, session).keys()

    def owner(self, tool: Tool) -> str:
        """The label of the plugin that added a tool."""
        return self._owners.get(self._made_by.get(tool.name, tool).name, tool.toolset)

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
