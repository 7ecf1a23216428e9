"""Blueprints: ready schedules by name, with what a person fills in. Ours lie here, a person's own in their home."""

import re
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import Factory, evolve

from hermes_core.errors import UnknownName, UserError
from hermes_core.values import frozen
from hermes_tool_cron.values import Job, Options

if TYPE_CHECKING:
    from hermes_core.context import PluginContext
    from hermes_tool_cron.actions import Door

__all__ = ["FILE", "Blueprint", "Slot", "about", "blueprints", "filled", "make", "slots_of"]

FILE = "blueprints.toml"
_OURS = Path(__file__).with_name(FILE)
_LONGEST = 2_000  # characters of what is filled in
_TEXTS = ("summary", "schedule", "prompt", "script", "folder")
_SLOT = re.compile(r"\{([a-z][a-z0-9_]*)\}")


@frozen(kw_only=True)
class Slot:
    """What a person fills in. Where there is no ``default`` they have to."""

    about: str
    default: str | None = None


@frozen(kw_only=True)
class Blueprint:
    """A ready schedule. ``{slot}`` in its texts stands for what is filled in; a ``script`` alone needs no model."""

    name: str
    summary: str
    schedule: str
    prompt: str = ""
    script: str = ""
    folder: str = ""
    slots: Mapping[str, Slot] = Factory(dict)


def blueprints(ctx: "PluginContext") -> Mapping[str, Blueprint]:
    """Return those there are, by name; a person's own stand before ours. It reads files. Raises UserError."""
    own = ctx.paths.home / FILE
    return {**_read(_OURS), **(_read(own) if own.is_file() else {})}


def _read(file: Path) -> Mapping[str, Blueprint]:
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{file} cannot be read: {error}", hint="It is TOML: a table for each blueprint.") from None
    return {name: _blueprint(file, name, table) for name, table in tables.items()}


def _blueprint(file: Path, name: str, table: Any) -> Blueprint:
    """Return what a table says. Raises UserError, which names the file and what is wrong in it."""
    where = f"{file}, [{name}]"
    if not isinstance(table, dict) or not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        raise UserError(f"{where}: that is no blueprint.", hint="Write a table whose name has small letters and -.")
    if unknown := set(table) - {*_TEXTS, "slots"}:
        raise UserError(f"{where}: there is no {', '.join(sorted(unknown))}.", hint=f"There is {', '.join(_TEXTS)}.")
    texts = {key: table.get(key, "") for key in _TEXTS}
    if wrong := [key for key, value in texts.items() if not isinstance(value, str)]:
        raise UserError(f"{where}: {wrong[0]} is no text.")
    if not texts["schedule"] or not (texts["prompt"] or texts["script"]):
        raise UserError(f"{where}: a blueprint needs a schedule, and a prompt or a script.")
    slots = {slot: _slot(f"{where}, {slot}", said) for slot, said in dict(table.get("slots", {})).items()}
    used = set(_SLOT.findall("\n".join(texts.values()))) if slots else set()
    if wrong := sorted(set(slots) - used):
        raise UserError(f"{where}: the slot {wrong[0]} stands nowhere.", hint=f"Write {{{wrong[0]}}} in its texts.")
    return Blueprint(name=name, slots=slots, **texts)


def _slot(where: str, said: Any) -> Slot:
    if not isinstance(said, dict) or set(said) - {"about", "default"} or not isinstance(said.get("about"), str):
        raise UserError(f"{where}: a slot has an about, and may have a default.")
    default = said.get("default")
    if default is not None and not isinstance(default, str):
        raise UserError(f"{where}: its default is no text.")
    return Slot(about=said["about"], default=default)


def slots_of(words: Sequence[str]) -> Mapping[str, str]:
    """Return what is filled in, of words such as ``place=Oslo``. Raises UserError."""
    found: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise UserError(f"{word!r} fills in nothing.", hint="Write SLOT=VALUE, as place=Oslo.")
        found[name.strip()] = value.strip()
    return found


def filled(blueprint: Blueprint, given: Mapping[str, str]) -> Blueprint:
    """Return a blueprint with its slots filled in; in a script each is one word to the shell. Raises UserError."""
    if unknown := [name for name in given if name not in blueprint.slots]:
        raise UnknownName("slot", unknown[0], list(blueprint.slots))
    values = {name: given.get(name) or slot.default for name, slot in blueprint.slots.items()}
    if missing := [name for name, value in values.items() if not value]:
        said = "; ".join(f"{name}: {blueprint.slots[name].about}" for name in missing)
        raise UserError(f"{blueprint.name} wants to know more: {said}.", hint=f"Write {missing[0]}=… behind its name.")
    if long := [name for name, value in values.items() if len(value or "") > _LONGEST or "\n" in (value or "")]:
        raise UserError(f"{long[0]} is one line, of {_LONGEST:,} characters at most.")

    def fill(text: str, quote: bool = False) -> str:
        def put(found: re.Match[str]) -> str:
            value = values.get(found[1])
            return found[0] if value is None else shlex.quote(value) if quote else value

        return _SLOT.sub(put, text)

    return evolve(
        blueprint, schedule=fill(blueprint.schedule), prompt=fill(blueprint.prompt), folder=fill(blueprint.folder),
        script=fill(blueprint.script, quote=True),
    )  # fmt: skip


async def make(
    door: "Door", name: str, given: Mapping[str, str], *, called: str = "", zone: str = "",
    options: Mapping[str, Any] | None = None,
) -> Job:  # fmt: skip
    """Make a job as a blueprint says; ``options`` are a person's own, and stand before its. Raises UserError."""
    import asyncio

    from hermes_tool_cron import actions

    there = await asyncio.to_thread(blueprints, door.ctx)
    if name not in there:
        raise UnknownName("blueprint", name, list(there))
    ready = filled(there[name], given)
    said: dict[str, Any] = {"script": ready.script, "no_agent": bool(ready.script and not ready.prompt)}
    if ready.folder:
        said["folder"] = str(Path(ready.folder).expanduser())
    taken = {one.name for one in await door.rows.list(door.owner.person)}
    free = next(one for n in range(1, 100_000) if (one := name if n == 1 else f"{name}-{n}") not in taken)
    return await actions.create(door, ready.schedule, ready.prompt, name=called or free, zone=zone,
                                options=Options(**{**said, **(options or {})}))  # fmt: skip


def about(blueprint: Blueprint) -> str:
    """All about a blueprint: what it does, and what is to be filled in."""
    rows = [("blueprint", f"{blueprint.name}: {blueprint.summary}"), ("schedule", blueprint.schedule),
            ("prompt", blueprint.prompt), ("script", blueprint.script), ("folder", blueprint.folder)]  # fmt: skip
    lines = [f"{head:<10} {text}" for head, text in rows if text]
    for name, slot in blueprint.slots.items():
        usual = f" (else {slot.default})" if slot.default is not None else ""
        lines.append(f"{'fill in' if slot.default is None else 'may say':<10} {name}: {slot.about}{usual}")
    return "\n".join(lines)
