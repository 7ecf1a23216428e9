"""The settings under ``platforms.webhook``."""

from hermes_core.options import ge, option, settings

__all__ = ["Config"]


@settings
class Config:
    """Webhooks."""

    url: str = option(
        "Where other services reach your API, as `hermes webhook` shows it to you.",
        default="",
        example="https://hermes.example.org",
    )
    max_bytes: int = option("The largest body that is read.", default=1_000_000, validator=ge(1_000))
    window_seconds: float = option(
        "How old a signature with a time in it may be, and how far ahead.", default=300.0, validator=ge(1)
    )
    per_minute: int = option(
        "How many turns a subscription starts in a minute; what comes above waits its turn, and is not lost.",
        default=30,
        validator=ge(1),
    )
    max_waiting: int = option(
        "How many deliveries of a subscription may wait; above, its service is told to come again.",
        default=1_000,
        validator=ge(1),
    )
    keep_days: float = option(
        "For how long a delivery is known, so that it is not taken a second time.", default=90.0, validator=ge(1)
    )
