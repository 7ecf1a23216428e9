"""The settings under ``tools.a2a``."""

from hermes_core.options import Secret, gt, min_len, option, settings

__all__ = ["AgentSettings", "Config"]


@settings
class AgentSettings:
    """One agent elsewhere."""

    url: str = option(
        "Its address: its card is at `/.well-known/agent-card.json` below it.",
        validator=min_len(1),
        example="https://agents.example.org/travel",
    )
    key: Secret = option(
        "The key that it is sent as a bearer token; `env:A2A_…` stands for the secret of that name.",
        default=Secret(""),
        example="env:A2A_TRAVEL_KEY",
    )
    ask: bool = option("Each call of a model is put to you first.", default=True)


@settings
class Config:
    """Agents elsewhere, which a model may ask."""

    agents: dict[str, AgentSettings] = option("The agents, by names of yours.", factory=dict)
    seconds: float = option(
        "How long a call waits for a task; what takes longer is looked at again.", default=600.0, validator=gt(0)
    )
