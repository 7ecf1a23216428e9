"""Cases: what is asked, with which files and tools, and what the answer has to be. Read from YAML or JSON lines."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from attrs import Factory, field, frozen

from hermes_core.errors import UserError
from hermes_core.types import JSON
from hermes_shapes.build import nearest

__all__ = ["Case", "digest_of", "read_cases"]

_FIELDS: dict[str, type] = {"name": str, "input": str, "expect": dict, "files": dict, "tools": list, "system": str}
_TEXTS = ("equals", "contains", "lacks", "regex")
_KINDS = (*_TEXTS, "schema", "judge", "files")
_TOLD = 20  # problems that are listed
_MOST = 8 * 2**20  # bytes of a file of cases


@frozen(kw_only=True)
class Case:
    """One case. ``files`` are put into its folder; it has no ``tools`` but those named; ``expect`` maps kinds to what
    is wanted, all of which has to hold."""

    name: str
    input: str
    expect: Mapping[str, JSON]
    files: Mapping[str, str] = Factory(dict)
    tools: Sequence[str] = ()
    system: str = ""
    works: bool = field(init=False)

    @works.default
    def _in_a_folder(self) -> bool:
        return bool(self.files or self.tools or "files" in self.expect)


def digest_of(*parts: JSON) -> str:
    """Give a name for what parts of JSON say: another one as soon as one of them changes."""
    return sha256(json.dumps(parts, sort_keys=True, ensure_ascii=False).encode("utf-8", "replace")).hexdigest()[:24]


def read_cases(path: Path) -> Sequence[Case]:
    """Read a file of cases: ``cases:`` and a list in YAML, or an object a line. Raises UserError with all problems."""
    try:
        if path.stat().st_size > _MOST:
            raise UserError(f"{path} is larger than {_MOST // 2**20} MiB.")
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from error
    rows = _lines(data, path) if path.suffix in (".jsonl", ".ndjson") else _yaml(data, path)
    problems: list[str] = []
    made = [_case(row, f"{path.name}: {where}", problems) for where, row in rows]
    twice = {one.name for number, one in enumerate(made) if one.name in {two.name for two in made[:number]}}
    problems += [f"{path.name}: two cases are called {name}" for name in sorted(twice - {""})]
    if not made:
        problems.append(f"{path.name}: there are no cases")
    if problems:
        more = f" (and {len(problems) - _TOLD} more)" if len(problems) > _TOLD else ""
        raise UserError("\n".join(problems[:_TOLD]) + more, hint="docs/how-to/evals.md shows what a case looks like.")
    return made


def _yaml(data: bytes, path: Path) -> list[tuple[str, JSON]]:
    from hermes_yaml_edit.document import Document, Unreadable

    try:
        document = Document.read(data, path.name)
    except Unreadable as error:
        raise UserError("\n".join(error.problems)) from error
    if unknown := set(document.data) - {"cases"}:
        raise UserError(f"{path.name}: {min(unknown)!r} is not known here; there is: cases.")
    rows = document.data.get("cases")
    if not isinstance(rows, list):
        raise UserError(f"{path.name}: `cases:` is a list, an entry for each case.")
    return [(f"line {document.line(['cases', number])}", row) for number, row in enumerate(rows)]


def _lines(data: bytes, path: Path) -> list[tuple[str, JSON]]:
    found: list[tuple[str, JSON]] = []
    for number, line in enumerate(data.decode("utf-8-sig", "replace").split("\n"), 1):
        if line.strip():
            try:
                found.append((f"line {number}", json.loads(line)))
            except (ValueError, RecursionError) as error:
                raise UserError(f"{path.name}: line {number} is no JSON: {error}") from error
    return found


def _case(row: JSON, where: str, problems: list[str]) -> Case:
    if not isinstance(row, dict):
        problems.append(f"{where}: a case is an object with `input` and `expect`")
        return Case(name="", input="", expect={})
    known: dict[str, Any] = {
        name: value for name, value in row.items() if isinstance(value, _FIELDS.get(name, type(None)))
    }
    for name in row.keys() - known.keys():
        if name in _FIELDS:
            problems.append(f"{where}: {name} is of another type than {_FIELDS[name].__name__}")
        else:
            problems.append(f"{where}: {name!r} is not known{_meant(name, _FIELDS)}")
    problems += [f"{where}: {name} is missing" for name in ("input", "expect") if name not in row]
    files = {str(name): str(text) for name, text in known.get("files", {}).items()}
    tools = [str(one) for one in known.get("tools", ())]
    problems += [f"{where}: {name!r} does not lie in the folder of the case" for name in files if not _inside(name)]
    if "expect" in known:
        _check(known["expect"], where, problems)
    name = " ".join(known.get("name", "").split()) or " ".join(known.get("input", "").split())[:40]
    return Case(
        name=name, input=known.get("input", ""), expect=known.get("expect", {}), files=files, tools=tools,
        system=known.get("system", ""),
    )  # fmt: skip


def _inside(name: str) -> bool:
    return bool(name) and not Path(name).is_absolute() and ".." not in Path(name).parts and "\0" not in name


def _check(expect: Mapping[str, Any], where: str, problems: list[str], kinds: Sequence[str] = _KINDS) -> None:
    """Tell what is wrong with what a case expects."""
    if not expect:
        problems.append(f"{where}: expect is empty; it takes {', '.join(kinds)}")
    for kind, wanted in expect.items():
        if kind not in kinds:
            problems.append(f"{where}: expect.{kind} is not known{_meant(kind, kinds)}")
        elif kind in _TEXTS:
            _check_texts(kind, wanted, where, problems)
        elif kind == "schema":
            _check_schema(wanted, where, problems)
        elif kind == "judge":
            least = wanted.get("least", 0.5) if isinstance(wanted, dict) else 0.5
            rubric = wanted.get("rubric") if isinstance(wanted, dict) else wanted
            if not _is_text(rubric) or not isinstance(least, int | float) or not 0 <= least <= 1:
                problems.append(f"{where}: expect.judge is a rubric, or {{rubric: …, least: 0 to 1}}")
        else:
            _check_files(wanted, where, problems)


def _check_texts(kind: str, wanted: JSON, where: str, problems: list[str]) -> None:
    texts = wanted if isinstance(wanted, list) else [wanted]
    if not texts or not all(map(_is_text, texts)):
        problems.append(f"{where}: expect.{kind} is a text, or a list of them")
        return
    for one in texts if kind == "regex" else ():
        try:
            re.compile(one)
        except re.error as error:
            problems.append(f"{where}: expect.regex is no expression: {error}")


def _check_files(wanted: JSON, where: str, problems: list[str]) -> None:
    for name, inner in wanted.items() if isinstance(wanted, dict) else [("", None)]:
        if not isinstance(inner, dict) or not _inside(str(name)):
            problems.append(f"{where}: expect.files maps paths to what they hold, as contains: …")
        else:
            _check(inner, f"{where}: {name}", problems, (*_TEXTS, "schema"))


def _check_schema(wanted: JSON, where: str, problems: list[str]) -> None:
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
    from jsonschema.exceptions import SchemaError  # type: ignore[import-untyped]

    try:
        Draft202012Validator.check_schema(wanted)
    except SchemaError as error:
        problems.append(f"{where}: expect.schema is no JSON Schema: {error.message}")


def _meant(name: object, known: Iterable[str]) -> str:
    found = nearest(str(name), known)
    return f"; did you mean {found}?" if found else f"; there is: {', '.join(known)}"


def _is_text(value: JSON) -> bool:
    return isinstance(value, str) and bool(value)
