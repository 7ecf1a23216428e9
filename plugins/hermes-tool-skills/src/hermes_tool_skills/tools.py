"""The tools: ``skill_view`` reads skills, ``skill_manage`` lets the agent write its own."""

import asyncio
from collections.abc import Sequence
from typing import Literal

from attrs import field

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError, UserError
from hermes_core.kinds import Tool, ToolContext, tool
from hermes_core.types import Effect, Feature, Principal, Question, Session
from hermes_core.values import frozen
from hermes_tool_skills.catalogue import catalogue_for


@frozen(kw_only=True)
class View:
    """What the model wants to read."""

    name: str = field(default="", metadata={"help": "none: list all"})
    file: str = ""


@frozen(kw_only=True)
class Manage:
    """What the model wants to change."""

    action: Literal["create", "patch", "write_file", "remove_file", "delete"]
    name: str
    content: str = field(default="", metadata={"help": "SKILL.md with frontmatter, or the file"})
    file: str = field(default="", metadata={"help": "none: SKILL.md"})
    old: str = field(default="", metadata={"help": "patch: a unique piece"})
    new: str = ""
    why: str = ""


def skill_tools(ctx: PluginContext) -> Sequence[Tool]:
    """Both tools of one kernel."""

    @tool(
        name="skill_view", toolset="skills", effects=[Effect.READ_FILES], idempotent=True,
        touches=lambda view: (f"skill:{view.name or '*'}",),
    )  # fmt: skip
    async def view(context: ToolContext, wanted: View) -> str:
        """Read a skill, or one of its files."""
        from hermes_tool_skills.reading import listed, viewed
        from hermes_tool_skills.usage import note

        catalogue, here = catalogue_for(ctx), Feature.LOCAL in context.workspace.features
        if not wanted.name:
            return await asyncio.to_thread(listed, catalogue, context.session)
        text = await asyncio.to_thread(
            viewed,
            catalogue,
            wanted.name,
            wanted.file,
            context.session,
            here=here,
            given=_given(ctx, wanted.name),
        )
        note(ctx.paths.data, wanted.name, "read", catalogue.library.clock())
        return text

    @tool(
        name="skill_manage", toolset="skills", effects=[Effect.REMEMBER],
        needs=lambda session: _unwelcome(ctx, session),
        touches=lambda change: (f"skill:{change.name or '*'}",),
    )  # fmt: skip
    async def manage(context: ToolContext, wanted: Manage) -> str:
        """Keep how something hard was solved as a skill, or mend a wrong one."""
        return await _manage(ctx, context, wanted)

    return [view, manage]


def _given(ctx: PluginContext, name: str) -> Sequence[str]:
    """The variables that a person gave a skill."""
    if not (ctx.paths.data / "secrets.json").exists():
        return ()
    from hermes_tool_skills.secret import grants

    known = grants(ctx).get(name)
    return known.names if known else ()


def _unwelcome(ctx: PluginContext, session: Session) -> str | None:
    """Why a session may not write skills: they belong to the owner of the profile, and steer every later session."""
    if not ctx.config.writes:
        return "tools.skills.writes is off"
    return None if session.owner.person == Principal().person else "only the owner's sessions write skills"


async def _manage(ctx: PluginContext, context: ToolContext, wanted: Manage) -> str:
    from hermes_tool_skills.changes import keep, make, plan, staged
    from hermes_tool_skills.draft import worst
    from hermes_tool_skills.learning import learning
    from hermes_tool_skills.library import Change
    from hermes_tool_skills.trust import decide
    from hermes_tool_skills.usage import note

    if reason := _unwelcome(ctx, context.session):
        raise ToolError(f"Skills cannot be written here: {reason}.", retry=False)
    catalogue = catalogue_for(ctx)
    change = Change(by="agent", why=" ".join(wanted.why.split())[:300], session=context.session.id)
    try:
        made = await asyncio.to_thread(
            plan, catalogue, wanted.action, wanted.name, path=wanted.file, content=wanted.content,
            old=wanted.old, new=wanted.new,
        )  # fmt: skip
        found = worst(made.draft.report) if made.draft else ()
        if staged(made, approve=ctx.config.approve or learning(ctx, context.session)):
            return await asyncio.to_thread(keep, catalogue.library, made, change)
        if decide("agent", made.verdict) == "ask" and not await _allowed(context, made.name, found):
            said = "\n".join(f"- {line}" for line in found)
            raise ToolError(f"Nothing was changed: the scan calls the result dangerous.\n{said}", retry=False)
        entry = await asyncio.to_thread(make, catalogue.library, made, change)
    except UserError as error:
        raise ToolError(error.text, hint=error.hint) from None
    except OSError as error:
        raise ToolError(f"The skill could not be written: {error.strerror or error}.", retry=False) from None
    if entry is None:
        return f"Deleted {wanted.name}; a person can bring it back with: hermes skills rollback {wanted.name}"
    note(ctx.paths.data, wanted.name, "changed", catalogue.library.clock())
    told = "".join(f"\nThe scan says: {line}" for line in found)
    return f"{wanted.name} is now version {entry.version}; sessions that begin from now on know it.{told}"


async def _allowed(context: ToolContext, name: str, found: Sequence[str]) -> bool:
    question = Question(
        id=f"skill:{context.call_id}", kind="approval", subject=f"write the skill {name}",
        risk="the scan calls it dangerous: " + "; ".join(found), choices=("once", "deny"),
    )  # fmt: skip
    return (await context.ask(question)).outcome == "allow"
