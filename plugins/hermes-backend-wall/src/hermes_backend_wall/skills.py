"""Where skills lie, whose scripts commands may read and run, and never change: importing this is cheap."""

from pathlib import Path

from hermes_core.context import PluginPaths

__all__ = ["SHARED", "folders"]

SHARED = "~/.agents/skills"  # where agents of every make look, https://agentskills.io/client-implementation


def folders(paths: PluginPaths) -> tuple[Path, ...]:
    """The folders of skills of a home, of all agents, and of plugins; not each of them has to be there."""
    return (paths.home / "skills", Path(SHARED).expanduser(), *(folder for _, folder in paths.skills))
