"""What programs do with their arguments: one judge for each name. Programs that are not here are asked about."""

from hermes_tool_guard.programs import (
    building,
    containers,
    data,
    editing,
    files,
    git,
    interpreters,
    network,
    packages,
    reading,
    services,
    shellwords,
    system,
    wrappers,
)
from hermes_tool_guard.run import Program

__all__ = ["PROGRAMS"]

PROGRAMS: dict[str, Program] = {}
for _room in (
    reading,
    files,
    editing,
    git,
    building,
    packages,
    network,
    system,
    services,
    containers,
    data,
    interpreters,
    wrappers,
    shellwords,
):
    if _twice := PROGRAMS.keys() & _room.PROGRAMS.keys():
        raise ImportError(f"judged twice: {', '.join(sorted(_twice))}")
    PROGRAMS.update(_room.PROGRAMS)
