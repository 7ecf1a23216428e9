"""``/cron``: a person sees to their jobs from any conversation."""

from collections.abc import Awaitable, Callable, Sequence

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import Choice, Session, SlashCommand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_tool_cron.actions import Door
    from hermes_tool_cron.values import Job

__all__ = ["slash_command"]

_VERBS = (
    "list", "add", "show", "run", "runs", "calendar", "blueprints", "use", "pause", "resume", "remove", "accept",
    "dismiss",
)  # fmt: skip


def slash_command(ctx: PluginContext) -> SlashCommand:
    """The command; the manifest says where, and for whom."""

    async def run(session: Session, rest: str) -> str:
        from hermes_tool_cron.actions import Door

        door = Door.of(ctx, session, written=True)
        await door.admit()
        return await _do(door, rest.strip())

    async def options(session: Session, rest: str) -> Sequence[Choice]:
        from hermes_tool_cron.actions import Door

        verb, space, _ = rest.lstrip().partition(" ")
        if not space:
            return [Choice(text=one) for one in _VERBS]
        if verb in ("blueprints", "use"):
            from hermes_tool_cron.blueprints import blueprints

            return [Choice(text=f"{verb} {one.name}", summary=one.summary) for one in blueprints(ctx).values()]
        there = await Door.of(ctx, session).rows.list(session.owner.person)
        return [Choice(text=f"{verb} {one.name}") for one in there]

    return SlashCommand(name="cron", run=run, options=options, confirm=_asked)


def _asked(rest: str) -> str:
    verb, _, name = rest.strip().partition(" ")
    return f"The job {name.strip()} would be removed, with its history." if verb in ("remove", "rm") and name else ""


async def _do(door: "Door", rest: str) -> str:
    from hermes_tool_cron import actions
    from hermes_tool_cron.words import about, line, run_line

    verb, _, words = rest.partition(" ")
    words = words.strip()
    if verb in ("", "list"):
        there = await door.rows.list(door.owner.person)
        return "\n".join(line(one) for one in there) or "There is no job. /cron add every day at 08:00 | PROMPT"
    if verb in ("add", "create"):
        schedule, bar, prompt = words.partition("|")
        if not bar:
            raise UserError("Write /cron add SCHEDULE | PROMPT.", hint="/cron add every day at 08:00 | What is new?")
        return about(await actions.create(door, schedule, prompt))
    if verb in ("runs", "history"):
        job = await actions.find(door, words) if words else None
        found = await door.rows.runs(door.owner.person, job.id if job else "")
        zones = {one.id: one.zone for one in await door.rows.list(door.owner.person)}
        return "\n".join(run_line(one, zones.get(one.job, "UTC")) for one in found) or "Nothing ran yet."
    if verb == "blueprints":
        return await _blueprints(door, words)
    if verb == "use":
        return await _used(door, words)
    if verb == "calendar":
        return await _calendar(door)
    if verb == "accept":
        return about(await actions.accept(door, words))
    if verb == "dismiss":
        return f"{(await actions.dismiss(door, words)).name}: not wanted."
    simple: dict[str, Callable[[], Awaitable[str]]] = {
        "show": lambda: _shown(door, words),
        "run": lambda: _run(door, words),
        "pause": lambda: _moved(door, words, actions.pause),
        "resume": lambda: _moved(door, words, actions.resume),
        "remove": lambda: _removed(door, words),
        "rm": lambda: _removed(door, words),
    }
    return await simple.get(verb, lambda: _shown(door, rest))()


async def _blueprints(door: "Door", name: str) -> str:
    import asyncio

    from hermes_core.errors import UnknownName
    from hermes_tool_cron.blueprints import about, blueprints

    there = await asyncio.to_thread(blueprints, door.ctx)
    if name and name not in there:
        raise UnknownName("blueprint", name, list(there))
    if name:
        return about(there[name])
    return "\n".join(f"{one.name} · {one.summary}" for one in there.values())


async def _used(door: "Door", words: str) -> str:
    import shlex

    from hermes_tool_cron.blueprints import make, slots_of
    from hermes_tool_cron.words import about

    try:
        name, *slots = shlex.split(words)
    except ValueError:
        raise UserError("Say which, as /cron use news topic='electric bikes'.", hint="/cron blueprints") from None
    return about(await make(door, name, slots_of(slots)))


async def _calendar(door: "Door") -> str:
    from hermes_tool_cron.calendar import days_of
    from hermes_tool_cron.playing import config_of
    from hermes_tool_cron.schedule import local_zone

    there = [one for one in await door.rows.list(door.owner.person) if one.state == "active"]
    zone = config_of(door.ctx).zone or local_zone()
    days = [(day, rows) for day, rows in days_of(there, await door.rows.now(), 7, zone) if rows]
    lines = ["\n".join([f"**{day}**", *(f"{at} · {name} · {what}" for at, name, what in rows)]) for day, rows in days]
    return "\n\n".join(lines) or "Nothing is to run in the next seven days."


async def _shown(door: "Door", words: str) -> str:
    from hermes_tool_cron import actions
    from hermes_tool_cron.words import about

    return about(await actions.find(door, words, proposed=True))


async def _run(door: "Door", words: str) -> str:
    from hermes_tool_cron import actions

    run = await actions.run_now(door, await actions.find(door, words))
    waits = "" if await door.rows.clocks() else " Nothing runs jobs now: it runs when a gateway does."
    return f"{run.name} is to run now.{waits}"


async def _moved(door: "Door", words: str, move: "Callable[[Door, Job], Awaitable[Job]]") -> str:
    from hermes_tool_cron import actions
    from hermes_tool_cron.words import line

    return line(await move(door, await actions.find(door, words)))


async def _removed(door: "Door", words: str) -> str:
    from hermes_tool_cron import actions

    job = await actions.find(door, words, proposed=True)
    await actions.remove(door, job)
    return f"{job.name} is gone, with its history."
