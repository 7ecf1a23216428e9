"""Which services a search asks: the chosen ones; else those with a key; else free ones, taking turns."""

import asyncio
import random
import time
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError
from hermes_tool_web.config import Config
from hermes_tool_web.search.asking import Hit, Keys, Silent, ask
from hermes_tool_web.search.ranking import fused
from hermes_tool_web.search.services import Service, services

__all__ = ["Chain", "Found"]

_REST, _LONGEST_REST = 60.0, 3_600.0  # seconds
_BESIDES = 2  # services for one thing, asked beside a general one
_BESIDES_WEIGHT = 0.7  # of their results, as they answer every query with something


Answer: TypeAlias = tuple[list[Hit], float, Service]


class Failed(NamedTuple):
    """Who did not answer, why, and what a person may do about it; whether they were ``told`` of it before."""

    title: str
    why: str
    mend: str
    told: bool


class Found(NamedTuple):
    """What a search brought, and from whom."""

    hits: Sequence[Hit]
    by: Sequence[str]


class Chain:
    """The services of one Hermes, and which of them rest. One that fails rests, longer each time, and is told once."""

    def __init__(self, ctx: PluginContext, config: Config) -> None:
        self._ctx, self._config = ctx, config
        self._turn = random.randrange(100)  # noqa: S311 - so that not every start burdens the same one
        self._rests: dict[str, tuple[float, int]] = {}  # until when, after how many failures
        self._told: set[str] = set()
        self._asked: dict[str, float] = {}

    def hosts(self) -> list[str]:
        """Return every host that a search may ask. Raises ToolError for a choice that cannot be."""
        chosen = self._chosen() or [*self._keyed(), *self._free(), *self._special()]
        return sorted({host for service in chosen for host in service.hosts(self._config.searxng)})

    def asked(self) -> str:
        """Say whom a search asks. Raises ToolError for a choice that cannot be."""
        if chosen := self._chosen():
            return " and ".join(service.title for service in chosen)
        if keyed := self._keyed():
            return ", then ".join(service.title for service in keyed)
        return f"{', '.join(service.title for service in self._free())} in turn, without a key"

    async def search(self, query: str, limit: int) -> Found:
        """Ask, and put together what comes. Raises ToolError when nobody answered."""
        failed: list[Failed] = []
        try:
            answers = await self._answers(query, limit, failed)
        finally:
            for who, why in _by_reason([one for one in failed if not one.told]):
                self._ctx.tell(f"{who} did not answer a search: {why}")
        if not answers:
            reasons = "; ".join(f"{who}: {why.rstrip('.')}" for who, why in _by_reason(failed))
            raise ToolError(
                f"Nobody answered the search: {reasons or 'all services rest after failures'}.",
                hint="Try again in a minute, or open an address you know with web_fetch. A person can set a key, "
                "such as TAVILY_API_KEY, or tools.web.searxng.",
            )
        hits = fused([(hits, weight) for hits, weight, _ in answers], limit)
        return Found(hits, [service.title for one, _, service in answers if one])

    async def _answers(self, query: str, limit: int, failed: list[Failed]) -> list[Answer]:
        if chosen := self._chosen():
            return await self._all(chosen, query, limit, failed, 1.0, once=True)
        if answer := await self._first(self._keyed(), query, limit, failed):
            return [answer]
        return await self._keyless(query, limit, failed)

    async def _keyless(self, query: str, limit: int, failed: list[Failed]) -> list[Answer]:
        """Ask a free general service, the next in turn where it fails, and beside it those that know of such things."""
        free, special = self._free(), [s for s in self._special() if s.knows(query)][:_BESIDES]
        self._turn += 1
        start = self._turn % len(free)
        first, besides = await asyncio.gather(
            self._first([*free[start:], *free[:start]], query, limit, failed),
            self._all(special, query, limit, failed, _BESIDES_WEIGHT),
        )
        if first is not None:
            return [first, *besides]
        rest = [service for service in self._special() if service not in special]
        return [*besides, *await self._all(rest, query, limit, failed, _BESIDES_WEIGHT)]

    async def _all(
        self,
        among: Sequence[Service],
        query: str,
        limit: int,
        failed: list[Failed],
        weight: float,
        *,
        once: bool = False,
    ) -> list[Answer]:
        """Ask all of them at once."""
        lists = await asyncio.gather(*(self._try(service, query, limit, failed, once=once) for service in among))
        return [(hits, weight, service) for hits, service in zip(lists, among, strict=True) if hits is not None]

    async def _first(self, among: Sequence[Service], query: str, limit: int, failed: list[Failed]) -> Answer | None:
        """Ask one after another until one finds something."""
        empty = None
        for service in among:
            hits = await self._try(service, query, limit, failed)
            if hits:
                return hits, 1.0, service
            if hits is not None and empty is None:
                empty = service
        return ([], 1.0, empty) if empty else None

    async def _try(
        self, service: Service, query: str, limit: int, failed: list[Failed], *, once: bool = False
    ) -> list[Hit] | None:
        """Ask one service unless it rests; None when it did not answer. ``once`` asks one that rests, too."""
        until, times = self._rests.get(service.name, (0.0, 0))
        now = time.monotonic()
        if (now < until and not once) or now - self._asked.get(service.name, -1e9) < service.pause:
            return None
        self._asked[service.name] = now
        try:
            hits = await ask(service, query, limit, self._keys(service), self._ctx.urls, self._config.search_seconds)
        except Silent as silent:
            rest = silent.wait or _REST * 2.0 ** min(times, 6)
            self._rests[service.name] = (time.monotonic() + min(rest, _LONGEST_REST), times + 1)
            mend = f" Look at {service.key}." if silent.refused else ""
            failed.append(Failed(service.title, silent.why, mend, service.name in self._told))
            self._told.add(service.name)
            return None
        self._rests.pop(service.name, None)
        return hits

    def _keys(self, service: Service) -> Keys:
        key = self._ctx.secrets.get(service.key) if service.key else ""
        other = self._ctx.secrets.get(service.other) if service.other else ""
        return Keys(key, other, self._config.searxng.rstrip("/"))

    def _ready(self, service: Service) -> bool:
        keys = self._keys(service)
        return bool(keys.base) if service.own else bool(keys.key and (keys.other or not service.other))

    def _chosen(self) -> list[Service]:
        """Return what the person chose by name, or nothing for ``auto``. Raises ToolError."""
        if self._config.search == ["auto"]:
            return []
        known = services()
        chosen = []
        for name in self._config.search:
            if (service := known.get(name)) is None:
                raise ToolError(
                    f"tools.web.search names {name!r}, which is no service.",
                    hint=f"There are auto, {', '.join(known)}.",
                    retry=False,
                )
            if not (service.keyless and not service.own) and not self._ready(service):
                missing = (
                    "tools.web.searxng" if service.own else " and ".join(filter(None, (service.key, service.other)))
                )
                raise ToolError(
                    f"tools.web.search names {name}, and {missing} is not set.",
                    hint="A person has to set it, or choose auto.",
                    retry=False,
                )
            chosen.append(service)
        return chosen

    def _keyed(self) -> list[Service]:
        mine = [s for s in services().values() if s.general and self._ready(s)]
        return sorted(mine, key=lambda service: not service.own)

    def _free(self) -> list[Service]:
        return [s for s in services().values() if s.general and s.keyless and not s.own]

    def _special(self) -> list[Service]:
        return [s for s in services().values() if not s.general]


def _by_reason(failed: Sequence[Failed]) -> list[tuple[str, str]]:
    """Who failed for each reason, and the reason as a sentence."""
    found: dict[str, list[str]] = {}
    for one in failed:
        found.setdefault(f"{one.why}.{one.mend}", []).append(one.title)
    return [(", ".join(titles), why) for why, titles in found.items()]
