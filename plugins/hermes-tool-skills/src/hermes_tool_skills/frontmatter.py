"""What SKILL.md says of itself between its two ``---`` lines, and what is wrong with it.

The format is the one of agentskills.io, with additions under ``metadata.hermes``. Keys that nobody knows are left
alone: a skill written for another agent is still a skill. What one that comes from elsewhere gets wrong without harm is
mended and remarked on, as the standard asks of clients; what is written here has to be right (``standard``).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from attrs import Factory, asdict, evolve

from hermes_core.errors import UserError
from hermes_core.patterns import pattern
from hermes_core.types import JSON
from hermes_core.values import frozen

NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
MOST_NAME = 64
MOST_DESCRIPTION = 1_024
MOST_MAIN = 100_000  # characters of SKILL.md
PLATFORMS = {"macos": "darwin", "linux": "linux", "windows": "win32"}
ENVIRONMENTS = ("kanban", "docker", "s6")
_MOST_HEAD = 16_000  # characters of frontmatter
_MOST_COMPATIBILITY = 500
_FENCE = pattern(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_COLON = pattern(r"^((?:name|description|license|compatibility): +)(?![\"'|>\[{&*!])(.*: .*|.*:)$", re.MULTILINE)
_VARIABLE = pattern(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_VARIABLES = "required_environment_variables"
_OPENCLAW = ("openclaw", "clawdbot", "clawdis")  # one thing under three names
_HERMES_LISTS = (
    "tags", "related_skills", "requires_toolsets", "requires_tools", "fallback_for_toolsets", "fallback_for_tools",
)  # fmt: skip


class BadSkill(UserError):
    """SKILL.md cannot be used; ``problems`` are all of them."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("; ".join(problems), hint="The format is explained in `hermes skills new --help`.")
        self.problems = tuple(problems)


@frozen(kw_only=True)
class Variable:
    """An environment variable that a skill needs."""

    name: str
    prompt: str = ""
    help: str = ""
    required_for: str = ""


@frozen(kw_only=True)
class Head:
    """The frontmatter of a skill."""

    name: str
    description: str
    version: str = ""
    author: str = ""
    license: str = ""
    compatibility: str = ""
    category: str = ""
    allowed_tools: str = ""
    platforms: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    variables: tuple[Variable, ...] = ()
    credential_files: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    requires_toolsets: tuple[str, ...] = ()
    requires_tools: tuple[str, ...] = ()
    fallback_for_toolsets: tuple[str, ...] = ()
    fallback_for_tools: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    related_skills: tuple[str, ...] = ()
    config: tuple[Mapping[str, JSON], ...] = ()
    blueprint: Mapping[str, JSON] = Factory(dict)
    remarks: tuple[str, ...] = ()  # what was mended to read it


def parse(text: str, *, folder: str = "", foreign: bool = False) -> tuple[Head, str]:
    """The frontmatter and the body of a SKILL.md; ``folder`` is the name it has to carry, if that is known.

    With ``foreign`` what another client would put up with is mended, and told in ``Head.remarks``: a text with a colon
    that is not in quotes, a description that is too long, a folder of another name. Raises BadSkill with every problem.
    """
    if len(text) > MOST_MAIN:
        raise BadSkill([f"SKILL.md has {len(text):,} characters; {MOST_MAIN:,} is the most"])
    found = _FENCE.match(text)
    if not found:
        raise BadSkill(["SKILL.md does not begin with frontmatter: a line ---, the fields, a line ---"])
    remarks: list[str] = []
    data = _load(found[1], remarks if foreign else None)
    body = text[found.end() :].strip()
    reader = _Reader(data)
    if foreign:
        _shorten(reader, remarks)
    head = _head(reader)
    if folder and head.name and head.name != folder:
        said = f"name is {head.name!r}, but the folder is called {folder!r}"
        (remarks if foreign else reader.problems).append(said)
    if not body:
        reader.problems.append("there is nothing below the frontmatter")
    if reader.problems:
        raise BadSkill(reader.problems)
    return evolve(head, remarks=tuple(remarks)), body


def fields(text: str) -> Mapping[str, Any]:
    """The fields between the two lines as they stand there. Raises BadSkill."""
    found = _FENCE.match(text)
    if not found:
        raise BadSkill(["SKILL.md does not begin with frontmatter: a line ---, the fields, a line ---"])
    return _load(found[1])


def name_problem(name: str) -> str:
    """Why this cannot be the name of a skill; empty when it can."""
    if not NAME.fullmatch(name) or len(name) > MOST_NAME:
        return f"needs 1 to {MOST_NAME} lower-case letters, digits, '.', '_' and '-', the first a letter or digit"
    return "may not hold two dots in a row" if ".." in name else ""


def _load(text: str, remarks: list[str] | None = None) -> Mapping[str, Any]:
    """The fields; with ``remarks`` a text that holds a colon is put into quotes, and that is noted there."""
    from hermes_yaml_edit.document import Document, Unreadable

    if len(text) > _MOST_HEAD:
        raise BadSkill([f"the frontmatter has {len(text):,} characters; {_MOST_HEAD:,} is the most"])
    try:
        return Document(f"\n{text}", "SKILL.md").data  # its first line is the one above
    except Unreadable as error:
        problems = error.problems
    if remarks is not None and (quoted := _COLON.sub(_quoted, text)) != text:
        with suppress(Unreadable):
            data = Document(f"\n{quoted}", "SKILL.md").data
            remarks.append("a text that holds a colon is not in quotes")
            return data
    colon = "; put a text that holds a colon into quotes"
    raise BadSkill([f"{one}{colon * ('mapping values' in one)}" for one in problems])


def _quoted(found: re.Match[str]) -> str:
    value = found[2].strip().replace("'", "''")
    return f"{found[1]}'{value}'"


def _shorten(reader: "_Reader", remarks: list[str]) -> None:
    """Cut the texts that every client reads to the standard's length."""
    for key, most in (("description", MOST_DESCRIPTION), ("compatibility", _MOST_COMPATIBILITY)):
        value = reader.data.get(key)
        flat = " ".join(value.split()) if isinstance(value, str) else ""
        if len(flat) > most:
            reader.data = {**reader.data, key: f"{flat[: most - 1].rstrip()}…"}
            remarks.append(f"{key} has {len(flat):,} characters and was cut; {most:,} is the most")


class _Reader:
    """Takes fields out of a mapping and notes what is wrong with them."""

    def __init__(self, data: Mapping[str, Any], where: str = "", problems: list[str] | None = None) -> None:
        self.data, self._where = data, where
        self.problems: list[str] = [] if problems is None else problems

    def text(self, key: str, *, most: int = 500) -> str:
        value = self.data.get(key)
        if value is None:
            return ""
        if isinstance(value, bool | list | dict):
            self._wrong(key, "a text")
            return ""
        flat = " ".join(str(value).split())
        if len(flat) > most:
            self.problems.append(f"{self._where}{key} has {len(flat):,} characters; {most:,} is the most")
        if not all(c.isprintable() for c in flat):
            self.problems.append(f"{self._where}{key} holds characters that cannot be seen")
        return flat

    def texts(self, key: str, choices: Iterable[str] = ()) -> tuple[str, ...]:
        value = self.data.get(key)
        given = [value] if isinstance(value, str) else [] if value is None else value
        if not isinstance(given, list) or not all(isinstance(one, str) and one.strip() for one in given):
            self._wrong(key, "a list of texts")
            return ()
        known = tuple(choices)
        for one in given:
            if known and one not in known:
                self.problems.append(f"{self._where}{key}: there is no {one[:40]!r}; use {', '.join(known)}")
        return tuple(" ".join(one.split())[:200] for one in given[:100])

    def table(self, key: str) -> "_Reader":
        value = self.data.get(key)
        if value is not None and not isinstance(value, dict):
            self._wrong(key, "a table of fields")
        return _Reader(value if isinstance(value, dict) else {}, f"{self._where}{key}.", self.problems)

    def rows(self, key: str, named: str) -> list[Mapping[str, Any]]:
        value = self.data.get(key)
        given = [] if value is None else value
        if not isinstance(given, list):
            self._wrong(key, "a list")
            return []
        rows = [{named: one} if isinstance(one, str) else one for one in given[:100]]
        if not all(isinstance(row, dict) and isinstance(row.get(named), str) for row in rows):
            self._wrong(key, f"a list of entries with a {named}")
            return []
        return rows

    def _wrong(self, key: str, wanted: str) -> None:
        self.problems.append(f"{self._where}{key} must be {wanted}")


def _head(reader: _Reader) -> Head:
    name, description = reader.text("name", most=1_000), reader.text("description", most=MOST_DESCRIPTION)
    if problem := name_problem(name):
        reader.problems.append(f"name {problem}" if name else "name is missing")
    if not description:
        reader.problems.append("description is missing: one or two sentences that say when to use the skill")
    about, legacy = reader.table("metadata"), reader.table("prerequisites")
    ours = _flat(about, about.table("hermes"))
    lists = {key: ours.texts(key) for key in _HERMES_LISTS}
    rows = [*reader.rows(_VARIABLES, "name"), *ours.rows(_VARIABLES, "name"), *_of_openclaw(about)]
    variables = {v.name: v for v in (_variable(reader, row) for row in rows)}
    variables |= {name: _variable(reader, {"name": name}) for name in legacy.texts("env_vars") if name not in variables}
    tools = reader.data.get("allowed-tools")
    return Head(
        name=name,
        description=description,
        version=reader.text("version") or about.text("version"),
        author=reader.text("author") or about.text("author"),
        license=reader.text("license"),
        compatibility=reader.text("compatibility"),
        category=ours.text("category", most=64),
        allowed_tools=" ".join(map(str, tools)) if isinstance(tools, list) else reader.text("allowed-tools"),
        platforms=reader.texts("platforms", PLATFORMS) or ours.texts("platforms", PLATFORMS),
        environments=reader.texts("environments", ENVIRONMENTS) or ours.texts("environments", ENVIRONMENTS),
        variables=tuple(variables.values()),
        credential_files=reader.texts("required_credential_files") or ours.texts("required_credential_files"),
        commands=legacy.texts("commands") or ours.texts("commands"),
        config=tuple(_config(row) for row in ours.rows("config", "key")),
        blueprint={str(k)[:100]: str(v)[:500] for k, v in ours.table("blueprint").data.items()},
        **lists,
    )


def _flat(about: _Reader, ours: _Reader) -> _Reader:
    """What stands under ``metadata.hermes``, and as ``hermes.KEY`` with a text: the standard's values are texts."""
    data = {key.replace("-", "_"): value for key, value in ours.data.items() if isinstance(key, str)}
    for key, value in about.data.items():
        if isinstance(key, str) and key.startswith("hermes.") and isinstance(value, str):
            name = key.removeprefix("hermes.").replace("-", "_")
            data.setdefault(name, value if name == "category" else value.split())
    return _Reader(data, "metadata.hermes.", about.problems)


def _of_openclaw(about: _Reader) -> list[Mapping[str, Any]]:
    """The variables that a skill of ClawHub needs: https://docs.openclaw.ai, ``metadata.openclaw.requires.env``."""
    table = next((t for key in _OPENCLAW if isinstance(t := about.data.get(key), dict)), {})
    needs = table.get("requires")
    names = needs.get("env") if isinstance(needs, dict) else None
    told = table.get("envVars")
    rows = [row for row in told if isinstance(row, dict) and isinstance(row.get("name"), str)] if isinstance(told, list) else []  # fmt: skip # noqa: E501
    asked = {row["name"]: {"name": row["name"], "help": row.get("description")} for row in rows if row.get("required") is not False}  # fmt: skip # noqa: E501
    given = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
    return [*asked.values(), *({"name": name} for name in given if name not in asked)]


def _variable(reader: _Reader, row: Mapping[str, Any]) -> Variable:
    name = str(row["name"])
    if not _VARIABLE.fullmatch(name):
        reader.problems.append(f"required_environment_variables: {name[:40]!r} is not the name of a variable")
    inner = _Reader(row, "required_environment_variables.", reader.problems)
    return Variable(
        name=name, prompt=inner.text("prompt"), help=inner.text("help"), required_for=inner.text("required_for")
    )


def _config(row: Mapping[str, Any]) -> Mapping[str, JSON]:
    return {key: str(row[key])[:500] for key in ("key", "description", "default", "prompt") if key in row}


def to_plain(head: Head) -> dict[str, JSON]:
    """The frontmatter as JSON can hold it."""
    return asdict(head)


def from_plain(data: Mapping[str, Any]) -> Head:
    """The way back. Raises TypeError, KeyError or ValueError for what ``to_plain`` did not write."""
    given: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in data.items()}
    given["variables"] = tuple(Variable(**row) for row in given["variables"])
    return Head(**given)
