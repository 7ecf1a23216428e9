"""Which changes of states a rule is for. What an entity says while it cannot be reached is no change.

A lamp that was on, lost its radio and is on again did not go on: such states are passed over, unless a rule names them.
"""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase

from hermes_core.values import frozen
from hermes_tool_homeassistant.config import RuleSettings

__all__ = ["GONE", "Change", "fits", "hits", "watched"]

GONE = ("unavailable", "unknown")


@frozen
class Change:
    """An entity that became something: its state before, as far as it is known, and now; ``when`` as it was told."""

    entity: str
    before: str
    after: str
    when: str
    name: str = ""


def watched(rules: Mapping[str, RuleSettings], entity: str) -> bool:
    """Whether any rule is for an entity."""
    return any(_named(rule, entity) for rule in rules.values())


def hits(rules: Mapping[str, RuleSettings], change: Change) -> Iterator[str]:
    """The names of the rules that a change is for."""
    return (name for name, rule in rules.items() if fits(rule, change))


def fits(rule: RuleSettings, change: Change) -> bool:
    """Whether a rule is for a change."""
    if change.before == change.after or not _named(rule, change.entity):
        return False
    if change.after in GONE and rule.to != change.after:
        return False
    if rule.to not in (None, change.after) or rule.was not in (None, change.before):
        return False
    return _crossed(rule.above, change, 1) and _crossed(rule.below, change, -1)


def _crossed(bound: float | None, change: Change, sign: int) -> bool:
    if bound is None:
        return True
    after, before = _number(change.after), _number(change.before)
    return (
        after is not None and sign * after > sign * bound and not (before is not None and sign * before > sign * bound)
    )


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _named(rule: RuleSettings, entity: str) -> bool:
    return any(fnmatchcase(entity, pattern) for pattern in rule.entities)
