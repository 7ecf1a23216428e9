"""Syntax, by the parsers that are at hand: nothing is started for it but the shell."""

import posixpath
import re
import sys
import warnings
from collections.abc import Callable, Sequence

from hermes_core.patterns import pattern
from hermes_tool_diagnostics.problems import Problem

DEEP = 300  # collections within collections
_SHELLS = ("#!/bin/sh", "#!/bin/bash", "#!/usr/bin/env bash")
# Files with such endings that are no plain JSON, or no YAML before they are filled in.
_COMMENTED = pattern(r"(?:^|/)(?:[tj]sconfig[^/]*|\.eslintrc|devcontainer|\.swcrc)\.json$|/\.vscode/|\.code-workspace$")
_TEMPLATE = pattern(r"/templates/|\.j2$")
_SHELL_LINE = pattern(r"^[^\n:]*: (?:line )?(\d+): (.+)$", re.MULTILINE)
_AT = pattern(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def language_of(path: str, text: str) -> str:
    """The language that a parser is at hand for; empty for any other."""
    name = posixpath.basename(path).lower()
    ending = posixpath.splitext(name)[1]
    if ending in (".sh", ".bash") or (
        not ending and text.startswith(("#!/bin/sh", "#!/bin/bash", "#!/usr/bin/env bash"))
    ):
        return "shell"
    if ending in (".json", ".ipynb") and not _COMMENTED.search(path):
        return "json"
    if ending in (".yaml", ".yml") and not _TEMPLATE.search(path):
        return "yaml"
    return {
        ".py": "python", ".pyi": "python", ".toml": "toml", ".xml": "xml", ".svg": "xml", ".xhtml": "xml",
    }.get(ending, "")  # fmt: skip


def check(language: str, text: str) -> Sequence[Problem]:
    """The first syntax error of a text, if there is one."""
    known: dict[str, Callable[[str], Problem | None]] = {
        "python": _python, "json": _json, "yaml": _yaml, "toml": _toml, "xml": _xml,
    }  # fmt: skip
    problem = known[language](text) if language in known else None
    return [problem] if problem else []


def _python(text: str) -> Problem | None:
    import ast

    source = f"Python {sys.version_info[0]}.{sys.version_info[1]}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as error:
        at, column = error.lineno or 1, error.offset or 1
        return Problem(line=at, column=column, message=error.msg or "invalid syntax", source=source)
    except (ValueError, RecursionError, MemoryError) as error:
        return Problem(line=1, message=str(error) or type(error).__name__, source=source)
    return None


def _json(text: str) -> Problem | None:
    import json

    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return Problem(line=error.lineno, column=error.colno, message=error.msg, source="JSON")
    except RecursionError:
        return Problem(line=1, message="it is nested too deep", source="JSON")
    return None


def _yaml(text: str) -> Problem | None:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        depth = 0
        for event in yaml.parse(text, Loader=loader):  # events only: nothing is built, no alias is followed
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEP:  # the parser takes ever longer for what comes
                return Problem(
                    line=mark.line + 1 if (mark := event.start_mark) else 1,
                    message="it is nested too deep",
                    source="YAML",
                )
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        said = error.problem or error.context or "invalid"
        return Problem(
            line=mark.line + 1 if mark else 1, column=mark.column + 1 if mark else 1, message=said, source="YAML"
        )
    except (yaml.YAMLError, RecursionError) as error:
        return Problem(line=1, message=" ".join(str(error).split())[:200] or "nested too deep", source="YAML")
    return None


def _toml(text: str) -> Problem | None:
    import tomllib

    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        said = str(error)
        place = _AT.search(said)
        line, column = (int(place[1]), int(place[2])) if place and place[1] else (text.count("\n") + 1, 1)
        return Problem(line=line, column=column, message=_AT.sub("", said), source="TOML")
    except RecursionError:
        return Problem(line=1, message="it is nested too deep", source="TOML")
    return None


class _Declared(Exception):
    """An entity is declared, and what it makes of the text is not looked at."""


def _xml(text: str) -> Problem | None:
    from xml.parsers import expat

    def declared(*_: object) -> None:
        raise _Declared

    parser = expat.ParserCreate()
    parser.EntityDeclHandler = declared
    try:
        parser.Parse(text.encode(errors="replace"), True)
    except expat.ExpatError as error:
        said = expat.errors.messages.get(error.code, "invalid")
        return Problem(line=error.lineno, column=error.offset + 1, message=said, source="XML")
    except _Declared:
        return None
    return None


def of_shell(output: str) -> Sequence[Problem]:
    """What ``sh -n`` said, as problems."""
    return [Problem(line=int(found[1]), message=found[2], source="shell") for found in _SHELL_LINE.finditer(output)][:1]


def shell_of(text: str) -> str:
    """The shell that a script is for."""
    first = text.partition("\n")[0]
    return "sh" if first.startswith("#!") and "bash" not in first and "zsh" not in first else "bash"
