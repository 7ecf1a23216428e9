"""What may follow a command, for completion."""

import time
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Any

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.kinds import Conversation
from hermes_core.types import Choice, ModelRow, Session
from hermes_tool_commands.table import EFFORTS

__all__ = ["options_of"]

_FIXED = {
    "reasoning": (*EFFORTS, "show", "hide"),
    "permission": ("ask", "smart", "off", "grants", "forget"),
    "busy": ("queue", "steer", "interrupt"),
    "queue": ("clear",),
}
_FRESH = 300.0  # seconds for which a provider's models are not asked for again


async def options_of(ctx: PluginContext, name: str, session: Session, rest: str) -> Sequence[Choice]:
    """Those that fit what was typed so far."""
    if name in _FIXED:
        return _fitting(((one, "") for one in _FIXED[name]), rest)
    if name == "resume":
        rows = await ctx.sessions.rows(session.owner, limit=30)
        return _fitting(((r.session.title or r.session.id, r.preview[:60]) for r in rows), rest)
    if name == "config":
        return await _settings(ctx, rest)
    try:
        here = ctx.conversation(session)
    except UserError:  # menus of services ask outside of a conversation
        return ()
    if name == "help":
        return _fitting(((one.name, one.summary) for one in here.commands().values()), rest)
    if name == "tools":
        return await _tools(here, rest)
    return await _models(ctx, here, rest)


def _fitting(pairs: Iterable[tuple[str, str]], rest: str, before: str = "") -> list[Choice]:
    """Those that begin so, then those that hold it; each stands for all that was typed behind the command."""
    wanted, found = rest.casefold(), list(pairs)
    first = [pair for pair in found if pair[0].casefold().startswith(wanted)]
    held = [pair for pair in found if wanted in pair[0].casefold() and pair not in first]
    return [Choice(before + text, summary, len(before + rest)) for text, summary in (*first, *held)]


async def _settings(ctx: PluginContext, rest: str) -> Sequence[Choice]:
    key, space, value = rest.partition(" ")
    rows = await ctx.settings.list()
    if not space:
        return _fitting(((row.key, row.help) for row in rows), key)
    row = next((row for row in rows if row.key == key), None)
    schema = row.schema if row else {}
    given: Any = schema.get("enum") or ()
    words = ("true", "false") if schema.get("type") == "boolean" else [str(one) for one in given]
    return _fitting(((word, "") for word in words), value, f"{key} ")


async def _tools(here: Conversation, rest: str) -> Sequence[Choice]:
    verb, space, _ = rest.partition(" ")
    if not space:
        return _fitting((("enable", "offer it here again"), ("disable", "offer it here no more")), verb)
    rows = await here.tools()
    earlier, _, name = rest.rpartition(" ")
    names = [row.name for row in rows if (row.off if verb == "enable" else row.toolset and not row.off)]
    return _fitting(((one, "") for one in names), name, f"{earlier} ")


async def _models(ctx: PluginContext, here: Conversation, rest: str) -> Sequence[Choice]:
    """The models of the provider that answers, and the providers; asked now and then, not at every key."""
    provider = rest.partition(":")[0] if ":" in rest else (await here.model.current())[0]
    known: dict[str, tuple[float, Sequence[ModelRow]]] = ctx.state.setdefault("models", {})
    if provider not in known or time.monotonic() - known[provider][0] > _FRESH:
        known[provider] = (time.monotonic(), await ctx.models.list(provider))
    named = [
        (f"{provider}:{row.model.name}" if ":" in rest else row.model.name, provider) for row in known[provider][1]
    ]
    others = [] if ":" in rest else [(f"{one.name}:", one.kind) for one in await ctx.models.providers() if one.ready]
    may = here.rights().models
    if may is not None:
        full = [(f"{provider}:{row.model.name}", provider) for row in known[provider][1]]
        return _fitting([pair for pair in full if any(fnmatchcase(pair[0], one) for one in may)], rest)
    return _fitting([*named, *others], rest)
