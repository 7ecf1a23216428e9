"""The files that no tool may touch."""

from pathlib import Path

from hermes_core.config.settings import Settings

__all__ = ["guarded_paths"]


def guarded_paths(settings: Settings) -> list[Path]:
    """The files that guard the agent, hold its secrets or its memory of what was done: closed to every tool."""
    home = settings.home
    database = [home.database.with_name(home.database.name + end) for end in ("", "-wal", "-shm")]
    own = [home.config_file, home.env_file, home.lock_file, home.plugins, *database, home.base / "active_profile"]
    if home.root == home.base:
        return [*own, home.base / "profiles"]
    others = [p for p in sorted((home.base / "profiles").glob("*")) if p != home.root]
    return [*own, *others, home.base / "config.yaml", home.base / ".env", home.base / "state.db"]
