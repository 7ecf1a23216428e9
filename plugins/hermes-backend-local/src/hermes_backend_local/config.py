"""The settings of the local backend."""

from typing import Literal

from hermes_core.options import ge, option, settings


@settings
class Config:
    """Commands on this machine, behind a wall of the system."""

    wall: Literal["auto", "bubblewrap", "landlock", "seatbelt", "none"] = option(
        "What bounds commands: bubblewrap where it works, else Landlock, else nothing; one of them, or Seatbelt (macOS,"
        " never tried there yet); or nothing.",
        default="auto",
    )
    readable: list[str] = option(
        "More files and folders that commands behind the wall may read.", factory=list, example=["~/data"]
    )
    writable: list[str] = option(
        "More folders that commands behind the wall may change.", factory=list, example=["~/other-project"]
    )
    hosts: list[str] = option(
        "Hosts that walled commands may reach besides the known package registries and the remotes of a repository.",
        factory=list,
        example=["api.example.org", "*.example.net", "build.example.org:8443"],
    )
    memory_mb: int = option(
        "Memory in MB behind the wall; of all with cgroups, else of one process; 0: no limit.",
        default=16_384,
        validator=ge(0),
    )
    processes: int = option(
        "Processes and threads of a workspace at most behind the wall; 0: no limit.", default=2048, validator=ge(0)
    )
    env_passthrough: list[str] = option(
        "Environment variables that commands may see although their name or value looks secret.",
        factory=list,
        example=["GITHUB_TOKEN"],
    )
