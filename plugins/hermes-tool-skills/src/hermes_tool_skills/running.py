"""The tool ``skill_run``: a script of a skill, with what a person gave that skill in secret, once they did.

No shell is between, and the script is the very file that was accepted. It runs behind a wall of its own, so that no
other command sees it, and reaches the hosts that the person named for it, no others.
"""

import asyncio
import fnmatch
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, ToolError, UserError
from hermes_core.kinds import Tool, ToolContext, ToolSource, tool
from hermes_core.options import ge, le, option, settings
from hermes_core.types import Effect, ExecRequest, Feature, Principal, Session
from hermes_tool_skills.catalogue import catalogue_for

_LONGEST = 600
_PROGRAMS = {".py": ("python3", "-B"), ".sh": ("bash",), ".js": ("node",)}


@settings
class Run:
    """What the model gives."""

    skill: str = option("")
    script: str = option("its path in the skill")
    args: list[str] = option("", factory=list)
    timeout: int = option("", default=180, validator=[ge(1), le(_LONGEST)])


def skill_sources(ctx: PluginContext) -> Sequence[ToolSource]:
    """The source of ``skill_run``: there once a person gave a skill something."""
    made = _make(ctx)

    def tools(session: Session) -> Iterable[Tool]:
        mine = session.owner.person == Principal().person
        return [made] if mine and (ctx.paths.data / "secrets.json").exists() else ()

    return [ToolSource(name="skill", toolset="skills", tools=tools)]


def _make(ctx: PluginContext) -> Tool:
    @tool(name="skill_run", toolset="skills", effects=[Effect.EXECUTE], touches=lambda _: (), seconds=_LONGEST + 30.0)
    async def run(context: ToolContext, wanted: Run) -> str:
        """Run a script of a skill with the secrets that were given to that skill. You see its output without them."""
        return await _run(ctx, context, wanted)

    return run


async def _run(ctx: PluginContext, context: ToolContext, wanted: Run) -> str:
    from hermes_tool_skills import alone
    from hermes_tool_skills.reading import accepted, usable
    from hermes_tool_skills.secret import values_of
    from hermes_tool_skills.usage import note

    place = context.workspace
    if Feature.LOCAL not in place.features:
        raise ToolError("The scripts of skills are not where your commands run.", retry=False)
    if place.wall.name == "none" and Feature.ISOLATED not in place.features:
        hint = "A person can look for one: hermes doctor --walls"
        raise ToolError("There is no wall here, so no script gets a secret.", retry=False, hint=hint)
    program = _PROGRAMS.get(PurePosixPath(wanted.script).suffix)
    if program is None:
        raise ToolError(f"{wanted.script!r} is no script of Python, bash or Node.", retry=False)
    skill = await asyncio.to_thread(usable, catalogue_for(ctx), wanted.skill, context.session)
    await asyncio.to_thread(accepted, skill, wanted.script)
    try:
        values, grant = await asyncio.to_thread(values_of, ctx, skill)
    except UserError as error:
        raise ToolError(error.text, retry=False, hint=error.hint) from None

    request = ExecRequest(
        argv=tuple(wanted.args), env=values, seconds=float(wanted.timeout), hosts=_within(context.session, grant.hosts)
    )
    try:
        result = await alone.run_behind(ctx, place, skill, program, wanted.script, request)
    except HermesError as error:
        raise ToolError(_hidden(ctx, error.text, values.values()), hint=error.hint) from None
    note(ctx.paths.data, skill.name, "run", catalogue_for(ctx).library.clock())
    if result.online:
        context.from_outside()
    said = _hidden(ctx, result.output.decode(errors="replace"), values.values()).rstrip("\n")
    return "\n".join(filter(None, (said, f"exit {result.status}" if result.status else ""))) or "(no output)"


def _within(session: Session, hosts: Sequence[str]) -> Sequence[str]:
    """Those of the hosts that the turn may reach: a job that is bound to some gets no others by a skill."""
    for bounds in (session.bounds, session.rights.bounds if session.rights else None):
        if bounds and bounds.hosts is not None:
            hosts = [host for host in hosts if any(fnmatch.fnmatchcase(host, one) for one in bounds.hosts)]
    return hosts


def _hidden(ctx: PluginContext, text: str, values: Iterable[str]) -> str:
    """A text without the values, whether or not the kernel has learned them yet."""
    for value in sorted(values, key=len, reverse=True):
        text = text.replace(value, "[hidden]")
    return ctx.masks.text(text)
