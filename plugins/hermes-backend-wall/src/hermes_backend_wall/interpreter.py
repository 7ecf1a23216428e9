"""The Python that runs the launcher."""

import os
import sys

__all__ = ["python"]


def python() -> tuple[str, str]:
    """The Python that Hermes runs on, and its folder, without any virtual environment; else the system's."""
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    prefix = os.path.realpath(sys.base_prefix)
    home = os.path.realpath(os.path.expanduser("~"))  # noqa: PTH111
    # One installed right into the home would show all of it.
    shown = not f"{home}/".startswith(f"{prefix.rstrip('/')}/")
    for name in (version, "python3"):
        program = f"{prefix}/bin/{name}"
        if shown and os.access(program, os.X_OK):
            return program, prefix
    return "/usr/bin/python3", "/usr"
