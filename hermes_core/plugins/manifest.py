"""The manifest: what a plugin is, adds and asks for, readable without running it.

Reading one imports only the standard library: ``hermes plugins list`` must not pay for attrs or pluggy.
"""

from hermes_core.own import HOOKS, KERNEL, TABLES
from hermes_core.records import WHO, Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from hermes_core.types import JSON

API = 1  # the plugin API this kernel speaks
FILE = "hermes-plugin.toml"
KINDS = ("provider", "tool", "backend", "platform", "memory")
PRIVATE = ("routes", "skills", "checks")  # tables of names that two plugins may have, each for itself
PERMISSIONS = ("secrets", "kernel", "public", "network", "processes", "files")

_SHAPE: "dict[str, dict[str, type]]" = {
    "": {
        "api": int, "name": str, "kind": str, "summary": str, "homepage": str, "alive": str,
        "contributes": dict, "hooks": dict, "config": dict, "permissions": dict,
        "commands": dict, "slash": dict, "setup": dict,
    },
    "contributes": dict.fromkeys(TABLES, list),
    "hooks": {"use": list},
    "config": {"section": str, "class": str, "summary": str, "group": str, "examples": list},
    "permissions": dict.fromkeys(PERMISSIONS, list),
}  # fmt: skip
_TOLD: "dict[str, type]" = {"summary": str, "group": str, "who": str, "examples": list}  # of each record
RECORDS: "dict[str, dict[str, type]]" = {
    "commands": {**_TOLD, "default": bool},
    "slash": {
        **_TOLD, "usage": str, "where": list, "aliases": list, "at_once": bool, "each": bool, "confirm": bool,
    },
    "setup": _TOLD,
}  # fmt: skip
_TYPES = {int: "a whole number", bool: "true or false", str: "a text", list: "a list of texts", dict: "a table"}
_CHOICES: "dict[str, tuple[str, ...]]" = {
    "kind": KINDS, "alive": ("always", "serving"), "hooks.use": HOOKS, "permissions.kernel": KERNEL,
    "where": ("terminal", "chat", "api"), **{f"{table}.who": who for table, who in WHO.items()},
}  # fmt: skip
_WORD = (r"[a-z0-9][a-z0-9_-]{0,31}", "must be one word of a-z, 0-9, - and _, 32 letters at most")
_NAMES = {
    "commands": (r"[a-z0-9][a-z0-9-]*( [a-z0-9][a-z0-9-]*){0,2}", "must be up to three words of a-z, 0-9 and -"),
    "slash": _WORD,
    "setup": (r"\S+", "must be one word"),
}
_PATTERNS = {
    "name": (r"[a-z0-9][a-z0-9_-]*", "must be lower-case letters, digits, - and _"),
    "summary": (r".*\S.*", "is missing: one sentence that says what it does"),
    "aliases": _WORD,
    "class": (r"[\w.]*:\w+", "must look like package.module:Class"),
    "secrets": (r"[A-Za-z_]\w*\*?", "must be the name of an environment variable"),
    "routes": (r"[A-Za-z0-9_][A-Za-z0-9_.-]*", "must be the last word of a path: letters, digits, ., - and _"),
    "skills": (r"(?!/)(?!.*\.\.).+", "must be a folder beside the manifest"),
}


class Manifest:
    """One plugin's declaration. Made by ``parse_manifest``; ``data`` is the mapping it was made from."""

    def __init__(self, data: "Mapping[str, JSON]") -> None:
        contributes, config, asked = (data.get(table, {}) for table in ("contributes", "config", "permissions"))
        self.data = data
        self.api: int = data["api"]
        self.name: str = data["name"]
        self.kind: str = data["kind"]
        self.summary: str = data["summary"]
        self.homepage: str = data.get("homepage", "")
        self.alive: str = data.get("alive", "always")
        self.contributes: dict[str, tuple[str, ...]] = {t: tuple(contributes.get(t, ())) for t in TABLES}
        self._records: dict[str, Mapping[str, Record]] = {}
        for table in RECORDS:
            self.contributes[table] = tuple(self._names(table, data.get(table, {})))
        self.hooks: tuple[str, ...] = tuple(data.get("hooks", {}).get("use", ()))
        self.config_section: str = config.get("section", "")
        self.config_class: str = config.get("class", "")
        wanted = (tuple(asked.get(table, ())) for table in PERMISSIONS)
        self.secrets, self.kernel, self.public, self.network, self.processes, self.files = wanted

    def _names(self, table: str, told: "Mapping[str, JSON]") -> "Iterator[str]":
        """Yield what is contributed to a table of records: what is listed, what is told, and other names of that."""
        listed = self.contributes[table]
        found = [words for words in dict.fromkeys((*listed, *told)) if words.count(" ") < 2]  # what lies deeper comes
        heads = {words.partition(" ")[0] for words in found if " " in words}
        for words in found:  # with what it is below
            if words in listed or table != "commands" or words not in heads:
                yield words
                yield from told.get(words, {}).get("aliases", ())

    def records(self, table: str) -> "Mapping[str, Record]":
        """Return its records of a table by their names: ``commands`` with headings, ``slash``, ``setup``, ``config``.

        One whose table names no group stands in its heading's; what is only listed is described as the plugin is.
        """
        if table not in self._records:
            told, found = self.data.get(table, {}), {}
            if table == "config":
                told = {self.config_section: told} if told else {}
            aliases = {name for row in told.values() for name in row.get("aliases", ())}
            listed = (name for name in self.contributes.get(table, ()) if name not in aliases)
            for words in dict.fromkeys((*told, *listed)):
                row, heading = told.get(words, {}), told.get(words.partition(" ")[0], {})
                group, who = row.get("group") or heading.get("group", ""), row.get("who", WHO[table][0])
                summary = row.get("summary", self.summary)
                found[words] = Record(words, summary, group, who=who, owner=self.label, told=row)
            self._records[table] = found
        return self._records[table]

    @property
    def label(self) -> str:
        """``kind/name``, how people and faults call the plugin."""
        return f"{self.kind}/{self.name}"

    def declares(self, key: str, name: str, table: str = "contributes") -> bool:
        """Tell whether ``[table] key`` holds a name. ``prefix*`` declares names that are only known at run time."""
        names = self.contributes.get(key, ()) if table == "contributes" else self.data.get(table, {}).get(key, ())
        return name in names or any(n.endswith("*") and name.startswith(n[:-1]) for n in names)


def parse_manifest(data: "Mapping[str, JSON]", *, where: str) -> Manifest:
    """Check a manifest and make a value of it.

    ``api`` is understood before anything else is judged, so that a future manifest reads as "needs a newer kernel".
    Raises Incompatible, or ManifestError with every problem at once.
    """
    from hermes_core.errors import Incompatible, ManifestError

    who, api = str(data.get("name") or where), data.get("api")
    if not isinstance(api, int) or isinstance(api, bool) or api < 1:
        raise ManifestError(who, f"{where}: api must be {API}", hint=f"Write 'api = {API}' as the first line.")
    if api > API:
        text = f"needs a newer hermes-core (plugin API {api}, this is {API})"
        raise Incompatible(who, text, hint="pip install --upgrade hermes-core")
    if problems := list(_problems(data)):
        text = f"{where}: {'; '.join(problems)}"
        raise ManifestError(who, text, hint=f"Correct {where}, or ask the plugin's author.")
    return Manifest(data)


def read_manifest(path: "Path | str") -> Manifest:
    """Read ``hermes-plugin.toml``, or the ``# /// hermes`` block of a single-file plugin.

    Raises ManifestError when there is none or it cannot be read, Incompatible when it is from the future.
    """
    import os
    import tomllib

    from hermes_core.errors import ManifestError

    where = os.fspath(path)
    if os.path.exists(where) and not os.path.isfile(where):  # noqa: PTH110, PTH113 - a pipe would be waited for
        raise ManifestError(where, "is not a file", hint="Take it out of the plugins folder.")
    try:
        with open(where, encoding="utf-8") as file:  # noqa: PTH123 - pathlib costs start-up
            text = file.read()
        return parse_manifest(tomllib.loads(_block(text) if where.endswith(".py") else text), where=where)
    except FileNotFoundError:
        raise ManifestError(where, "has no manifest", hint=f"The plugin needs the file {where}.") from None
    except LookupError:
        hint = "Put the manifest into a comment block that starts with '# /// hermes' and ends with '# ///'."
        raise ManifestError(where, "has no manifest, or more than one", hint=hint) from None
    except (OSError, ValueError) as error:
        raise ManifestError(where, f"{where}: cannot be read: {error}", hint=f"Correct {where}.") from None


def _block(text: str) -> str:
    import re

    found = re.findall(r"(?m)^# /// hermes *\r?\n((?:#(?: .*)?\r?\n)+?)# /// *$", text)
    if len(found) != 1:
        raise LookupError
    return "\n".join(line.rstrip("\r")[2:] for line in found[0].splitlines())


def _problems(data: "Mapping[str, JSON]") -> "Iterator[str]":
    yield from (f"{key} is missing" for key in ("name", "kind", "summary") if key not in data)
    for table, known in _SHAPE.items():
        found = data.get(table, {}) if table else data
        if isinstance(found, dict):
            for key, value in found.items():
                if table or not key.startswith("x-"):
                    yield from _key_problems(f"{table}.{key}" if table else key, key, value, known)
    for table in RECORDS:
        rows = data.get(table, {})
        for words, row in rows.items() if isinstance(rows, dict) else ():
            yield from _record_problems(table, words, row)
    config = data.get("config", {})
    if isinstance(config, dict) and config and not {"section", "class"} <= config.keys():
        yield "config needs both section and class"


def _record_problems(table: str, words: str, row: "JSON") -> "Iterator[str]":
    """Yield what is wrong with one record in a table of them."""
    import re

    path = f'{table}."{words}"'
    pattern, complaint = _NAMES[table]
    if not re.fullmatch(pattern, words):
        yield f"{path} {complaint}"
    if not isinstance(row, dict):
        yield f"{path} must be a table"
        return
    if "summary" not in row:
        yield f"{path}.summary is missing: one sentence that says what it does"
    if row.get("default") and " " in words:
        yield f"{path}.default is for a command of one word"
    for key, value in row.items():
        yield from _key_problems(f"{path}.{key}", key, value, RECORDS[table], _CHOICES.get(f"{table}.{key}", ()))


def _key_problems(
    path: str, key: str, value: "JSON", known: "Mapping[str, type]", choices: tuple[str, ...] = ()
) -> "Iterator[str]":
    import re

    from hermes_core.errors import nearest

    values = value if isinstance(value, list) else [value]
    choices = choices or _CHOICES.get(path) or _CHOICES.get(key, ())
    pattern, complaint = _PATTERNS.get(key, ("", ""))
    if key not in known:
        close = next((one for one in known if key.startswith(one)), "") or nearest(key, known)
        yield f"{path}: no such key" + (f"; did you mean {close}?" if close else "")
    elif not isinstance(value, known[key]) or (
        known[key] is list and not all(isinstance(one, str) and one.strip() for one in values)
    ):
        yield f"{path} must be {_TYPES[known[key]]}"
    elif choices:
        for one in values:
            if one not in choices:
                close = nearest(one, choices)
                advice = f"did you mean {close}?" if close else f"use {', '.join(choices)}"
                yield f"{path}: there is no {one!r}; {advice}"
    elif pattern and not all(re.fullmatch(pattern, one, re.DOTALL) for one in values):
        yield f"{path} {complaint}"
