"""Finding what was said: hits grouped by conversation, each with a few messages around it."""

from collections.abc import Sequence
from typing import Literal

from hermes_core.types import Hit, Principal, Session
from hermes_tool_recall.lines import clip, day, dialogue, page
from hermes_tool_recall.views import pick
from hermes_tool_recall.watched import Watched

Sort = Literal["newest", "oldest"]
_ROWS = 300  # hits looked at before grouping
_WORDS = 6  # words tried one by one when no message holds all of them
_SHOWN = 3  # hits shown of one conversation
_LAST = ("cron", "schedule")  # origins that come after what people said


async def discover(
    sessions: Watched, current: Session, query: str, *, limit: int, window: int, sort: Sort, within: str = ""
) -> str:
    """What was said about something, in at most ``limit`` conversations; in one only when it is named."""
    only = (await pick(sessions, current, within)).id if within.strip() else ""
    hits, note = await _hits(sessions, current.owner, query, sort, hidden=bool(only))  # whoever names it wants it
    groups = _grouped([h for h in hits if h.session_id == only] if only else hits)
    here = groups.pop(current.id, []) if current.id != only else []
    if not groups:
        return _nothing(query, here, current.id)
    found = f"{len(groups)} conversation{'s' if len(groups) > 1 else ''}"
    shown = "" if len(groups) <= limit else f", {sort} {limit} shown"
    lines = [f"{found} found for {clip(query, 80)!r}{shown}.{note}"]
    for group in list(groups.values())[:limit]:
        lines.extend(await _shown(sessions, current.owner, group, window))
    lines.append("More of one: session=ID around=NUMBER.")
    return page(lines)


async def _hits(
    sessions: Watched, owner: Principal, query: str, sort: Sort, *, hidden: bool
) -> tuple[Sequence[Hit], str]:
    """Messages that hold all the words; when there are none, those that hold the most of them."""
    hits = await sessions.search(owner, query, limit=_ROWS, sort=sort, children=hidden)
    words = list(dict.fromkeys(query.replace('"', " ").split()))[:_WORDS]
    if hits or len(words) < 2:
        return hits, ""
    counts: dict[int, int] = {}
    known: dict[int, Hit] = {}
    for word in words:
        for hit in await sessions.search(owner, word, limit=_ROWS // _WORDS, sort=sort, children=hidden):
            counts[hit.message_id] = counts.get(hit.message_id, 0) + 1
            known.setdefault(hit.message_id, hit)
    ranked = sorted(known.values(), key=lambda hit: -counts[hit.message_id])
    return ranked, " No message holds all the words; these hold some."


def _grouped(hits: Sequence[Hit]) -> dict[str, list[Hit]]:
    """Hits by conversation in the order they came; what machines said to themselves comes last."""
    people = [h for h in hits if h.origin not in _LAST]
    groups: dict[str, list[Hit]] = {}
    for hit in (*people, *(h for h in hits if h.origin in _LAST)):
        groups.setdefault(hit.session_id, []).append(hit)
    return groups


async def _shown(sessions: Watched, owner: Principal, group: Sequence[Hit], window: int) -> list[str]:
    first = group[0]
    more = f" · {len(group)} hits" if len(group) > 1 else ""
    lines = ["", f"[{first.session_id}] {first.title or 'untitled'} · {day(first.created)} · {first.origin}{more}"]
    lines.extend(f"  #{hit.message_id} {hit.role}: {clip(hit.snippet, 300)}" for hit in sessions.show(group[:_SHOWN]))
    around = await sessions.read(owner, first.session_id, around=first.message_id, window=min(window, 5))
    if len(around) > 1:
        lines.append(f"  around #{first.message_id}:")
        lines.extend(f"  {line}" for line in dialogue(around, around=first.message_id, width=240))
    return lines


def _nothing(query: str, here: Sequence[Hit], current: str) -> str:
    wanted = clip(query, 80)
    if here:
        count = f"{len(here)} message{'s' if len(here) > 1 else ''}"
        return f"Only this conversation mentions {wanted!r} ({count}); read them with session={current}."
    return (
        f"Nothing was found for {wanted!r} in past conversations. "
        "Try other or fewer words, or call recall without arguments to list recent ones."
    )
