"""Choosing what a model is told of: everything, or the core and three tools that lead to the rest."""

import json
from collections import Counter
from collections.abc import Sequence

from attrs import evolve

from hermes_core.types import Offer, ToolSpec
from hermes_tool_search.config import Config

__all__ = ["CALL", "DESCRIBE", "SEARCH", "by_search"]

SEARCH, DESCRIBE, CALL = "tool_search", "tool_describe", "tool_call"
WINDOW = 128_000  # tokens of a model that nobody knows more of
_ROOM = 240  # characters of names of sets: with all three tools, a thousand bytes of a request
_SHARE = 10  # schemas may take this part of the window
_CHARACTERS = 4  # of a token, as a rule of thumb


def by_search(offer: Offer, config: Config) -> Offer:
    """The offer with the core and the search, or without the search. A conversation keeps what it began with."""
    rest = [s for s in offer.tools if s.name not in (SEARCH, DESCRIBE, CALL)]
    core = {s.name for s in rest if offer.toolsets.get(s.name) in config.core_toolsets}
    behind = [s for s in rest if s.name not in core and s not in offer.sent]
    sent = {s.name for s in offer.sent}
    if sent:
        search = SEARCH in sent
    else:
        search = config.tool_search == "on" or (config.tool_search == "auto" and _long(behind, offer.context))
    if not search or not (behind or sent):
        alone = dict.fromkeys((SEARCH, DESCRIBE), "every tool is told of as it is, so nothing is searched for")
        return evolve(offer, tools=tuple(s for s in offer.tools if s.name not in alone or s.name in sent), why=alone)
    hidden = {s.name for s in behind}
    why = dict.fromkeys(hidden, f"found by {SEARCH}, as it is in none of agent.core_toolsets")
    if sent:
        return evolve(offer, tools=tuple(s for s in offer.tools if s.name not in hidden), why=why)
    there = {s.name: s for s in (*offer.tools, *offer.behind)}
    found = _with_sets(there[SEARCH], offer, hidden)
    tools = (*(s for s in rest if s.name in core), found, there[DESCRIBE], _call(there[CALL]))
    return evolve(offer, tools=tools, why=why)


def _long(specs: Sequence[ToolSpec], window: int) -> bool:
    """Whether schemas are so long that a search is better."""
    size = sum(len(json.dumps([s.name, s.description, s.schema])) for s in specs)
    return size * _SHARE > (window or WINDOW) * _CHARACTERS


def _with_sets(spec: ToolSpec, offer: Offer, hidden: set[str]) -> ToolSpec:
    """The search with the sets that are found by it, the largest first, as far as there is room for their names."""
    counts = Counter(offer.toolsets.get(name, "other") for name in hidden)
    named, room = list[str](), _ROOM
    for name, count in sorted(counts.items(), key=lambda one: (-one[1], one[0])):
        named.append(f"{name} ({count})")
        room -= len(named[-1]) + 2
        if room < 0:
            named[-1] = f"{len(counts) - len(named) + 1} more"
            break
    return evolve(spec, description=f"{spec.description} Toolsets: {', '.join(named)}.")


def _call(spec: ToolSpec) -> ToolSpec:
    return evolve(spec, description="Call a tool that tool_search found, with the arguments that tool_describe shows.")
