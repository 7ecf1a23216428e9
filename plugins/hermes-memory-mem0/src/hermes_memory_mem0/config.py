"""The settings under ``memories.mem0``."""

from hermes_core.options import ge, le, option, settings


@settings
class Config:
    """The memory mem0."""

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
    learn: bool = option(
        "Have a model take facts out of each turn, beside whatever comes next: one call of auxiliary.memory a turn.",
        default=True,
    )
