"""The settings under ``memories.mem0``."""

from hermes_core.options import option, settings
from hermes_memory_kit.options import near, told


@settings
class Config:
    """The memory mem0."""

    told: int = told()
    near: float = near("found without its words")
    learn: bool = option(
        "Have a model take facts out of each turn, beside whatever comes next: one call of auxiliary.memory a turn.",
        default=True,
    )
