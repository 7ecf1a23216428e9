"""The settings of boards."""

from typing import Literal

from hermes_core.options import ge, option, settings

__all__ = ["Config", "WorkerSettings"]


@settings
class WorkerSettings:
    """A worker that tasks can be assigned to. What is left out is as in every conversation."""

    summary: str = option("What it is good at, for whoever splits up work.", default="", example="reviews Python code")
    instructions: str = option("What its model is told, beside the rules for workers.", default="")
    model: str = option("[PROVIDER:]MODEL that answers.", default="", example="anthropic:claude-sonnet-5")
    effort: str = option("How much it thinks.", default="", example="high")
    tools: list[str] | None = option(
        "Tools and toolsets that it has, and no others; those for its task it has always.", default=None,
        example=["files", "terminal"],
    )  # fmt: skip
    skills: list[str] = option("Skills that it loads first.", factory=list)
    parallel: int = option("Tasks that it has at once; 0: as many as there is room for.", default=0, validator=ge(0))


@settings
class Config:
    """How tasks are worked on."""

    tools: bool = option("Offer the tools of boards in every conversation, not only to workers.", default=False)
    dispatch: bool = option("Work on tasks where a gateway or a worker of this home runs.", default=True)
    parallel: int = option("Tasks that are worked on side by side at most.", default=4, validator=ge(1))
    workers: dict[str, WorkerSettings] = option("Who tasks can be assigned to, by name.", factory=dict)
    failures: int = option("Attempts in a row that may fail before a person is told.", default=2, validator=ge(1))
    deaths: int = option("Deaths of the process that one attempt outlives.", default=5, validator=ge(1))
    nudges: int = option("How often who ends without a word on the task is reminded.", default=2, validator=ge(0))
    rejections: int = option("How often a review may say no before a person is told.", default=2, validator=ge(0))
    seconds: int = option("How long one attempt may take.", default=3600, validator=ge(1))
    calls: int = option("Model calls of one attempt; 0 for what every turn may have.", default=0, validator=ge(0))
    stale: int = option("Seconds without a sign of an attempt after which it is given up.", default=14400,
                        validator=ge(1))  # fmt: skip
    mode: Literal["ask", "smart", "off"] = option("The widest mode that work on tasks has.", default="ask")
    levels: int = option("Levels of tasks that workers make while they work on one.", default=2, validator=ge(0))
    children: int = option("Tasks that are made while one is worked on.", default=20, validator=ge(0))
    made: int = option("Tasks that a model makes in one conversation.", default=50, validator=ge(0))
    deliver: str = option("Where the end of tasks from a terminal is told, as `telegram`; local: nowhere.",
                          default="local")  # fmt: skip
    auto_decompose: bool = option("Split up what is in triage without a person's yes.", default=False)
    tasks: int = option("Tasks that one board may have.", default=5000, validator=ge(1))
    megabytes: int = option("The largest file of a task.", default=25, validator=ge(1))
