"""The settings of learning."""

from typing import Literal

from hermes_core.options import ge, option, settings


@settings
class Config:
    """What is learned, who says yes to it, and what that may cost."""

    mode: Literal["off", "ask", "trial", "auto"] = option(
        "off: nothing is learned; ask: a person says yes to each lesson; trial: clean ones are tried at once; "
        "auto: those that help stay by themselves.",
        default="off",
    )
    model: str = option(
        "Who reviews, as PROVIDER:MODEL; empty: who answered, whose cache knows the conversation.", default=""
    )
    idle_seconds: float = option(
        "Seconds without a turn until a conversation is reviewed.", default=300.0, validator=ge(0)
    )
    turns: int = option(
        "Turns with tools after which one is reviewed without a sign; 0 never.", default=10, validator=ge(0)
    )
    share: float = option(
        "Most tokens that reviews may use, as a share of those of turns.", default=0.05, validator=ge(0)
    )
    reviews: int = option("Most reviews of a person in a day.", default=20, validator=ge(0))
    money: float = option("Most US dollars that a review may use; 0 for no bound.", default=0.25, validator=ge(0))
    lessons: int = option("Most lessons of a person that are tried or active.", default=2000, validator=ge(1))
    prompt_bytes: int = option("Most bytes of lessons that are told with a message.", default=1600, validator=ge(0))
    weeks: bool = option(
        "Make a summary of each week that is over, from its conversations; recall finds it.", default=False
    )
    report: str = option("A chat that is told each week what was learned, such as telegram; empty: none.", default="")
