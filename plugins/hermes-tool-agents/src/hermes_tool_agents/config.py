"""The settings under ``tools.agents``."""

from hermes_core.options import ge, min_len, option, settings

__all__ = ["AgentSettings", "Config"]


@settings
class AgentSettings:
    """One agent that speaks the Agent Client Protocol on its pipes."""

    command: str = option("The program that is started.", validator=min_len(1), example="npx")
    args: list[str] = option(
        "What it is given.", factory=list, example=["-y", "@zed-industries/claude-agent-acp@0.23.1"]
    )
    env: dict[str, str] = option(
        "Variables it gets; `env:AGENT_…` stands for the secret of that name.",
        factory=dict,
        example={"ANTHROPIC_API_KEY": "env:AGENT_ANTHROPIC_KEY"},
    )


@settings
class Config:
    """Agents that work for this one."""

    known: dict[str, AgentSettings] = option(
        "The agents, by names of yours.",
        factory=dict,
    )
    seconds: float = option("How long one may work on a task.", default=1800.0, validator=ge(1))
