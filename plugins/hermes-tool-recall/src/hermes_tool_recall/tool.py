"""The tool ``recall``: one tool, four modes, chosen by which arguments are given."""

from typing import TYPE_CHECKING, Literal

from attrs import field

from hermes_core.kinds import Tool, ToolContext, tool
from hermes_core.types import Effect, Session
from hermes_core.values import frozen

if TYPE_CHECKING:
    from hermes_core.control import SessionsBroker
    from hermes_tool_recall.watched import Watched


_LAST = 2**53  # no message has a number beyond, and no store takes one


@frozen(kw_only=True)
class Recall:
    """What to look for. No argument at all lists the recent sessions."""

    query: str = ""
    limit: int = field(default=3, metadata={"told": None})
    session: str = field(default="", metadata={"help": "id, title, latest or this"})
    around: int = field(default=0, metadata={"help": "message number"})
    window: int = field(default=5, metadata={"told": None})  # who scrolls need not say how far
    sort: Literal["best", "newest", "oldest"] = "best"
    page: int = field(default=1, metadata={"told": None})  # a result that has more says so


def recall_tool(sessions: "SessionsBroker") -> Tool:
    """The tool over the past conversations of whoever asks."""

    @tool(name="recall", toolset="recall", effects=[Effect.RECALL], idempotent=True, touches=lambda _: ())
    async def run(context: ToolContext, wanted: Recall) -> str:
        """Past conversations: query searches, session reads one, around scrolls, nothing lists recent."""
        from hermes_tool_recall.watched import Watched

        history = Watched(sessions, context.session)
        try:
            return await _look(history, context.session, wanted)
        finally:
            if history.untrusted:
                context.from_outside()

    return run


async def _look(history: "Watched", current: Session, wanted: Recall) -> str:
    from hermes_tool_recall.search import discover
    from hermes_tool_recall.views import browse, scroll

    number = max(wanted.page, 1)
    limit, window = min(max(wanted.limit, 1), 10), min(max(wanted.window, 1), 20)
    if wanted.query.strip():
        return await discover(
            history,
            current,
            wanted.query,
            limit=limit,
            window=window,
            sort=wanted.sort,
            within=wanted.session,
            number=number,
        )
    if wanted.session.strip() or wanted.around > 0:
        return await scroll(
            history, current, wanted.session, around=min(wanted.around, _LAST), window=window, number=number
        )
    return await browse(history, current, limit=max(limit, 5))
