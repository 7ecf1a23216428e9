"""The sources of a conversation: each address it searched out or read has one number, as long as it lasts."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.types import JSON, Session, SlashCommand

__all__ = ["known_here", "numbered", "sources_command", "was_found"]

_NAME = "sources"
MOST = 300  # of a conversation
_URL, _TITLE = 2_000, 200  # characters that are kept


async def numbered(
    ctx: PluginContext, session: Session, pages: Sequence[tuple[str, str]], *, found: bool = False
) -> list[int]:
    """Return the numbers of pages, by address and title; a page keeps the one it has. 0: there are too many.

    ``found`` says that a search service named these addresses; others were read, for the answer of this turn.
    """
    numbers: list[int] = []

    def edit(value: JSON) -> JSON:
        known = _rows(value)
        numbers.clear()
        at = {row[0]: place for place, row in enumerate(known)}
        for url, title in pages:
            place = at.get(url)
            if place is None and len(known) < MOST and len(url) <= _URL:
                place = at[url] = len(known)
                known.append([url, title[:_TITLE], found])
            elif place is not None:
                known[place] = [url, known[place][1] or title[:_TITLE], known[place][2] or found]
            numbers.append(0 if place is None else place + 1)
        read = [] if found else [number for number in numbers if number]
        before = _read(value, session.turn)
        return {"list": list(known), "turn": session.turn, "read": [*before, *(n for n in read if n not in before)]}

    try:
        await ctx.documents.change(_NAME, edit, owner=session.owner, session_id=session.id)
    except HermesError as error:  # the answer counts more than its numbers
        ctx.log.warning("the sources of a conversation were not kept: %s", error)
        return [0] * len(pages)
    return numbers


async def known_here(ctx: PluginContext, session: Session) -> tuple[list[tuple[str, str]], list[int]]:
    """Return the addresses and titles of a conversation, by number, and the numbers of what this turn read."""
    document = await ctx.documents.get(_NAME, owner=session.owner, session_id=session.id)
    value = document.value if document else None
    return [(str(row[0]), str(row[1])) for row in _rows(value)], _read(value, session.turn)


async def was_found(ctx: PluginContext, session: Session, urls: Sequence[str]) -> bool:
    """Tell whether a search of this conversation named each of these addresses, letter by letter."""
    document = await ctx.documents.get(_NAME, owner=session.owner, session_id=session.id)
    named = {row[0] for row in _rows(document.value if document else None) if row[2]}
    return bool(urls) and named.issuperset(urls)


def sources_command(ctx: PluginContext) -> SlashCommand:
    """``/sources``: the sources of this conversation, by their numbers."""

    async def run(session: Session, rest: str) -> str:
        document = await ctx.documents.get(_NAME, owner=session.owner, session_id=session.id)
        rows = _rows(document.value if document else None)
        if not rows:
            return "Nothing was searched or read on the web in this conversation."
        return "\n".join(f"[{n}] {title} {url}".replace("  ", " ") for n, (url, title, _) in enumerate(rows, 1))

    return SlashCommand(name="sources", run=run)


def _read(value: JSON, turn: str) -> list[int]:
    """What a turn read, as it was written down; a turn that is taken up after a death goes on with it."""
    read = value.get("read") if isinstance(value, dict) and turn and value.get("turn") == turn else None
    return [number for number in read if isinstance(number, int)] if isinstance(read, list) else []


def _rows(value: JSON) -> list[list[JSON]]:
    rows = value.get("list") if isinstance(value, dict) else None
    return [list(row) for row in rows if isinstance(row, list) and len(row) == 3] if isinstance(rows, list) else []
