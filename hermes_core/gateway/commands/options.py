"""What may follow a slash command, for completion."""

import time
from collections.abc import Iterable, Sequence

from hermes_core.config.schema import EFFORTS
from hermes_core.gateway.commands.deck import Deck
from hermes_core.types import Choice, ModelRow, Session

__all__ = ["options_of"]

_FIXED = {
    "reasoning": (*EFFORTS, "show", "hide"),
    "permission": ("ask", "smart", "off", "grants", "forget"),
    "busy": ("queue", "steer", "interrupt"),
    "queue": ("clear",),
    "quit": ("--delete",),
}
_FRESH = 300.0  # seconds for which a provider's models are not asked for again
_MODELS: dict[tuple[str, str], tuple[float, Sequence[ModelRow]]] = {}  # by home and provider


async def options_of(deck: Deck, name: str, session: Session, rest: str) -> Sequence[Choice]:
    """Those that fit what was typed so far."""
    if name in _FIXED:
        return _fitting(((one, "") for one in _FIXED[name]), rest)
    if name == "help":
        return _fitting(((one.name, one.summary) for one in deck.table.values()), rest)
    if name == "resume":
        rows = await (await deck.runtime.store()).list_sessions(session.owner, limit=30)
        return _fitting(((r.session.title or r.session.id, r.preview[:60]) for r in rows), rest)
    if name == "config":
        return await _settings(deck, rest)
    if name == "tools":
        return _tools(deck, session, rest)
    return await _models(deck, rest)


def _fitting(pairs: Iterable[tuple[str, str]], rest: str, before: str = "") -> list[Choice]:
    """Those that begin so, then those that hold it; each stands for all that was typed behind the command."""
    wanted, found = rest.casefold(), list(pairs)
    first = [pair for pair in found if pair[0].casefold().startswith(wanted)]
    held = [pair for pair in found if wanted in pair[0].casefold() and pair not in first]
    return [Choice(before + text, summary, len(before + rest)) for text, summary in (*first, *held)]


async def _settings(deck: Deck, rest: str) -> Sequence[Choice]:
    from hermes_core.agent.settings import HomeSettings

    key, space, value = rest.partition(" ")
    rows = await HomeSettings(deck.runtime, lambda: None).list()
    if not space:
        return _fitting(((row.key, row.help) for row in rows), key)
    row = next((row for row in rows if row.key == key), None)
    schema = row.schema if row else {}
    words = ("true", "false") if schema.get("type") == "boolean" else [str(one) for one in schema.get("enum") or ()]
    return _fitting(((word, "") for word in words), value, f"{key} ")


def _tools(deck: Deck, session: Session, rest: str) -> Sequence[Choice]:
    verb, space, _ = rest.partition(" ")
    if not space:
        return _fitting((("enable", "offer it here again"), ("disable", "offer it here no more")), verb)
    off = set(deck.runtime.settings.config.agent.disabled_on.get(session.origin, ()))
    earlier, _, name = rest.rpartition(" ")
    names = sorted(off) if verb == "enable" else [n for n in deck.runtime.toolbox().names if n not in off]
    return _fitting(((one, "") for one in names), name, f"{earlier} ")


async def _models(deck: Deck, rest: str) -> Sequence[Choice]:
    """The models of the provider that answers, and the providers; asked now and then, not at every key."""
    from hermes_core.agent.route.catalogue import model_rows, provider_rows

    route = await deck.runtime.routed()
    provider = rest.partition(":")[0] if ":" in rest else route.name
    slot = (str(deck.runtime.home.root), provider)
    if slot not in _MODELS or time.monotonic() - _MODELS[slot][0] > _FRESH:
        _MODELS[slot] = (time.monotonic(), await model_rows(deck.runtime, provider))
    named = [(f"{provider}:{row.model.name}" if ":" in rest else row.model.name, provider) for row in _MODELS[slot][1]]
    others = [] if ":" in rest else [(f"{r.name}:", r.kind) for r in await provider_rows(deck.runtime) if r.ready]
    return _fitting([*named, *others], rest)
