"""The tools on offer."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from hermes_core.agent import indirect
from hermes_core.agent.arguments import tool_spec
from hermes_core.agent.bounds import permits
from hermes_core.errors import UnknownName
from hermes_core.kinds import Tool
from hermes_core.types import Offer, Session, ToolSpec

__all__ = ["Toolbox"]


class Toolbox:
    """The tools offered in this process, by name, in a fixed order (the order is part of the prompt's bytes)."""

    def __init__(
        self,
        owned: Iterable[tuple[str, Tool]],
        *,
        toolsets: Sequence[str] = (),
        disabled: Sequence[str] = (),
        off_on: Mapping[str, Sequence[str]] = {},
        report: Callable[[Tool, BaseException], None] = lambda _tool, _error: None,
    ) -> None:
        """``owned`` are tools with the labels of their plugins.

        ``off_on`` are those that sessions of an origin are not told of; one that knows them keeps them.

        ``report`` is told when a tool fails to say what it made.
        """
        pairs = list(owned)
        self._owners = {tool.name: label for label, tool in pairs}
        tools = sorted((t for _, t in pairs if t.name not in disabled), key=lambda t: (t.toolset, t.name))
        if unknown := set(toolsets) - (known := {t.toolset for _, t in pairs}):
            raise UnknownName("toolset", min(unknown), known, hint="`hermes tools list` shows what is offered.")
        self._makers = [t for t in tools if t.makes and (not toolsets or t.toolset in toolsets)]
        self._taken, self._report = {*self._owners, *disabled}, report
        self._installed = {t.name: t for t in tools}
        self._tools = {t.name: t for t in tools if not toolsets or t.toolset in toolsets}
        self._through = indirect.call_tool()
        self._made_by: dict[str, Tool] = {}
        self._off_on = off_on
        self._unsound: set[str] = set()

    def offered(self, session: Session, told: AbstractSet[str] = frozenset()) -> dict[str, Tool]:
        """The tools that can be used now. ``told`` are those that a session knows of already."""
        off = set(self._off_on.get(session.origin, ())) - told
        tools = {n: t for n, t in {**self._tools, **self._made(session)}.items() if n not in off}
        tools = {n: t for n, t in tools.items() if permits(session.bounds, t)}
        return {n: t for n, t in tools.items() if self._lacks(t, session) is None}

    def _lacks(self, tool: Tool, session: Session) -> str | None:
        """What a tool needs that is not there, or None; one that fails to say so is not there."""
        try:
            reason = tool.needs(session) if tool.needs else None
        except Exception as error:  # noqa: BLE001 - a plugin's fault costs its own feature only
            if tool.name not in self._unsound:
                self._unsound.add(tool.name)
                self._report(tool, error)
            return "it fails to say what it needs"
        return reason if reason is None or isinstance(reason, str) else "what it needs is no text"

    def _made(self, session: Session) -> dict[str, Tool]:
        """What tools have made for the session's owner up to now; one that fails to say so has made none."""
        made: dict[str, Tool] = {}
        for maker in self._makers:
            try:
                found = list(maker.makes(session)) if maker.makes else []
            except Exception as error:  # noqa: BLE001 - a plugin's fault costs its own feature only
                self._report(maker, error)
                continue
            made |= {t.name: t for t in sorted(found, key=lambda t: t.name) if t.name not in self._taken}
            self._made_by |= {t.name: maker for t in found}
        return made

    def offer(self, session: Session, *, window: int = 0, begun: Sequence[ToolSpec] = ()) -> Offer:
        """All of them, to choose from. ``begun`` is what a model was told before: what is still there of it comes
        first, as it was, and what was made since stays behind."""
        known = {s.name: s for s in begun}
        offered = self.offered(session, known.keys())
        made = {n for n in offered if begun and n not in self._tools and n not in known}
        fresh = {n: tool_spec(t) for n, t in offered.items()}
        through = tool_spec(self._through)
        if indirect.CALL in known or any(t.name in offered for t in self._makers):
            fresh[through.name] = through
        sent = [fresh[n] if fresh[n] == s else s for n, s in known.items() if n in fresh]  # one copy is enough
        behind = [fresh[n] for n in made] + ([through] if through.name not in fresh else [])
        return Offer(
            tools=(*sent, *(s for n, s in fresh.items() if n not in known and n not in made)),
            behind=tuple(behind),
            toolsets={n: t.toolset for n, t in offered.items()},
            sent=tuple(begun),
            context=window,
        )

    def unmet(self, session: Session) -> dict[str, str]:
        """The tools that cannot be used now, each with what it needs."""
        needs = {n: self._lacks(t, session) for n, t in self._tools.items()}
        return {name: reason for name, reason in needs.items() if reason is not None}

    def callable(self, told: Sequence[ToolSpec], session: Session) -> Mapping[str, Tool]:
        """The tools that calls of a session may name: those on offer, and those it was told of that are still there."""
        names = {spec.name for spec in told}
        off = set(self._off_on.get(session.origin, ())) - names
        tools = {n: t for n, t in self._installed.items() if n in self._tools or n in names} | self._made(session)
        tools = {n: t for n, t in tools.items() if n not in off}
        return {indirect.CALL: self._through, **tools} if indirect.CALL in names else tools

    def has(self, told: Sequence[ToolSpec], session: Session) -> bool:
        """Whether every tool that a session was told of is still there."""
        return {spec.name for spec in told} <= self.callable(told, session).keys()

    def owner(self, tool: Tool) -> str:
        """The label of the plugin that added a tool."""
        return self._owners.get(self._made_by.get(tool.name, tool).name, tool.toolset)

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
