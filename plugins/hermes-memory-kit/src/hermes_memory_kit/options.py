"""The settings that memories share."""

from hermes_core.options import ge, le, option

__all__ = ["near", "told"]


def told() -> int:
    """Return the setting of how much is told with a message."""
    chosen: int = option(
        "The most memories told with a message; 0 tells none, and the agent searches.",
        default=5,
        validator=[ge(0), le(20)],
    )
    return chosen


def near(found: str) -> float:
    """Return the setting of how near in meaning something must be to be ``found``."""
    chosen: float = option(
        f"How near in meaning something must be to be {found}, from 0 to 1; models differ.",
        default=0.4,
        validator=[ge(0), le(1)],
    )
    return chosen
