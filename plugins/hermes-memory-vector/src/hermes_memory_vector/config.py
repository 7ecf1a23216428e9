"""The settings under ``memories.vector``."""

from hermes_core.options import ge, option, settings
from hermes_memory_kit.options import near, told


@settings
class Config:
    """The memory vector."""

    told: int = told()
    near: float = near("found without its words")
    learn: bool = option("Keep what you state, as you said it, without a model that judges it.", default=True)
    most: int = option("The most memories of a person; the oldest go.", default=5_000, validator=ge(100))
