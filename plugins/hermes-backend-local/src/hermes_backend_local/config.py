"""The settings of the local backend."""

from hermes_core.options import option, settings


@settings
class Config:
    """Commands on this machine."""

    env_passthrough: list[str] = option(
        "Environment variables that commands may see although their name or value looks secret.",
        factory=list,
        example=["GITHUB_TOKEN"],
    )
