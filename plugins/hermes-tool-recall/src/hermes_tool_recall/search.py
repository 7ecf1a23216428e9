"""Finding what was said: hits grouped by conversation, the likeliest first, each with a few messages around it."""

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from attrs import evolve

from hermes_core.types import Hit, Session
from hermes_tool_recall.lines import clip, day, dialogue, page
from hermes_tool_recall.views import pick
from hermes_tool_recall.watched import Watched

__all__ = ["Sort", "discover"]

Sort = Literal["best", "newest", "oldest"]
_HITS = 30  # of the first page; of the later ones, and where most is left out, so many times more
_MORE, _MOST = 8, 2_000
_SHOWN = 3  # hits shown of one conversation
_TURN = 60  # messages at the end among which the running turn begins
_LAST = ("cron", "schedule")  # origins that come after what people said
_MARKED = re.compile(">>>(.*?)<<<", re.DOTALL)


async def discover(
    sessions: Watched,
    current: Session,
    query: str,
    *,
    limit: int,
    window: int,
    sort: Sort,
    within: str = "",
    number: int = 1,
) -> str:
    """What was said about something, page ``number`` of ``limit`` conversations each; in one only when it is named.

    What the running turn says is left out, and what recall itself asked and answered.
    """
    only = (await pick(sessions, current, within)).id if within.strip() else ""
    search = _Search(sessions, current, query, only, sort)
    groups, whole = await search.groups(number * limit)
    shown = groups[(number - 1) * limit : number * limit]
    if not shown:
        return _nothing(query, number, len(groups))
    count = f"{'' if whole else 'At least '}{len(groups)} conversation{'s' if len(groups) > 1 else ''}"
    pages = f" of {-(-len(groups) // limit)}" if whole else ""
    more = f", {sort} first, page {number}{pages}" if len(groups) > limit else ""
    lines = [f"{count} found for {clip(query, 80)!r}{more}."]
    for group in shown:
        lines.extend(await _shown(sessions, current, group, window))
    lines.append("More of one: session=ID around=NUMBER.")
    if len(groups) > number * limit:
        lines[-1] += f" More conversations: page={number + 1}."
    return page(lines)


class _Search:
    """One look for something: ``only`` in one conversation where that is not empty."""

    def __init__(self, sessions: Watched, current: Session, query: str, only: str, sort: Sort) -> None:
        self._sessions, self._current, self._query, self._only, self._sort = sessions, current, query, only, sort
        self._turn: int | None = None  # the number of the message with which the running turn begins

    async def groups(self, wanted: int) -> tuple[list[list[Hit]], bool]:
        """Return so many conversations, or all there are, each with its hits; and whether these are all."""
        limit = _HITS
        while True:
            found, whole = await self._sessions.search(
                self._current.owner,
                self._query,
                limit=limit,
                sort=self._sort,
                children=bool(self._only),  # whoever names a hidden one wants it
                session_id=self._only,
            )
            groups = _grouped([hit for hit in found if not _by_recall(hit) and not await self._is_now(hit)])
            if whole or len(groups) > wanted or limit >= _MOST:
                return groups, whole
            limit = min(limit * _MORE, _MOST)

    async def _is_now(self, hit: Hit) -> bool:
        if hit.session_id != self._current.id:
            return False
        if self._turn is None:
            rows = await self._sessions.peek(self._current.owner, self._current.id, window=_TURN)
            said = [at for at, message in rows if message.role == "user" and not message.meta.get("hermes")]
            self._turn = said[-1] if said else rows[0][0] if rows else 0
        return hit.message_id >= self._turn


def _by_recall(hit: Hit) -> bool:
    """Tell whether recall asked or answered that."""
    return bool(hit.tools) and set(hit.tools) == {"recall"}


def _plain(hit: Hit) -> str:
    """What was found, without marks: beside them, words like ``token`` look like the names of secrets."""
    return _MARKED.sub(r"\1", hit.snippet)


def _grouped(hits: Iterable[Hit]) -> list[list[Hit]]:
    """Hits by conversation, in the order they came; what machines said to themselves comes last."""
    groups: dict[str, list[Hit]] = {}
    for hit in hits:
        groups.setdefault(hit.session_id, []).append(hit)
    return sorted(groups.values(), key=lambda group: group[0].origin in _LAST)


async def _shown(sessions: Watched, current: Session, group: Sequence[Hit], window: int) -> list[str]:
    first = group[0]
    more = f" · {len(group)} hits" if len(group) > 1 else ""
    here = " · this conversation" if first.session_id == current.id else ""
    about = f"{first.title or 'untitled'} · {day(first.created)} · {first.origin}"
    lines = ["", f"[{first.session_id}] {about}{here}{more}"]
    shown = [evolve(hit, snippet=_plain(hit)) for hit in sessions.show(group[:_SHOWN])]
    lines.extend(f"  #{hit.message_id} {hit.role}: {clip(hit.snippet, 300)}" for hit in shown)
    around = await sessions.read(current.owner, first.session_id, around=first.message_id, window=min(window, 5))
    if len(around) > 1:
        lines.append(f"  around #{first.message_id}:")
        lines.extend(f"  {line}" for line in dialogue(around, around=first.message_id, width=240))
    return lines


def _nothing(query: str, number: int, there: int) -> str:
    if there:
        return f"There is no page {number} of what was found for {clip(query, 80)!r}."
    return (
        f"Nothing was found for {clip(query, 80)!r} in past conversations. "
        "Try other or fewer words, or call recall without arguments to list recent ones."
    )
