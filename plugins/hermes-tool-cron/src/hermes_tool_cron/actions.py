"""What is done with jobs, whichever door it comes through: a command, a chat, the API, the tool of a model."""

import contextlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import asdict, evolve

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_core.types import Principal, Session
from hermes_tool_cron.playing import config_of, jobs_of
from hermes_tool_cron.schedule import local_zone, parse
from hermes_tool_cron.values import Job, Options, Run
from hermes_tool_kit.used import mark_used

__all__ = ["Door", "accept", "create", "dismiss", "edit", "find", "pause", "remove", "resume", "run_now", "told"]

_MODES = ("ask", "smart", "off")  # strictest first
_EFFORTS = ("", "none", "minimal", "low", "medium", "high", "xhigh", "max")
_NAME = re.compile(r"[\w][\w.-]{0,63}")
_LONGEST = 50_000  # characters of a prompt
_SCRIPT = 4_000  # characters of a command
_AMOUNTS = {"repeat": 1_000_000, "jitter": 86_400, "grace": 30 * 86_400, "calls": 10_000, "money": 100_000.0}
_OWNERS = ("folder", "grants", "mode")  # options that only whose Hermes it is gives


class Door:
    """Who does something with jobs, and where. ``session`` is the conversation it is done in, None at a terminal.

    ``written`` says that a person wrote it themselves: what they have run by that needs no further yes.
    """

    def __init__(
        self, ctx: PluginContext, owner: Principal, session: Session | None = None, *, written: bool = False
    ) -> None:
        self.ctx, self.owner, self.session, self.written = ctx, owner, session, written
        self.rows = jobs_of(ctx)

    @classmethod
    def of(cls, ctx: PluginContext, session: Session, *, written: bool = False) -> "Door":
        """Return the door of a conversation. Raises UserError in one that several people share."""
        if session.asker != session.owner or "#" in session.owner.person:
            raise UserError("Jobs belong to one person: see to them in a private chat.")
        return cls(ctx, session.owner, session, written=written)

    @property
    def is_owner(self) -> bool:
        """Whether it is the one whose Hermes this is."""
        return self.owner == self.ctx.owner

    async def admit(self) -> None:
        """Let in who may have jobs. Raises UserError for a guest, and for who may do nothing."""
        if self.is_owner:
            return
        rights = await self.ctx.host.rights(self.owner)
        if rights.refused or rights.silent or rights.role in ("", "guest", "blocked"):
            raise UserError(rights.refused or "Guests have no jobs.")


async def create(
    door: Door, schedule: str, prompt: str, *, name: str = "", zone: str = "", options: Options | None = None,
    proposed: bool = False,
) -> Job:  # fmt: skip
    """Make a job; one that is only ``proposed`` does nothing until a person accepts it. Raises UserError."""
    await door.admit()
    config, there = config_of(door.ctx), await door.rows.list(door.owner.person)
    zone = zone or config.zone or local_zone()
    options = await _sound(door, options or Options(), prompt, [one.name for one in there])
    if not options.deliver:
        options = evolve(options, deliver=await _usual(door))
    now = await door.rows.now()
    if parse(schedule, zone, float(int(now))).kind == "once" and options.repeat > 1:
        raise UserError(f"{schedule!r} is once, and repeat is {options.repeat}.", hint="Write every 30m for a period.")
    taken = {one.name for one in there}
    if name and not _NAME.fullmatch(name):
        raise UserError(f"{name!r} is no name for a job.", hint="Use letters, digits, ., - and _.")
    made = Job(
        id="", person=door.owner.person, name=name or _free(prompt or options.script, taken), schedule=schedule.strip(),
        zone=zone, prompt=prompt.strip(), options=options, state="proposed" if proposed else "active",
    )  # fmt: skip
    mark_used(door.ctx)
    return await door.rows.add(made, config.jobs)


async def edit(door: Door, job: Job, changes: Mapping[str, Any]) -> Job:
    """Change a job: of ``changes`` name, schedule, zone and prompt are its own, the rest its options. UserError."""
    await door.admit()
    own = {key: value for key, value in changes.items() if key in ("name", "schedule", "zone", "prompt")}
    options = evolve(job.options, **{key: value for key, value in changes.items() if key not in own})
    changed = evolve(job, **own)
    if not _NAME.fullmatch(changed.name):
        raise UserError(f"{changed.name!r} is no name for a job.", hint="Use letters, digits, ., - and _.")
    if options != job.options or changed.prompt != job.prompt:
        names = [one.name for one in await door.rows.list(door.owner.person)]
        options = await _sound(door, options, changed.prompt, names, scripted="script" in changes)
    if not door.written and set(changes) - {"name", "schedule", "zone", "deliver"}:
        options = evolve(options, grants=(), mode="ask")  # a person gave these for what it did before
    anew = (changed.schedule, changed.zone) != (job.schedule, job.zone)
    if anew:
        parse(changed.schedule, changed.zone, float(int(await door.rows.now())))
    again = anew and job.state in ("active", "done")
    return await door.rows.change(evolve(changed, options=options), anew=again or options.jitter != job.options.jitter)


async def find(door: Door, words: str, *, proposed: bool = False) -> Job:
    """Return a job by its name or its id. Raises UnknownName."""
    there = [one for one in await door.rows.list(door.owner.person) if proposed or one.state != "proposed"]
    found = next((one for one in there if words in (one.name, one.id)), None)
    if found is None:
        raise UnknownName("job", words, [one.name for one in there])
    return found


async def pause(door: Door, job: Job, why: str = "") -> Job:
    """Let a job rest: its instants come and go without a row."""
    if job.state != "active":
        raise UserError(f"The job {job.name!r} {_STATES.get(job.state, 'is not active')}.")
    return await door.rows.change(evolve(job, state="paused", why=why or "a person paused it", due=0.0, at=0.0))


async def resume(door: Door, job: Job) -> Job:
    """Let it go on from its next instant."""
    await door.admit()
    if job.state == "active":
        raise UserError(f"The job {job.name!r} is active.")
    made = await door.rows.change(evolve(job, state="active", why=""), anew=True)
    if made.state == "done":
        raise UserError(f"The job {job.name!r} has no instant left.", hint="Give it another schedule.")
    return made


async def remove(door: Door, job: Job) -> None:
    """Take a job away, with its history."""
    await door.rows.remove(job.id)


async def run_now(door: Door, job: Job) -> Run:
    """Have a job run now, beside its times."""
    await door.admit()
    return await door.rows.ask_for(job)


async def accept(door: Door, words: str) -> Job:
    """Make a job of what was proposed; it counts from now. Raises UserError."""
    await door.admit()
    job = await find(door, words, proposed=True)
    if job.state != "proposed":
        raise UserError(f"The job {job.name!r} was accepted before.")
    now = float(int(await door.rows.now()))
    parse(job.schedule, job.zone, now)
    return await door.rows.change(evolve(job, state="active", anchor=now), anew=True)


async def dismiss(door: Door, words: str) -> Job:
    """Want none of what was proposed."""
    job = await find(door, words, proposed=True)
    if job.state != "proposed":
        raise UserError(f"The job {job.name!r} was accepted before.", hint="Remove it instead.")
    await door.rows.remove(job.id)
    return job


def told(job: Job) -> dict[str, object]:
    """Return a job as programs read it."""
    values = asdict(job)
    options = values.pop("options")
    return {**{k: v for k, v in values.items() if k not in ("at", "anchor")}, **options}


_STATES = {"paused": "is paused", "done": "has no instant left", "proposed": "is only proposed"}


async def _usual(door: Door) -> Sequence[str]:
    """Return where results go if nothing is said: the chat that the job is made in, else what the settings say."""
    if door.session is not None:
        with contextlib.suppress(UserError):  # nobody sends to chats here
            if chats := await door.ctx.messages.find(door.owner, "origin", door.session):
                return tuple(chat.address for chat in chats)
    return tuple(filter(None, (one.strip() for one in config_of(door.ctx).deliver.split(","))))


async def _sound(door: Door, options: Options, prompt: str, names: Sequence[str], *, scripted: bool = True) -> Options:
    """Return options that can be kept to, with targets that are there. Raises UserError.

    ``scripted``: the script is said now. One that stood there before may be a model's, and is allowed by nothing else.
    """
    from hermes_tool_kit.injection import scan

    if not door.is_owner and (given := [one for one in _OWNERS if getattr(options, one) not in ("", "ask", (), [])]):
        raise UserError(f"Only whose Hermes this is may give a job {' and '.join(given)}.")
    if options.no_agent and not options.script:
        raise UserError("Without an agent a job needs a script.", hint="Say --script COMMAND.")
    if not prompt.strip() and not options.no_agent:
        raise UserError("There is nothing to do: the prompt is empty.")
    if len(prompt) > _LONGEST or len(options.script) > _SCRIPT:
        raise UserError(f"That is too long: {_LONGEST:,} characters are the most, of a script {_SCRIPT:,}.")
    if not door.written and (why := scan(prompt)):
        raise UserError(f"That prompt is not kept: {why}.")
    if options.effort not in _EFFORTS:
        raise UserError(f"There is no effort {options.effort!r}.", hint=f"Say one of {', '.join(_EFFORTS[1:])}.")
    if missing := [one for one in options.context if one not in names]:
        raise UnknownName("job", missing[0], names)
    _check_amounts(options)
    _check_mode(door, options.mode)
    if options.folder:
        folder = Path(options.folder).expanduser()
        if not folder.is_absolute() or not folder.is_dir():
            raise UserError(f"{options.folder} is no folder here.", hint="Write its whole path.")
        options = evolve(options, folder=str(folder))
    if scripted and door.written and door.is_owner and options.script:
        options = evolve(options, grants=tuple(dict.fromkeys((*options.grants, _rule(options.script)))))
    return evolve(options, deliver=await _targets(door, options.deliver))


def _check_amounts(options: Options) -> None:
    for name, most in _AMOUNTS.items():
        if not 0 <= getattr(options, name) <= most:
            raise UserError(f"{name} is {getattr(options, name)}, and must be between 0 and {most:,}.")


def _check_mode(door: Door, mode: str) -> None:
    """Refuse a mode that is wider than what the settings, or the rules of this Hermes, have. Raises UserError."""
    if mode not in _MODES:
        raise UserError(f"There is no mode {mode!r}.", hint=f"Say one of {', '.join(_MODES)}.")
    for where, widest in (
        ("cron.mode", config_of(door.ctx).mode),
        ("policy.mode", door.ctx.host.section("policy").mode if mode != "ask" else "off"),
    ):
        if _MODES.index(mode) > _MODES.index(widest):
            raise UserError(f"A job may have the mode {widest} at most ({where}).")


async def _targets(door: Door, given: Sequence[str]) -> Sequence[str]:
    """Return targets that are there; the chat that a job is made in by its address. Raises UserError."""
    found: list[str] = []
    for target in filter(None, (one.strip() for text in given for one in text.split(","))):
        if target == "local":
            found.append(target)
            continue
        chats = await door.ctx.messages.find(door.owner, target, door.session)
        found += [chat.address for chat in chats] if target == "origin" else [target]
    return tuple(dict.fromkeys(found))


def _rule(command: str) -> str:
    """Return the rule that allows a command to the letter."""
    return f"terminal({''.join(f'[{one}]' if one in '*?[' else one for one in command)})"


def _free(text: str, taken: set[str]) -> str:
    """Return a name made of the first words of a prompt, which no job has."""
    words = re.findall(r"\w+", text.lower())[:4]
    base = "-".join(words)[:40].strip("-_.") or "job"
    return next(
        name for number in range(1, 100_000) if (name := base if number == 1 else f"{base}-{number}") not in taken
    )
