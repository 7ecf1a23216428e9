"""What ``hermes doctor --deep`` asks about skills."""

import asyncio
from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.types import Check, Finding
from hermes_tool_skills.catalogue import catalogue_for

_FAULTS = ("broken", "changed", "missing")


def checks(ctx: PluginContext) -> Sequence[Check]:
    """One check: every skill that cannot be used, by name."""

    async def run() -> Sequence[Finding]:
        return await asyncio.to_thread(_look, ctx)

    return [Check(name="skills", run=run)]


def _look(ctx: PluginContext) -> Sequence[Finding]:
    from hermes_tool_skills.pending import proposals

    catalogue = catalogue_for(ctx)
    skills = catalogue.all()
    found = [Finding(level="fault", text=catalogue.problem, fix="hermes skills list")] if catalogue.problem else []
    for skill in skills:
        if skill.state not in ("ready", "disabled"):
            text = f"{skill.name}: {skill.state}: {skill.reason}"
            found.append(Finding(level="fault" if skill.state in _FAULTS else "warning", text=text, fix=skill.fix))
    if waiting := proposals(catalogue.library):
        text = f"{len(waiting)} changes of the agent's wait for you"
        found.append(Finding(level="warning", text=text, fix="hermes skills pending"))
    ready = sum(s.state == "ready" for s in skills)
    return found or [Finding(level="ok", text=f"{ready} of {len(skills)} skills in use")]
