"""Finding what was said: hits grouped by conversation, the likeliest first, each with a few messages around it."""

import re
from bisect import insort_left
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Literal

from attrs import evolve

from hermes_core.types import Hit, Message, Session, ToolCall, ToolResult
from hermes_tool_recall.lines import clip, day, dialogue, page
from hermes_tool_recall.views import pick
from hermes_tool_recall.watched import Watched

__all__ = ["Sort", "discover"]

Sort = Literal["best", "newest", "oldest"]
_ROWS = 1_000  # hits looked at before grouping
_WORDS = 6  # words tried together with others when no message holds all of them, the longest first
_SEARCHES = 24  # with fewer and fewer of them
_SHORT = 3  # characters of words that say little
_SHOWN = 3  # hits shown of one conversation
_LOOKED_AT = 200  # messages looked at for whether recall itself said them
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
    hits, note = await search.hits()
    groups = await search.genuine(_grouped(sorted(hits, key=search.worth)), number * limit)
    shown = groups[(number - 1) * limit : number * limit]
    if not shown:
        return _nothing(query, number, len(groups))
    count = f"{len(groups)} conversation{'s' if len(groups) > 1 else ''} found for {clip(query, 80)!r}"
    more = f", {sort} first, page {number} of {-(-len(groups) // limit)}" if len(groups) > limit else ""
    lines = [f"{count}{more}.{note}"]
    for group in shown:
        lines.extend(await _shown(sessions, current, group, window))
    lines.append("More of one: session=ID around=NUMBER.")
    if len(groups) > number * limit:
        lines[-1] += f" More conversations: page={number + 1}."
    return page(lines)


class _Search:
    """One look for something: ``only`` in one conversation where that is not empty."""

    def __init__(self, sessions: Watched, current: Session, query: str, only: str, sort: Sort) -> None:
        self._sessions, self._current, self._only, self._query = sessions, current, only, query
        self._best = sort == "best"
        self._sort: Literal["newest", "oldest"] = "oldest" if sort == "oldest" else "newest"
        self._turn: int | None = None  # the number of the message with which the running turn begins

    async def hits(self) -> tuple[Sequence[Hit], str]:
        """Messages that hold all the words; when there are none, those that hold the most of them."""
        if found := await self._search(self._query):
            return found, ""
        words = list(dict.fromkeys(re.findall(r"\w[\w.:/@-]*", self._query)))
        telling = [
            word for word in words if len(word) > _SHORT or not (word.isascii() and word.isalpha() and word.islower())
        ]
        telling = sorted(telling or words, key=len, reverse=True)[:_WORDS]
        left = _SEARCHES
        for many in range(len(telling), 0, -1):
            known: dict[tuple[str, int], Hit] = {}
            for some in list(combinations(telling, many))[:left]:
                left -= 1
                for hit in await self._search(" ".join(some)):
                    known.setdefault((hit.session_id, hit.message_id), hit)
            if known:
                return list(known.values()), " No message holds all the words; these hold some."
        return (), ""

    async def _search(self, words: str) -> list[Hit]:
        owner, hidden = self._current.owner, bool(self._only)  # whoever names a hidden one wants it
        found = await self._sessions.search(owner, words, limit=_ROWS, sort=self._sort, children=hidden)
        return [hit for hit in found if self._only in ("", hit.session_id) and not await self._is_now(hit)]

    async def _is_now(self, hit: Hit) -> bool:
        if hit.session_id != self._current.id:
            return False
        if self._turn is None:
            rows = await self._sessions.peek(self._current.owner, self._current.id, window=_TURN)
            said = [at for at, message in rows if message.role == "user" and not message.meta.get("hermes")]
            self._turn = said[-1] if said else rows[0][0] if rows else 0
        return hit.message_id >= self._turn

    def worth(self, hit: Hit) -> tuple[bool, int]:
        """Where a hit comes among the others, the smallest first; what machines said to themselves comes last."""
        return hit.origin in _LAST, -_likeness(hit, self._query) if self._best else 0

    async def genuine(self, groups: Iterable[list[Hit]], wanted: int) -> list[list[Hit]]:
        """The groups without what recall said; only as many are looked at as are ``wanted``, the rest are taken so."""
        made, left, looks = list[list[Hit]](), list(groups), 0
        while left and len(made) < wanted and looks < _LOOKED_AT:
            first, *others = left.pop(0)
            looks += 1
            if not await self._is_ours(first):
                kept = [hit for hit in others[: _SHOWN - 1] if not await self._is_ours(hit)]
                made.append([first, *kept, *others[_SHOWN - 1 :]])
            elif others:  # its next best hit may be worth less
                insort_left(left, others, key=lambda group: self.worth(group[0]))
        return [*made, *left]

    async def _is_ours(self, hit: Hit) -> bool:
        if hit.role not in ("assistant", "tool"):
            return False
        rows = await self._sessions.peek(self._current.owner, hit.session_id, around=hit.message_id, window=1)
        return any(_by_recall(message) for at, message in rows if at == hit.message_id)


def _by_recall(message: Message) -> bool:
    parts = [part for part in message.parts if isinstance(part, ToolCall | ToolResult)]
    return bool(parts) and all(part.name == "recall" for part in parts)


def _likeness(hit: Hit, query: str) -> int:
    """How likely it is what was meant: many of the words near each other, said by somebody, and no question."""
    found = {word.casefold() for word in _MARKED.findall(hit.snippet)}
    plain = _plain(hit).casefold()
    asks = hit.role == "user" and plain.rstrip().endswith(("?", "\uff1f"))
    return 2 * len(found) + 2 * (query.replace('"', "").casefold() in plain) - (hit.role == "tool") - 2 * asks


def _plain(hit: Hit) -> str:
    """What was found, without marks: beside them, words like ``token`` look like the names of secrets."""
    return _MARKED.sub(r"\1", hit.snippet)


def _grouped(hits: Iterable[Hit]) -> list[list[Hit]]:
    """Hits by conversation, in the order they came."""
    groups: dict[str, list[Hit]] = {}
    for hit in hits:
        groups.setdefault(hit.session_id, []).append(hit)
    return list(groups.values())


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
