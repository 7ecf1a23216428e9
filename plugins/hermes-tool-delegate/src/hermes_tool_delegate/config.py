"""The settings of delegation."""

from hermes_core.options import ge, gt, le, option, settings


@settings
class Config:
    """Tasks that are handed to child agents."""

    max_depth: int = option(
        "Levels of agents below yours; with 2 a child may be told to hand on.", default=1, validator=[ge(1), le(3)]
    )
    max_children: int = option("Children of a session that work side by side.", default=3, validator=[ge(1), le(16)])
    person_children: int = option(
        "Children of one person that work side by side, over all sessions; those that may hand on do not count.",
        default=16,
        validator=ge(1),
    )
    max_tasks: int = option("Tasks in one call.", default=8, validator=[ge(1), le(64)])
    background: int = option(
        "Calls of a conversation within an hour whose children work in the background; 0: none may.",
        default=12,
        validator=ge(0),
    )
    seconds: float = option("How long one call may take, all its tasks together.", default=1800.0, validator=gt(0))
    calls: int = option("Model calls of one child.", default=50, validator=ge(1))
    model: str = option(
        "The model of children; empty: the one they are called by.", default="", example="openai:gpt-5-mini"
    )
    effort: str = option("How hard it thinks; empty: as always.", default="", example="low")
    blocked_toolsets: list[str] = option("Toolsets children never get.", factory=list, example=["browser"])
