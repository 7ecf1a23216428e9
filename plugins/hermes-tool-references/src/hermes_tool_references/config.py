"""The settings of references."""

from hermes_core.options import option, settings


def _usual() -> list[str]:
    return ["cli", "tui", "oneshot", "acp"]


@settings
class Config:
    """What a message refers to with @."""

    enabled: bool = option("Put what a message refers to below it.", default=True)
    platforms: list[str] = option(
        "Where you write such messages; from elsewhere they stay as they are.", factory=_usual, example=["tui"]
    )
