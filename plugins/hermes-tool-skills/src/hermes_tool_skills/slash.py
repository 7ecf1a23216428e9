"""``/skills`` shows what there is; ``/skill NAME …`` does something so; ``/learn`` makes one of what was done."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError, UserError
from hermes_core.types import Choice, Message, Principal, Session, SlashCommand, Text
from hermes_tool_skills.catalogue import Catalogue, catalogue_for

_STACKED = 5  # skills that one message may follow


def slash_commands(ctx: PluginContext) -> Sequence[SlashCommand]:
    """The commands of one kernel."""

    async def listing(session: Session, rest: str) -> str:
        from hermes_tool_skills.pending import proposals

        catalogue = catalogue_for(ctx)
        found = await asyncio.to_thread(catalogue.seen_by, session)
        if rest == "pending":
            if session.owner.person != Principal().person:
                raise UserError("What waits to become a skill is for the owner of this Hermes.")
            rows = [
                f"    {p.id}  {p.action} {p.name}: {p.why or 'no reason given'}" for p in proposals(catalogue.library)
            ]
            return "\n".join([*rows, "", "hermes skills approve ID"]) if rows else "Nothing waits."
        width = max((len(s.name) for s in found), default=0)
        lines = [f"    {s.name:<{width}}  {s.description[:80]}" for s in found if s.state == "ready"]
        lines += [f"    {name:<{width}}  together: {text[:70]}" for name, text in _bundles(ctx).items()]
        held = [f"    {s.name:<{width}}  {s.state}: {s.reason}" for s in found if s.state not in ("ready", "disabled")]
        return "\n".join([*lines, *held]) or "There is no skill. `hermes skills new NAME` makes one."

    async def skill(session: Session, rest: str) -> str | Message:
        from hermes_tool_skills.reading import viewed

        catalogue, task = catalogue_for(ctx), rest
        skills = await asyncio.to_thread(_ready, catalogue, session)
        ready = {**_bundles(ctx), **skills}
        names: list[str] = []
        while len(names) < _STACKED and (not names or (task.split(maxsplit=1)[:1] and task[0] == "/")):
            name, _, task = task.partition(" ")
            if names and name[1:] not in ready:  # a path, or words that only look so
                task = f"{name} {task}"
                break
            names.append(name.lstrip("/"))
            task = task.strip()
        if not names[0]:
            raise UserError("Say which one: /skill NAME [what to do]", hint="/skills lists them.")
        names, said = _unbundled(ctx, names, skills)
        task = "\n\n".join(filter(None, (task.strip(), said)))
        try:
            here = session.backend in ("", "local")
            bodies = [await asyncio.to_thread(viewed, catalogue, name, "", session, here=here) for name in names]
        except ToolError as error:
            raise UserError(error.text, hint=error.hint) from None
        from hermes_tool_skills.usage import note

        for name in names:
            note(ctx.paths.data, name, "read", catalogue.library.clock())
        asked = task.strip() or "Do what it is for."
        follow = "Follow this skill" if len(bodies) == 1 else "Follow these skills, in this order"
        return Message(role="user", parts=(Text(text="\n\n".join((asked, f"{follow}:", *bodies))),))

    async def options(session: Session, rest: str) -> Sequence[Choice]:
        if " " in rest:
            return ()
        ready = {**await asyncio.to_thread(_ready, catalogue_for(ctx), session), **_bundles(ctx)}
        return [Choice(name, text[:80], len(rest)) for name, text in ready.items() if name.startswith(rest)]

    return [
        SlashCommand(name="learn", run=partial(_learn, ctx)),
        SlashCommand(name="skills", run=listing),
        SlashCommand(name="skill", run=skill, options=options),
    ]


async def _learn(ctx: PluginContext, session: Session, rest: str) -> Message:
    from hermes_tool_skills.learning import lesson

    return lesson(ctx, session, rest)


def _bundles(ctx: PluginContext) -> Mapping[str, str]:
    """The bundles of the settings, and what each is for."""
    return {name: one.description or ", ".join(one.skills) for name, one in ctx.config.bundles.items()}


def _unbundled(ctx: PluginContext, names: Sequence[str], skills: Mapping[str, str]) -> tuple[list[str], str]:
    """The skills that names stand for, each once, and what their bundles say. A skill comes before a bundle."""
    bundles = ctx.config.bundles
    found: dict[str, None] = {}
    said: list[str] = []
    for name in names:
        one = bundles.get(name)
        if one is None or name in skills:
            found[name] = None
            continue
        found |= dict.fromkeys(one.skills)
        said.append(one.instruction)
    return list(found), "\n".join(filter(None, said))


def _ready(catalogue: Catalogue, session: Session) -> Mapping[str, str]:
    """The skills that may be used in a session, and what each is for."""
    off = catalogue.off(session.origin)
    return {s.name: s.description for s in catalogue.seen_by(session) if s.state == "ready" and s.name not in off}
