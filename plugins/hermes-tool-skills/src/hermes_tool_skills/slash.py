"""``/skills`` shows what there is; ``/skill NAME …`` does something the way a skill says."""

import asyncio
from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError, UserError
from hermes_core.types import Message, Principal, Session, SlashCommand, Text
from hermes_tool_skills.desk import catalogue_for


def slash_commands(ctx: PluginContext) -> Sequence[SlashCommand]:
    """Both commands of one kernel."""

    async def skills(session: Session, rest: str) -> str:
        from hermes_tool_skills.pending import proposals

        catalogue = catalogue_for(ctx)
        found = await asyncio.to_thread(catalogue.all)
        if rest == "pending":
            if session.owner.person != Principal().person:
                raise UserError("What waits to become a skill is for the owner of this Hermes.")
            rows = [
                f"    {p.id}  {p.action} {p.name}: {p.why or 'no reason given'}" for p in proposals(catalogue.library)
            ]
            return "\n".join([*rows, "", "hermes skills approve ID"]) if rows else "Nothing waits."
        width = max((len(s.name) for s in found), default=0)
        lines = [f"    {s.name:<{width}}  {s.description[:80]}" for s in found if s.state == "ready"]
        held = [f"    {s.name:<{width}}  {s.state}: {s.reason}" for s in found if s.state not in ("ready", "disabled")]
        return "\n".join([*lines, *held]) or "There is no skill. `hermes skills new NAME` makes one."

    async def skill(session: Session, rest: str) -> str | Message:
        from hermes_tool_skills.reading import viewed

        name, _, task = rest.partition(" ")
        if not name:
            raise UserError("Say which one: /skill NAME [what to do]", hint="/skills lists them.")
        try:
            here = session.backend in ("", "local")
            body = await asyncio.to_thread(viewed, catalogue_for(ctx), name, "", session, here=here)
        except ToolError as error:
            raise UserError(error.text, hint=error.hint) from None
        wish = task.strip() or "Do what it is for."
        return Message(role="user", parts=(Text(text=f"{wish}\n\nFollow this skill:\n\n{body}"),))

    return [
        SlashCommand(
            name="skills", summary="list the skills", run=skills, usage="[pending]", at_once=True, who="everyone"
        ),
        SlashCommand(
            name="skill", summary="do something the way a skill says", run=skill, usage="NAME [TASK]", who="everyone"
        ),
    ]
