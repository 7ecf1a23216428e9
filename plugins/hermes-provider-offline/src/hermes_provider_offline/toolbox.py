"""Finding a tool for what is to be done, by its name and its schema, and filling in its arguments."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from shlex import quote

from hermes_core.types import JSON, ToolSpec
from hermes_core.values import frozen

ROLES: Mapping[str, Sequence[str]] = {
    "path": ("path", "file_path", "filename", "file", "directory", "dir", "folder"),
    "content": ("content", "contents", "text", "data"),
    "pattern": ("pattern", "query", "regex", "text"),
    "glob": ("pattern", "glob", "name", "include"),
    "scope": ("target", "scope", "kind"),
    "offset": ("offset", "start", "start_line"),
    "limit": ("limit", "max_results"),
    "command": ("command", "cmd", "script"),
    "query": ("query", "q", "words", "text"),
    "fact": ("text", "content", "fact", "note", "memory"),
    "old": ("old", "old_text", "old_string", "match"),
    "new": ("new", "new_text", "new_string", "replacement"),
    "action": ("action", "operation"),
    "target": ("target", "file", "store"),
    "literal": ("literal", "fixed", "fixed_strings"),
}
_SYNONYMS: Mapping[str, Sequence[str]] = {
    "add": ("add", "store", "save", "create", "remember"),
    "files": ("files", "names", "filenames"),
    "remove": ("remove", "delete", "forget"),
}


@frozen(kw_only=True)
class Ability:
    """Something a tool can do: likely names, the roles its schema must have, whether it changes anything."""

    names: Sequence[str]
    needs: Sequence[str] = ()
    changes: bool = False


ABILITIES: Mapping[str, Ability] = {
    "list": Ability(names=("list_files", "list_dir", "list_directory", "ls")),
    "find": Ability(names=("find_files", "glob", "search_files", "list_files"), needs=("glob",)),
    "read": Ability(names=("read_file", "view_file", "open_file", "read"), needs=("path",)),
    "write": Ability(
        names=("write_file", "create_file", "save_file", "write"), needs=("path", "content"), changes=True
    ),
    "edit": Ability(names=("edit_file", "replace_in_file", "edit"), needs=("path", "old", "new"), changes=True),
    "search": Ability(names=("search_files", "grep", "search_code", "search_in_files"), needs=("pattern",)),
    "run": Ability(
        names=("terminal", "shell", "bash", "run_command", "execute_command", "exec"), needs=("command",), changes=True
    ),
    "recall": Ability(names=("recall", "session_search", "search_sessions"), needs=("query",)),
    "recent": Ability(names=("recall", "session_search", "search_sessions")),
    "remember": Ability(names=("memory", "remember", "save_memory"), needs=("fact",), changes=True),
    "forget": Ability(names=("memory", "forget", "delete_memory"), needs=("old",), changes=True),
}
_ACTIONS: Mapping[str, str] = {
    "list": "lists files",
    "find": "finds files by name",
    "read": "reads files",
    "write": "writes files",
    "edit": "edits files",
    "search": "searches in files",
    "run": "runs commands",
    "recall": "searches past conversations",
    "recent": "lists past conversations",
    "remember": "keeps facts",
    "forget": "removes facts",
}


@frozen(kw_only=True)
class Call:
    """A tool call to make."""

    name: str
    arguments: Mapping[str, JSON]
    changes: bool = False


class CannotDo(Exception):
    """A step of the plan ends here; the text says why."""


class Toolbox:
    """The tools on offer."""

    def __init__(self, specs: Sequence[ToolSpec]) -> None:
        self._specs = {spec.name: spec for spec in specs}

    @property
    def names(self) -> Sequence[str]:
        """What is on offer, in the order it was offered."""
        return list(self._specs)

    def can(self, ability: str) -> bool:
        """Whether a tool for this is offered."""
        return self._find(ability) is not None

    def call(self, ability: str, **values: JSON) -> Call:
        """The call that does it, by its own tool or by a command. Raises CannotDo naming what is missing."""
        spec = self._find(ability)
        if spec and (arguments := _filled(spec, values)) is not None:
            return Call(name=spec.name, arguments=arguments, changes=ABILITIES[ability].changes)
        command = _COMMANDS[ability](values) if ability in _COMMANDS else ""
        shell = self._find("run") if command else None
        if shell and (arguments := _filled(shell, {"command": command})) is not None:
            return Call(name=shell.name, arguments=arguments, changes=ABILITIES[ability].changes)
        wanted = ABILITIES[ability].names[0]
        raise CannotDo(f"For this I need a tool that {_ACTIONS[ability]} (`{wanted}`), and none is offered here.")

    def by_name(self, name: str, words: str, quoted: Sequence[str] = ()) -> Call:
        """A call of the tool with this name, its arguments taken from a sentence. Raises CannotDo."""
        spec = self._specs.get(name)
        if spec is None:
            there = ", ".join(f"`{n}`" for n in self._specs) or "none"
            raise CannotDo(f"There is no tool named `{name}` here. There is: {there}.")
        arguments = _from_words(_properties(spec), words, quoted)
        missing = [n for n in spec.schema.get("required") or () if n not in arguments]
        if missing:
            raise CannotDo(f"The tool `{name}` also needs {', '.join(missing)}; write them as name=value.")
        return Call(name=name, arguments=arguments, changes=True)

    def _find(self, ability: str) -> ToolSpec | None:
        wanted = ABILITIES[ability]
        for name in wanted.names:
            spec = self._specs.get(name)
            if spec and _fits(spec, ability):
                return spec
        close = [s for s in self._specs.values() if any(name in s.name.casefold() for name in wanted.names[:2])]
        return next((s for s in close if _fits(s, ability)), None)


def _fits(spec: ToolSpec, ability: str) -> bool:
    """Whether a schema has what the ability needs; what searches in files finds names only if it can be told to."""
    if ability == "find" and "search" in spec.name:
        scope = _properties(spec).get(_property(spec, "scope"))
        return scope is not None and _allowed(scope, "files") is not None
    return all(_property(spec, role) for role in ABILITIES[ability].needs)


def _properties(spec: ToolSpec) -> Mapping[str, JSON]:
    found = spec.schema.get("properties")
    return found if isinstance(found, Mapping) else {}


def _property(spec: ToolSpec, role: str) -> str:
    known = _properties(spec)
    return next((name for name in ROLES[role] if name in known), "")


def _filled(spec: ToolSpec, values: Mapping[str, JSON]) -> dict[str, JSON] | None:
    """Arguments under the schema's own names; None when the schema asks for something unknown."""
    arguments: dict[str, JSON] = {}
    for role, value in values.items():
        name = _property(spec, role)
        if not name or name in arguments:
            continue
        fitting = _allowed(_properties(spec)[name], value)
        if fitting is not None:
            arguments[name] = fitting
    required = spec.schema.get("required") or ()
    return arguments if all(name in arguments for name in required) else None


def _from_words(properties: Mapping[str, JSON], words: str, quoted: Sequence[str]) -> dict[str, JSON]:
    """Arguments from a JSON object, from ``name=value``, or in the order in which they stand."""
    with suppress(ValueError, RecursionError):
        given = json.loads(words[words.index("{") : words.rindex("}") + 1])
        return {k: v for k, v in given.items() if k in properties}
    found: dict[str, JSON] = {}
    for name, value in re.findall(r"([\w.-]+)\s*=\s*(\"[^\"]*\"|`[^`]*`|\[[^\]]*\]|\S+)", words):
        if name in properties:
            found[name] = _typed(properties[name], value.strip('"`').rstrip(",;"))
    if found:
        return found
    numbers = iter(re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w])", words))
    texts = iter([*quoted, *([] if quoted else [words.strip()])])
    for name, schema in properties.items():
        kind = schema.get("type") if isinstance(schema, Mapping) else None
        value = (
            next(numbers, None) if kind in ("integer", "number") else next(texts, None) if kind == "string" else None
        )
        if value:
            found[name] = _typed(schema, value)
    return found


def _typed(schema: JSON, value: str) -> JSON:
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    if kind == "integer":
        return int(value) if re.fullmatch(r"-?\d{1,18}", value) else value
    if kind == "number":
        return float(value) if re.fullmatch(r"-?\d{1,18}(?:\.\d{1,18})?", value) else value
    if kind == "array":
        with suppress(ValueError, RecursionError):
            return json.loads(value) if value.startswith("[") else [value]
        return [value]
    return value.casefold() in ("true", "yes", "1") if kind == "boolean" else value


def _allowed(schema: JSON, value: JSON) -> JSON:
    """The value, or the word the schema has for it; None when it takes no such value."""
    if not isinstance(schema, Mapping):
        return value
    kind = schema.get("type")
    if isinstance(kind, str) and isinstance(value, str) and kind != "string":
        return [value] if kind == "array" else None
    if isinstance(value, int) and kind == "string":
        return None
    if isinstance(value, bool) and kind not in (None, "boolean"):
        return None
    choices = schema.get("enum")
    if not isinstance(choices, list) or value in choices:
        return value
    return next((word for word in _SYNONYMS.get(str(value), ()) if word in choices), None)


def _grep(values: Mapping[str, JSON]) -> str:
    return f"grep -rnIF -e {quote(str(values['pattern']))} -- {quote(str(values.get('path') or '.'))}"


def _find_names(values: Mapping[str, JSON]) -> str:
    return (
        f"find {quote(str(values.get('path') or '.'))} -name .git -prune -o -name {quote(str(values['glob']))} -print"
    )


_COMMANDS: Mapping[str, Callable[[Mapping[str, JSON]], str]] = {
    "list": lambda values: f"ls -1Ap -- {quote(str(values.get('path') or '.'))}",
    "read": lambda values: f"cat -- {quote(str(values['path']))}",
    "search": _grep,
    "find": _find_names,
    "write": lambda values: f"printf %s {quote(str(values['content']))} > {quote(str(values['path']))}",
}
