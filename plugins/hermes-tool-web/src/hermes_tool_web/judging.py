"""What a call of the web's tools does to the world, in a conversation that holds text from outside.

There every address that a model opens asks a person, as a page may have told it to carry something away in it. Two
kinds of call carry nothing to whoever wrote the page: a search goes to the services of the person's choice, never to
one that the model names; and an address that a search of this conversation gave was made by no model.
"""

from hermes_core.context import PluginContext
from hermes_core.types import Session, ToolCall, Verdict
from hermes_tool_web.sources import was_found

__all__ = ["judged"]

_HARMLESS = Verdict(outcome="allow", effects=frozenset())


async def judged(ctx: PluginContext, session: Session, call: ToolCall) -> Verdict | None:
    """Return the verdict on a search, or on reading what one found; None leaves the call to the policy."""
    if call.name == "web_search":
        return _HARMLESS
    url, crawls = call.arguments.get("url"), call.arguments.get("crawl")
    if not isinstance(url, str) or crawls:
        return None
    return _HARMLESS if await was_found(ctx, session, url.split()) else None
