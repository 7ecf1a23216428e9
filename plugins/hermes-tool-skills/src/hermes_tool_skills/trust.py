"""What is done with a verdict, by where a skill comes from."""

from collections.abc import Iterable
from typing import Literal, TypeAlias

Trust: TypeAlias = Literal["builtin", "trusted", "community", "agent"]
Decision: TypeAlias = Literal["allow", "ask", "block"]

TABLE: dict[Trust, dict[str, Decision]] = {
    "builtin": {"safe": "allow", "caution": "allow", "dangerous": "allow"},
    "trusted": {"safe": "allow", "caution": "allow", "dangerous": "block"},
    "community": {"safe": "allow", "caution": "block", "dangerous": "block"},
    "agent": {"safe": "allow", "caution": "allow", "dangerous": "ask"},
}


def decide(trust: Trust, verdict: str, *, force: bool = False) -> Decision:
    """What the table says. ``force`` lifts a block, but never that of a dangerous verdict."""
    decision = TABLE[trust][verdict]
    if decision == "block" and force and verdict != "dangerous":
        return "allow"
    return decision


def trust_of(source: str, trusted: Iterable[str]) -> Trust:
    """Whether an address is below one that the person trusts."""
    place = source.removeprefix("index:")
    for start in trusted:
        plain = start.rstrip("/")
        if plain and any(one == start or one.startswith((f"{plain}/", f"{plain}#")) for one in (source, place)):
            return "trusted"
    return "community"
