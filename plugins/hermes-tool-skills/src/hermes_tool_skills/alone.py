"""A script with a secret runs behind a wall of its own: no other command sees its process, nor brings it anything.

Commands of one workspace share processes, a home and what they left there: any of them could read the variables of
another, or lay out what a program loads by itself. So the script is a copy of what was accepted, in a sandbox of its
own with an empty home, that reaches the folder of the session and the hosts that a person named.
"""

import asyncio
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from attrs import evolve

from hermes_backend_wall.alone import Reach, run_alone
from hermes_backend_wall.plan import base_of, records_of
from hermes_backend_wall.proxy.rules import Rule, Rules, is_literal
from hermes_backend_wall.proxy.server import Proxy
from hermes_backend_wall.proxy.upstream import Upstreams
from hermes_core.context import PluginContext
from hermes_core.errors import ToolError
from hermes_core.kinds import Workspace
from hermes_core.types import ExecRequest, ExecResult
from hermes_tool_skills.catalogue import Skill
from hermes_tool_skills.disk import put_tree
from hermes_tool_skills.tree import BadTree, Tree, digest, hashes, read_tree

__all__ = ["copied", "run_behind"]

_MEND = "A script of a skill reaches the hosts that were named with its secrets, and no others."


def copied(skill: Skill, to: Path) -> None:
    """Lay out the files of a skill as they were accepted. Raises ToolError where they are not those."""
    try:
        tree: Tree = read_tree(skill.folder)
    except (BadTree, OSError) as error:
        raise ToolError(f"{skill.name} cannot be read: {getattr(error, 'text', error)}") from None
    if digest(hashes(tree)) != skill.digest:
        raise ToolError(f"{skill.name} was changed meanwhile.", retry=False, hint=f"hermes skills diff {skill.name}")
    put_tree(to, tree)


async def run_behind(
    ctx: PluginContext, place: Workspace, skill: Skill, program: Sequence[str], script: str, request: ExecRequest
) -> ExecResult:
    """Run a program on a script of a skill; ``request`` has the words behind it, variables and hosts. Raises ToolError.

    Its output may come from outside where it had a way out.
    """
    if place.wall.name == "seatbelt":  # it has no sandbox; commands behind it are as apart as it keeps them
        return await place.run(evolve(request, argv=(*program, str(skill.folder / script), *request.argv)))
    home, cache = ctx.paths.home, ctx.paths.cache
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=os.path.realpath(cache), prefix="run-") as own:
        await asyncio.to_thread(copied, skill, Path(own, "skill"))
        way = _way(request.hosts) if request.hosts else None
        reach = Reach(
            folder=place.cwd,
            aside=cache / "kept",
            records=records_of(home),
            readable=[own, str(skill.folder)],
            writable=[place.cwd],
            hidden=(base_of(home), home),
            on_connection=way.serve if way else None,
        )
        wall = place.wall.name if place.wall.name in ("bubblewrap", "landlock") else ""
        try:
            whole = evolve(request, argv=(*program, f"{own}/skill/{script}", *request.argv))
            result, _ = await run_alone(reach, whole, wall)
        finally:
            if way:
                await way.close()
    return evolve(result, online=way is not None)


def _way(hosts: Sequence[str]) -> Proxy:
    class EveryPort(Rules):
        def find(self, host: str, port: int) -> Rule | None:
            return super().find(host, 443)

    rules = [Rule.read(host) for host in hosts]
    rules = [one._replace(private=is_literal(one.host) or one.host == "localhost") for one in rules]
    return Proxy(EveryPort(rules), upstream=Upstreams(os.environ), mend=_MEND)
