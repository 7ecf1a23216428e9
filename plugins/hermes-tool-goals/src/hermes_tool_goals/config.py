"""The settings of goals."""

from hermes_core.options import ge, option, settings


@settings
class Config:
    """How goals are pursued where they say nothing else."""

    turns: int = option("Turns of a goal until it is paused; a loop ends after as many.", default=20, validator=ge(1))
    money: float = option("US dollars of a goal until it is paused; 0 for no bound.", default=0.0, validator=ge(0))
    seconds: float = option(
        "Seconds of work of a goal until it is paused; 0 for no bound.", default=0.0, validator=ge(0)
    )
    stuck: int = option("Rounds that come to the same, after which its person is asked.", default=3, validator=ge(2))
    check_seconds: int = option("Seconds that a command of a contract may take.", default=600, validator=ge(1))
    keep: int = option("Goals of a person that are kept after their end.", default=100, validator=ge(1))
