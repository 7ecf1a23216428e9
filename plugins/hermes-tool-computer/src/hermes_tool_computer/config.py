"""The settings of the screen."""

from typing import Literal

from hermes_core.options import ge, le, option, settings


@settings
class Config:
    """The screen that the agent sees."""

    display: Literal["person", "own"] = option(
        "Whose screen it is: yours, or one of its own that nobody sees, where its commands run.", default="person"
    )
    width: int = option("Of a screen of its own, in pixels.", default=1280, validator=[ge(320), le(7680)])
    height: int = option("Of a screen of its own, in pixels.", default=800, validator=[ge(240), le(4320)])
    largest: int = option(
        "The longer side of pictures that a model gets, in pixels; larger screens are made smaller.",
        default=1280,
        validator=[ge(320), le(4096)],
    )
    idle: int = option(
        "Seconds after which a screen of its own is closed that no call used.",
        default=900,
        validator=[ge(10), le(86_400)],
    )
