"""The configuration of a repository, kept as it was before the first command: importing this is cheap."""

from pathlib import Path

__all__ = ["configuration"]

_LARGEST = 1_000_000  # bytes of a git configuration


def configuration(repository: Path) -> str:
    """What ``.git/config`` of a folder holds; empty where there is no such file of usual size that can be read."""
    config = repository / ".git" / "config"
    try:
        if not config.is_file() or config.stat().st_size > _LARGEST:
            return ""
        return config.read_text("utf-8", "replace")
    except OSError:
        return ""
