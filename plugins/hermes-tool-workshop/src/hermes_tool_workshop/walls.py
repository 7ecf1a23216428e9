"""The wall of one call: what a tool declared, and nothing else, held by the system.

On this machine a call has a wall of its own, made of the same parts as that of commands. What declares programs is a
command like others and runs where they run; so does everything in a place that is not this machine.
"""

import base64
import os
import sys
from pathlib import Path

from hermes_backend_wall.plan import chosen
from hermes_core.errors import ToolError
from hermes_core.kinds import Workspace
from hermes_core.types import ExecRequest, ExecResult, Feature
from hermes_tool_workshop.permissions import Permissions, forbidden

_PROCESSES = 64  # and threads, of one call


def held() -> bool:
    """Whether this machine has something to make a wall of."""
    return chosen("auto") != "none"


def own_wall(workspace: Workspace, permissions: Permissions) -> bool:
    """Whether a call gets a wall of its own there."""
    here = Feature.LOCAL in workspace.features and Feature.ISOLATED not in workspace.features
    return here and not permissions.programs and held()


def python_of(permissions: Permissions) -> str:
    """The Python of a call behind its own wall: that of Hermes with its packages, or the bare one."""
    from hermes_backend_wall.interpreter import python

    return sys.executable if permissions.packages else python()[0]


def seal(permissions: Permissions) -> str:
    """The filter of system calls that the process of a call takes upon itself, as base64; empty where none is known."""
    from hermes_backend_wall.seccomp import sealed

    return base64.b64encode(sealed(network=bool(permissions.hosts))).decode()


def _links() -> list[str]:
    """Where the link of a virtual environment to its Python leads by the way, to its last step."""
    found: list[str] = []
    path = sys.executable
    while os.path.islink(path) and len(found) < 40:  # noqa: PTH114 - as many as the system follows
        path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))  # noqa: PTH115, PTH118, PTH120
        found.append(path)
    return found


class Walls:
    """Runs calls behind walls. ``home`` is the folder of Hermes; ``memory_mb`` bounds one call."""

    def __init__(self, home: Path, memory_mb: int) -> None:
        self._home, self._memory = home, memory_mb
        self._wall = ""

    async def run(
        self, workspace: Workspace, permissions: Permissions, request: ExecRequest
    ) -> tuple[ExecResult, list[str]]:
        """Run one call; what it came to, and which hosts it was refused. Raises ToolError where no wall can be made."""
        from hermes_backend_wall.alone import Reach, run_alone
        from hermes_backend_wall.limits import Limits
        from hermes_backend_wall.plan import base_of, records_of

        way = _Way(permissions.hosts) if permissions.hosts else None
        packages = (sys.prefix, os.path.realpath(sys.base_prefix), *_links()) if permissions.packages else ()
        reach = Reach(
            folder=workspace.cwd,
            aside=self._home / "cache" / "own-tools-kept",
            records=records_of(self._home),
            readable=[*self._led(workspace, permissions.reads), *packages],
            writable=self._led(workspace, permissions.writes),
            hidden=(base_of(self._home), self._home),
            limits=Limits(memory_mb=self._memory, processes=_PROCESSES),
            on_connection=way.proxy.serve if way else None,
        )
        try:
            result, self._wall = await run_alone(reach, request, self._wall)
        finally:
            if way:
                await way.proxy.close()
        return result, way.refused if way else []

    def _led(self, workspace: Workspace, paths: tuple[str, ...]) -> list[str]:
        """Where declared paths lead now. Raises ToolError for a link that leads where none may be declared."""
        found = []
        folder = os.path.realpath(workspace.cwd)
        for path in paths:
            full = os.path.normpath(os.path.join(workspace.cwd, os.path.expanduser(path)))  # noqa: PTH111, PTH118
            real = os.path.realpath(full)
            out = not path.startswith(("/", "~")) and not f"{real}/".startswith(f"{folder.rstrip('/')}/")
            why = forbidden(real, self._home) or ("leads out of the working folder by a link" if out else "")
            if why:
                raise ToolError(f"It was not run: {path} {why} ({real}).", retry=False)
            found.append(full)
        return found


class _Way:
    """The way out of one call: to the hosts that it declared, at every port."""

    def __init__(self, hosts: tuple[str, ...]) -> None:
        from hermes_backend_wall.proxy.passages import Passage
        from hermes_backend_wall.proxy.rules import Rule, Rules, is_literal
        from hermes_backend_wall.proxy.server import Proxy
        from hermes_backend_wall.proxy.upstream import Upstreams

        class EveryPort(Rules):
            def find(self, host: str, port: int) -> Rule | None:
                return super().find(host, 443)

        self.refused: list[str] = []

        def heard(passage: Passage) -> None:
            if not passage.allowed and passage.host:
                self.refused.append(f"reach the host {passage.host}: {passage.why}")

        rules = []
        for host in hosts:
            rule = Rule.read(f"[{host}]" if ":" in host else host)
            rules.append(rule._replace(private=is_literal(rule.host) or rule.host == "localhost"))
        mend = "The tool may reach what it declared in hosts, and nothing else."
        self.proxy = Proxy(EveryPort(rules), on_passage=heard, upstream=Upstreams(os.environ), mend=mend)
