"""The settings under ``tools.peers``."""

from hermes_core.options import ge, option, settings

__all__ = ["Config"]


@settings
class Config:
    """Agents of other profiles on this machine."""

    ask: list[str] = option(
        "Profiles whose agents a model here may ask without your yes.", factory=list, example=["bob"]
    )
    take: list[str] = option(
        "Profiles whose agents are answered here; `*` is every one, none answers nobody.", factory=list, example=["ada"]
    )
    tools: list[str] = option(
        "Toolsets that a turn for another agent may use. Whatever they are, it writes, runs and sends nothing.",
        factory=list,
        example=["files", "recall"],
    )
    deliver: str = option("Where an answer to a message that was sent goes, as `telegram`.", default="")
    per_day: int = option("Turns for other agents in a day.", default=50, validator=ge(0))
    calls: int = option("Model calls of one such turn.", default=8, validator=ge(1))
    money: float = option("Dollars of one such turn; 0 sets no bound.", default=0.0, validator=ge(0))
    seconds: float = option("Seconds of one such turn.", default=300.0, validator=ge(1))
    answers: int = option(
        "Answers of agents to one message of a person in a room over HTTP; then a person has to speak.",
        default=4,
        validator=ge(1),
    )
    hops: int = option("Agents that one question goes through at most: who is asked may ask on.", default=3)
