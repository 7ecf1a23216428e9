"""The settings under ``tools.watch``."""

from hermes_core.options import ge, option, settings

__all__ = ["Config"]


@settings
class Config:
    """What is watched."""

    per_day: int = option(
        "How many turns one watch starts in 24 hours, where it says nothing else; what changes above is told later.",
        default=24,
        validator=ge(1),
    )
    most_files: int = option("How many files below a folder are looked at.", default=5_000, validator=ge(1))
    least_seconds: float = option(
        "How often a page, a feed or a command is looked at, at most.", default=60.0, validator=ge(1)
    )
    keep_days: float = option("For how long changes are listed.", default=30.0, validator=ge(1))
