"""The settings under ``memories.files``."""

from hermes_core.options import ge, option, settings


@settings
class Config:
    """MEMORY.md and USER.md."""

    memory_chars: int = option("Most characters MEMORY.md may hold.", default=2200, validator=ge(100), example=4000)
    user_chars: int = option("Most characters USER.md may hold.", default=1375, validator=ge(100), example=2000)
    approval: bool = option("What the agent wants to remember waits for `hermes memory approve`.", default=False)
    tidy: bool = option(
        "Once a day, beside a turn, a model (auxiliary.memory) proposes what to merge and let go of; it waits for you.",
        default=False,
    )
