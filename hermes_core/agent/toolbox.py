"""The tools on offer."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, partial
from itertools import islice
from weakref import WeakValueDictionary

from hermes_core.agent import indirect
from hermes_core.agent.arguments import tool_spec
from hermes_core.agent.bounds import permits
from hermes_core.errors import ContractError, UnknownName
from hermes_core.kinds import Tool, ToolSource
from hermes_core.patterns import pattern
from hermes_core.plugins.fence import Late, finished
from hermes_core.types import Offer, Session, ToolSpec

__all__ = ["Toolbox"]

_NAME = pattern("[a-zA-Z0-9_-]{1,64}")  # what every provider accepts
_MOST, _SECONDS = 1000, 2.0  # tools of one source, and how long it may take to name them


class Toolbox:
    """The tools offered in this process, by name, in a fixed order (the order is part of the prompt's bytes)."""

    def __init__(
        self,
        owned: Iterable[tuple[str, Tool]],
        sources: Iterable[tuple[str, ToolSource]] = (),
        *,
        toolsets: Sequence[str] = (),
        disabled: Sequence[str] = (),
        off_on: Mapping[str, Sequence[str]] = {},
        own: Callable[[str], bool] = lambda _label: False,
        report: Callable[[str, str, BaseException], None] = lambda _label, _where, _error: None,
    ) -> None:
        """``owned`` are tools with the labels of their plugins, ``sources`` those of tools that come and go.

        ``off_on`` are those that sessions of an origin are not told of; one that knows them keeps them.
        ``own`` tells whether a plugin, by its label, is one of ours.

        ``report`` is told once when a plugin fails to say what it has, or has what cannot be offered.
        """
        self._disabled, self._off_on, self._own, self._report = disabled, off_on, own, report
        self._told, self._seen = set[tuple[str, str]](), WeakValueDictionary[int, Tool]()
        pairs, lenders = [(label, tool) for label, tool in owned if self._sound(label, tool)], list(sources)
        self._owners = {tool.name: label for label, tool in pairs}
        self._all = {t.name: t for t in sorted((t for _, t in pairs), key=lambda t: (t.toolset, t.name))}
        known = {*(t.toolset for _, t in pairs), *(s.toolset for _, s in lenders)}
        if unknown := set(toolsets) - known:
            raise UnknownName("toolset", min(unknown), known, hint="`hermes tools list` shows what is offered.")
        self._installed = {n: t for n, t in self._all.items() if n not in disabled}
        self._tools = {n: t for n, t in self._installed.items() if not toolsets or t.toolset in toolsets}
        self._sources = [(label, s) for label, s in lenders if not toolsets or s.toolset in toolsets]
        self._through = indirect.call_tool()

    def offered(self, session: Session, known: AbstractSet[str] = frozenset()) -> dict[str, Tool]:
        """Return the tools that can be used now. ``known`` are those that a session knows of already."""
        off = set(self._off_on.get(session.origin, ())) - known
        tools = {n: t for n, t in {**self._tools, **self.sourced(session)}.items() if n not in off}
        bounds = (session.bounds, session.rights.bounds if session.rights else None)
        return {n: t for n, t in tools.items() if all(permits(b, t) for b in bounds) and self.lacks(t, session) is None}

    def lacks(self, tool: Tool, session: Session) -> str | None:
        """Say what a tool needs that is not there, or None; one that fails to say so is not there."""
        try:
            reason = tool.needs(session) if tool.needs else None
        except Exception as error:  # noqa: BLE001 - a plugin's fault costs its own feature only
            self._say(self.owner(tool), tool.name, error)
            return "it fails to say what it needs"
        return reason if reason is None or isinstance(reason, str) else "what it needs is no text"

    def sourced(self, session: Session) -> dict[str, Tool]:
        """Return the tools that come and go, as a session has them now. What cannot be offered is left out and told."""
        found: dict[str, Tool] = {}
        for label, source in self._sources:
            try:
                listed = finished(partial(_listed, source, session), _SECONDS, own=self._own(label))
                if len(listed) > _MOST:
                    raise ContractError(label, f"{source.name} has no end, or more than {_MOST:,} tools")
            except (Exception, SystemExit) as error:  # noqa: BLE001 - a plugin's fault costs its own feature only
                if isinstance(error, Late):  # it is asked no more: each time would hold up everybody
                    self._sources = [pair for pair in self._sources if pair[1] is not source]
                self._say(label, source.name, error)
                continue
            given = {tool.name: tool for tool in listed if self._seen.get(id(tool)) is tool or self._sound(label, tool)}
            for name, tool in sorted(given.items()):
                if name in self._all or name in found:
                    text = f"{self._owners[name]} and {label} both add {name!r}; {self._owners[name]} is used"
                    self._say(label, name, ContractError(label, text))
                elif not _NAME.fullmatch(name) or not name.startswith(f"{source.name}_"):
                    text = f"{name!r} is no name for its tool: {source.name}_, then letters, digits, - and _, 64 in all"
                    self._say(label, source.name, ContractError(label, text))
                else:
                    self._owners[name], found[name] = label, tool
        return {name: tool for name, tool in found.items() if name not in self._disabled}

    def _sound(self, label: str, tool: Tool) -> bool:
        """Tell whether a model can be told of it: one schema that is none would end every turn of every session."""
        try:
            if not (isinstance(tool, Tool) and isinstance(tool.name, str) and isinstance(tool.description, str)):
                raise TypeError(f"a {type(tool).__name__} without a name and a description is no tool")
            if not isinstance(schema := tool_spec(tool).schema, Mapping):
                raise TypeError(f"the schema of {tool.name} is no object")
            json.dumps(schema, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            self._say(label, getattr(tool, "name", ""), ContractError(label, f"cannot be offered: {error}"))
            return False
        return self._seen.setdefault(id(tool), tool) is tool

    def _say(self, label: str, where: str, error: BaseException) -> None:
        if (where, str(error)) not in self._told:
            self._told.add((where, str(error)))
            self._report(label, where, error)

    def offer(self, session: Session, *, window: int = 0, begun: Sequence[ToolSpec] = ()) -> Offer:
        """Return all, to choose from. ``begun`` is what a model was told before: what is still there of it comes
        first, as it was."""
        known = {s.name: s for s in begun}
        offered = self.offered(session, known.keys())
        fresh = {n: tool_spec(t) for n, t in offered.items()}
        through = tool_spec(self._through)
        coming = {source.toolset for _, source in self._sources}
        if indirect.CALL in known or any(t.toolset in coming for t in offered.values()):
            fresh[through.name] = through
        sent = [fresh[n] if fresh[n] == s else s for n, s in known.items() if n in fresh]  # one copy is enough
        return Offer(
            tools=(*sent, *(s for n, s in fresh.items() if n not in known)),
            behind=(through,) if through.name not in fresh else (),
            toolsets={n: t.toolset for n, t in offered.items()},
            sent=tuple(begun),
            context=window,
        )

    def unmet(self, session: Session) -> dict[str, str]:
        """Return the tools that cannot be used now, each with what it needs."""
        needs = {n: self.lacks(t, session) for n, t in {**self._tools, **self.sourced(session)}.items()}
        return {name: reason for name, reason in needs.items() if reason is not None}

    def callable(self, specs: Sequence[ToolSpec], session: Session) -> Mapping[str, Tool]:
        """Return what calls of a session may name: the tools there, and those it was told of that are still there."""
        names = {spec.name for spec in specs}
        off = set(self._off_on.get(session.origin, ())) - names
        through = {indirect.CALL: self._through} if indirect.CALL in names else {}
        tools = {n: t for n, t in self._installed.items() if n not in off and (n in self._tools or n in names)}
        return _Callable(through | tools, lambda: {n: t for n, t in self.sourced(session).items() if n not in off})

    def has(self, specs: Sequence[ToolSpec], session: Session) -> bool:
        """Tell whether every tool that a session was told of is still there."""
        return {spec.name for spec in specs} <= self.callable(specs, session).keys()

    def every(self, session: Session) -> dict[str, Tool]:
        """Return all there are, switched off or not, with what a session may have of those that come and go."""
        return {**self._all, **self.sourced(session)}

    def owner(self, tool: Tool) -> str:
        """Return the label of the plugin that added a tool."""
        return self._owners.get(tool.name, tool.toolset)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """All tools that are installed."""
        return tuple(self._tools.values())


class _Callable(Mapping[str, Tool]):
    """Tools that are there, then those that come and go: asked for once, when a name is none of the first."""

    def __init__(self, there: Mapping[str, Tool], coming: Callable[[], Mapping[str, Tool]]) -> None:
        self._there, self._coming = there, cache(coming)

    def __getitem__(self, name: str) -> Tool:
        return self._there[name] if name in self._there else self._coming()[name]

    def __iter__(self) -> Iterator[str]:
        return iter([*self._there, *self._coming()])

    def __len__(self) -> int:
        return len(self._there) + len(self._coming())


def _listed(source: ToolSource, session: Session) -> list[Tool]:
    return [*islice(source.tools(session), _MOST + 1)]
