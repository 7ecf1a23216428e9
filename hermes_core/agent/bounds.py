"""What a turn may do at most, and how one that works for another is given no more than that one has."""

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from math import inf
from typing import Any

from attrs import asdict, evolve

from hermes_core.errors import UserError
from hermes_core.kinds import Tool
from hermes_core.types import Effect, Limits, Session, TurnBounds

__all__ = ["CHILD", "LEVELS", "answers", "hosts_of", "levels_below", "limits_of", "narrowed", "permits", "reaches"]

CHILD = "child"  # the origin of a session that works for another one
LEVELS = 3  # of turns that work for others, whatever is asked for
_MODES = ("ask", "smart", "off")  # strictest first


def permits(bounds: TurnBounds | None, tool: Tool) -> bool:
    """Tell whether a turn with these bounds may use a tool."""
    if bounds is None:
        return True
    names = {tool.name, tool.toolset, f"{tool.toolset}/{tool.name}"}
    named = bounds.tools is None or not names.isdisjoint(bounds.tools)
    below = bounds.levels != 0 or Effect.DELEGATE not in tool.effects
    return named and below and names.isdisjoint(bounds.without) and tool.effects.isdisjoint(bounds.never)


def reaches(bounds: TurnBounds | None, keys: Iterable[str] | None) -> bool:
    """Tell whether all hosts that a call touches are within these bounds; nobody knows of one that does not say."""
    if bounds is None or bounds.hosts is None:
        return True
    hosts = None if keys is None else [key[5:].lower() for key in keys if key.startswith("host:")]
    return hosts is not None and all(any(fnmatchcase(host, p.lower()) for p in bounds.hosts) for host in hosts)


def hosts_of(session: Session) -> Sequence[str] | None:
    """Return patterns of the only hosts that calls of a turn may reach, None where nobody says which."""
    role = session.rights.bounds if session.rights else None
    own, most = (bounds.hosts if bounds else None for bounds in (session.bounds, role))
    if own is None or most is None:
        return most if own is None else own
    return [one for one in own if any(fnmatchcase(one, pattern) for pattern in most)]


def answers(models: Sequence[str] | None, provider: str, model: str) -> bool:
    """Tell whether a model may answer whom only these may; None: all."""
    return models is None or any(fnmatchcase(f"{provider}:{model}", pattern) for pattern in models)


def limits_of(bounds: TurnBounds | None) -> Limits:
    """Return what a turn with these bounds may use."""
    if bounds is None:
        return Limits()
    amounts = {name: getattr(bounds, name) for name in asdict(Limits())}
    return Limits(**{name: most or inf for name, most in amounts.items()})


def levels_below(bounds: TurnBounds | None) -> int:
    """Say how many levels of turns may work for a turn with these bounds."""
    return LEVELS if bounds is None or bounds.levels is None else max(0, min(bounds.levels, LEVELS))


def narrowed(asked: TurnBounds, own: TurnBounds | None, tools: Iterable[Tool], left: Limits) -> TurnBounds:
    """Return the bounds of a turn that works for another: what is ``asked``, as far as that other one's reach.

    ``own`` are the other one's bounds, ``tools`` those it can use, ``left`` what it may still use. Raises UserError
    when nothing is left, and when none may work for it.
    """
    if left.exhausted:
        raise UserError(f"No {left.exhausted} is left for it.")
    own, most = own or TurnBounds(), levels_below(own) - 1
    if most < 0:
        raise UserError("No turn may work for this one.")
    asked = evolve(asked, levels=max(0, most if asked.levels is None else min(asked.levels, most)))
    limits = limits_of(asked).within(left)
    amounts: dict[str, Any] = {name: 0 if amount == inf else amount for name, amount in asdict(limits).items()}
    return evolve(
        evolve(asked, **amounts),
        tools=tuple(sorted(f"{tool.toolset}/{tool.name}" for tool in tools if permits(asked, tool))),
        mode=min(filter(None, (asked.mode, own.mode)), key=_MODES.index, default=""),
        deny=(*own.deny, *asked.deny),
        hosts=asked.hosts if own.hosts is None else own.hosts,
        grants=tuple(rule for rule in asked.grants if rule in own.grants),
    )
