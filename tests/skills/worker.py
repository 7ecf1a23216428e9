"""A worker that knows nothing: it opens a skill, and does what the text says, in a real wall; without it, the usual.

A task passes only by following its skill: a step whose line is not in what was opened is done the way one does who
never read it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from attrs import Factory, frozen

from hermes_backend_local.backend import local
from hermes_backend_local.config import Config as LocalConfig
from hermes_core.kinds import Workspace
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import plugin_context
from hermes_core.testing.contract_base import manifest_path
from hermes_core.types import ExecRequest, Session
from hermes_tool_skills.catalogue import catalogue_for
from hermes_tool_skills.config import Config
from hermes_tool_skills.reading import viewed

SHIPPED = Path(__file__).parents[2] / "skills"


@frozen(kw_only=True)
class Step:
    """One thing to do. ``find`` is looked for in what was opened: the words found there are run, or ``run`` with them.

    ``fill`` puts the task's own names for those that the text uses. ``otherwise`` is done where it is not found.
    """

    find: str
    run: str = "{match}"
    otherwise: str = "true"
    fill: Mapping[str, str] = Factory(dict)


@frozen(kw_only=True)
class Task:
    """What is there at first, what is done, and whether it was done well: ``check`` is given the folder."""

    skill: str
    files: Callable[[Path], None]
    steps: Sequence[Step]
    check: Callable[[Path], None]


def opened(home: Path, skill: str) -> str:
    """What a model reads that opens a skill."""
    manifest = read_manifest(manifest_path("hermes_tool_skills"))
    context = plugin_context(manifest, home, config=Config(), skills=[("skills", SHIPPED)])
    return viewed(catalogue_for(context), skill, "", Session(id="s1", origin="cli"), here=True)


async def place(home: Path, work: Path) -> Workspace:
    """Where commands run: behind the wall of this machine."""
    manifest = read_manifest(manifest_path("hermes_backend_local"))
    here = LocalConfig(readable=[str(SHIPPED.parent)])  # this program itself, as one that is installed can be read
    context = plugin_context(manifest, home, config=here, skills=[("skills", SHIPPED)])
    return await local(context).open(str(work))


def without(text: str, step: Step) -> str:
    """What was opened, but for the lines of a step."""
    while found := re.search(step.find, text, re.DOTALL):
        text = text[: found.start()] + text[found.end() :]
    return text


async def work(workspace: Workspace, text: str, steps: Sequence[Step]) -> list[str]:
    """Do every step as the text says, or as one does without it. What was run, with what came of it."""
    told = []
    for step in steps:
        found = re.search(step.find, text, re.DOTALL)
        command = step.run.replace("{match}", found[0]) if found else step.otherwise
        for name, value in step.fill.items() if found else ():
            command = command.replace(name, value)
        result = await workspace.run(ExecRequest(argv=("bash", "-c", command), seconds=60.0))
        told.append(f"$ {command}\n[{result.status}] {result.output.decode(errors='replace')[-1_500:]}")
    return told
