"""What programs do with their arguments: one judge for each name. Programs that are not here are asked about."""

from hermes_tool_guard.programs import (
    archives,
    building,
    containers,
    data,
    editing,
    files,
    forges,
    git,
    interpreters,
    network,
    node,
    packages,
    python,
    reading,
    services,
    shellwords,
    system,
    trade,
    verbs,
    windows,
    wrappers,
)
from hermes_tool_guard.run import Program

__all__ = ["PROGRAMS"]

PROGRAMS: dict[str, Program] = {}
_ROOMS = (reading, files, archives, editing, git, forges, building, packages, node, network, system, services)
for _room in (*_ROOMS, containers, data, python, interpreters, wrappers, shellwords, verbs, windows):
    if _twice := PROGRAMS.keys() & _room.PROGRAMS.keys():
        raise ImportError(f"judged twice: {', '.join(sorted(_twice))}")
    PROGRAMS.update(_room.PROGRAMS)
PROGRAMS = trade.PROGRAMS | PROGRAMS  # whoever knows a tool better judges it
