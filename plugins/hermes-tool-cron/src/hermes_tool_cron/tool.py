"""The tool ``cron``: a model looks at the jobs of its person, makes and changes them, or proposes one."""

from collections.abc import Sequence
from typing import Any, Literal

from attrs import field

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError, UserError
from hermes_core.kinds import Tool, ToolContext, tool
from hermes_core.types import Effect, Session
from hermes_core.values import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_tool_cron.actions import Door

__all__ = ["Wanted", "cron_tool"]

_SHOWN = 50


@frozen(kw_only=True)
class Wanted:
    """What the model wants."""

    action: Literal["list", "create", "propose", "update", "pause", "resume", "remove", "run", "runs"] = "list"
    job: str = field(default="", metadata={"help": "its name"})
    schedule: str = field(default="", metadata={"help": "2h | every 30m | 0 8 * * 1-5 | 2026-12-24T18:00"})
    prompt: str = field(default="", metadata={"help": "complete: this conversation is not known then"})
    options: dict[str, Any] | None = field(
        default=None,
        metadata={"help": "deliver, zone, repeat, script, skills, tools, model …; an unknown one lists all"},
    )


_OPTIONS = (
    "deliver",
    "repeat",
    "jitter",
    "grace",
    "script",
    "no_agent",
    "thread",
    "context",
    "skills",
    "tools",
    "model",
    "effort",
    "calls",
)
_LISTS = ("deliver", "context", "skills", "tools")
_NUMBERS = ("repeat", "jitter", "grace", "calls")


def cron_tool(ctx: PluginContext) -> Tool:
    """The tool; it sees the jobs of the person it works for."""

    def needs(session: Session) -> str | None:
        alone = session.asker == session.owner and "#" not in session.owner.person
        return None if alone else "jobs belong to one person, and several speak here"

    @tool(name="cron", toolset="cron", effects=[Effect.SCHEDULE], touches=lambda _: ("cron",), needs=needs)
    async def run(context: ToolContext, wanted: Wanted) -> str:
        """Jobs that run a prompt or script at times; propose lets the person accept one."""
        from hermes_tool_cron.actions import Door

        try:
            return await _do(Door.of(ctx, context.session), wanted, context)
        except UserError as error:
            raise ToolError(error.text, hint=error.hint) from error

    return run


async def _do(door: "Door", wanted: Wanted, context: ToolContext) -> str:
    from hermes_tool_cron import actions
    from hermes_tool_cron.values import Options
    from hermes_tool_cron.words import about, line, run_line

    await door.admit()
    if wanted.action == "list":
        there = await door.rows.list(door.owner.person)
        return "\n".join(line(one) for one in there[:_SHOWN]) or "There is no job."
    if wanted.action == "runs":
        which = (await actions.find(door, wanted.job)).id if wanted.job else ""
        runs = await door.rows.runs(door.owner.person, which)
        if any(one.outside for one in runs):
            context.from_outside()
        return "\n".join(run_line(one) for one in runs) or "Nothing ran yet."
    if wanted.action in ("create", "propose"):
        if not wanted.schedule:
            raise UserError("Say the schedule.")
        options = Options(**_options(wanted))
        zone = str((wanted.options or {}).get("zone") or "")
        proposed = wanted.action == "propose"
        job = await actions.create(
            door, wanted.schedule, wanted.prompt, name=wanted.job, zone=zone, options=options, proposed=proposed
        )
        if proposed:
            return f"Proposed. It runs only if the person says /cron accept {job.name} (or /cron dismiss {job.name})."
        return f"{about(job)}\n{await _running(door)}".strip()
    job = await actions.find(door, wanted.job)
    if wanted.action == "update":
        return about(await actions.edit(door, job, _changes(wanted)))
    if wanted.action == "remove":
        await actions.remove(door, job)
        return f"The job {job.name} is gone."
    if wanted.action == "run":
        await actions.run_now(door, job)
        return f"The job {job.name} runs beside this conversation; action=runs says what came of it."
    return line(await (actions.pause(door, job) if wanted.action == "pause" else actions.resume(door, job)))


def _options(wanted: Wanted) -> dict[str, Any]:
    """Return the options that were given, each of its kind. Raises UserError."""
    found: dict[str, Any] = {}
    for name, value in (wanted.options or {}).items():
        if name in ("zone", "name"):
            continue
        if name not in _OPTIONS:
            raise UserError(f"There is no option {name!r}.", hint=f"There is: zone, {', '.join(_OPTIONS)}.")
        found[name] = _of_its_kind(name, value)
    return found


def _of_its_kind(name: str, value: object) -> object:
    if name in _LISTS:
        given: Sequence[object] = value if isinstance(value, list) else [value]
        return tuple(str(one) for one in given)
    if name in _NUMBERS:
        if isinstance(value, bool) or not isinstance(value, int):
            raise UserError(f"{name} must be a whole number.")
        return value
    if name in ("no_agent", "thread"):
        return value is True
    return str(value)


def _changes(wanted: Wanted) -> dict[str, Any]:
    own = {"schedule": wanted.schedule, "prompt": wanted.prompt}
    own |= {name: str((wanted.options or {}).get(name) or "") for name in ("name", "zone")}
    return {**{name: value for name, value in own.items() if value}, **_options(wanted)}


async def _running(door: "Door") -> str:
    if await door.rows.clocks():
        return ""
    return f"Nothing runs jobs now: the person starts `{door.ctx.program} gateway run`."
