"""What a skill has to be told in secret: entered by a person, kept with their others, given to its scripts alone.

A grant is of one state of a skill and of the hosts that a person named: when its files change, they are asked again.
The value is written before the grant: what was cut off between the two is kept and given to nobody.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import asdict

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import JSON
from hermes_core.values import frozen
from hermes_tool_skills.catalogue import Skill
from hermes_tool_skills.disk import held, write_json

# Variables that say what is loaded or run: a value there is no value that a script reads.
_LOADERS = re.compile(
    r"LD_|DYLD_|PATH$|PYTHON|NODE_|PERL|RUBY|JAVA_|BASH_|ENV$|IFS$|SHELL|HOME$|TMPDIR$|GIT_|EDITOR|VISUAL|PAGER|HERMES_"
    r"|.*_PROXY$|.*_(?:COMMAND|PRELOAD|ASKPASS)$"
)
_HOST = re.compile(r"(?:\*\.)?[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?")


@frozen(kw_only=True)
class Grant:
    """Which variables the scripts of a skill get, in which state of it, and which hosts they reach with them."""

    digest: str
    names: tuple[str, ...]
    hosts: tuple[str, ...] = ()


def kept_as(skill: str, variable: str) -> str:
    """The name of the secret of one skill's variable; no two share one."""
    plain = re.sub(r"[^A-Za-z0-9]", lambda found: f"_{ord(found[0]):02X}_", skill)
    return f"SKILL_{plain.upper()}__{variable}"


def grants(ctx: PluginContext) -> dict[str, Grant]:
    """What was granted, by the names of skills. What cannot be read counts as nothing."""
    try:
        data = json.loads((ctx.paths.data / "secrets.json").read_bytes())
        return {str(name): _grant(row) for name, row in data.items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def grant(ctx: PluginContext, skill: Skill, values: Mapping[str, str], hosts: Sequence[str]) -> Grant:
    """Keep values for a skill as it is now, and say that its scripts get them. Raises UserError."""
    for name in values:
        if _LOADERS.match(name):
            raise UserError(f"{name} says what is loaded or run, so no skill is given it.")
    for host in hosts:
        if not _HOST.fullmatch(host):
            raise UserError(f"{host!r} is no name of a host.", hint="As in api.example.org or *.example.org")
    for name, value in values.items():
        ctx.secrets.set(kept_as(skill.name, name), value)
    with held(ctx.paths.data / ".held"):
        known = grants(ctx)
        before = known.get(skill.name)
        names = {*values, *(before.names if before else ())}
        made = Grant(
            digest=skill.digest, names=tuple(sorted(names)), hosts=tuple(hosts or (before.hosts if before else ()))
        )
        _write(ctx, {**known, skill.name: made})
    return made


def forget(ctx: PluginContext, name: str) -> None:
    """Take back what was granted to a skill, and the values with it."""
    with held(ctx.paths.data / ".held"):
        known = grants(ctx)
        gone = known.pop(name, None)
        _write(ctx, known)
    for variable in gone.names if gone else ():
        ctx.secrets.set(kept_as(name, variable), "")


def values_of(ctx: PluginContext, skill: Skill) -> tuple[dict[str, str], Grant]:
    """The variables that the scripts of a skill get now. Raises UserError that says what a person can do."""
    known = grants(ctx).get(skill.name)
    if known is None:
        raise UserError(f"{skill.name} was given nothing.", hint=f"A person can: hermes skills secrets {skill.name}")
    if known.digest != skill.digest:
        hint = f"A person looks at it and says so again: hermes skills secrets {skill.name}"
        raise UserError(f"{skill.name} was changed since it was given its secrets.", hint=hint)
    found = {name: ctx.secrets.get(kept_as(skill.name, name)) for name in known.names}
    return {name: value for name, value in found.items() if value}, known


def _grant(row: Any) -> Grant:
    return Grant(digest=str(row["digest"]), names=tuple(map(str, row["names"])), hosts=tuple(map(str, row["hosts"])))


def _write(ctx: PluginContext, known: Mapping[str, Grant]) -> None:
    rows: JSON = {name: asdict(one) for name, one in known.items()}
    write_json(ctx.paths.data / "secrets.json", rows)
