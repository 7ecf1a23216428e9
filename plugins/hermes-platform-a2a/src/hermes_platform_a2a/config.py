"""The settings under ``platforms.a2a``."""

from hermes_core.options import option, settings

__all__ = ["Config"]


@settings
class Config:
    """How other agents are answered."""

    url: str = option(
        "Where others reach your API; empty: where they asked for the card.",
        default="",
        example="https://hermes.example.org",
    )
    name: str = option("What the agent is called on its card.", default="Hermes")
    description: str = option(
        "What it can be asked for, as its card says.",
        default="A personal agent. It answers questions and does what its person lets it do.",
    )
    tools: list[str] = option(
        "Tools and toolsets that tasks may use; empty: all that the person whose key it is may use.",
        factory=list,
        example=["web", "skill_view"],
    )
    ask: str = option(
        "The chat in which what a task needs a yes for is put to you, such as `telegram`; else it is refused.",
        default="",
    )
    approvals: bool = option(
        "The client may answer what needs a yes: once, or no. A client is a program, whose yes is no person's.",
        default=False,
    )
    running: int = option("How many tasks run at once; more wait.", default=4)
    open_tasks: int = option("How many tasks of one person may be open; above, new ones are refused.", default=50)
    calls: int = option("Model calls of one task at most; 0 is no bound.", default=60)
    money: float = option("Dollars that one task may cost; 0 is no bound.", default=0.0)
    seconds: float = option("How long one task may take, with the wait for answers; 0 is no bound.", default=0.0)
    keep_days: float = option("For how long a task that is over can be asked for.", default=30.0)
