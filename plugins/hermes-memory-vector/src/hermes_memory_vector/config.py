"""The settings under ``memories.vector``."""

from hermes_core.options import ge, le, option, settings


@settings
class Config:
    """The memory vector."""

    told: int = option(
        "The most memories told with a message; 0 tells none, and the agent searches.",
        default=5,
        validator=[ge(0), le(20)],
    )
    near: float = option(
        "How near in meaning something must be to be found without its words, from 0 to 1; models differ.",
        default=0.4,
        validator=[ge(0), le(1)],
    )
    learn: bool = option("Keep what you state, as you said it, without a model that judges it.", default=True)
    most: int = option("The most memories of a person; the oldest go.", default=5_000, validator=ge(100))
