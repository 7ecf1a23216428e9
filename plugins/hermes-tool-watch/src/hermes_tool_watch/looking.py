"""What is seen of something now, and what of that is new. Nothing here remembers: rows do."""

import difflib
import fnmatch
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from hermes_core.errors import UserError
from hermes_core.kinds import Workspace
from hermes_core.types import ExecRequest, Feature
from hermes_tool_watch.values import Watch

__all__ = ["differs", "is_small", "run", "scan", "text_of"]

_TOLD = 4_000  # characters of what is told
_NAMES = 50  # of files that are told
_KEPT = 200_000  # characters of a page, or of what a command said, that are compared
_ENTRIES = 500  # of a feed that are known
_FOLDERS = 1_000  # below a path that are listened to: all else stands still until the system has heard of each
_SECONDS = 120.0  # of a command
_CUT = re.compile(r"^\[\.\.\. \d+ bytes left out \.\.\.\]$", re.MULTILINE)


def scan(one: Watch, most: int) -> str:
    """Return the files of a path as JSON, each with its size and time. Raises UserError for more than ``most``."""
    root = Path(one.what)
    found: dict[str, list[int]] = {}
    for path, name in _files(root):
        if one.globs and not any(fnmatch.fnmatch(name, glob) for glob in one.globs):
            continue
        try:
            status = path.lstat()
        except OSError:
            continue  # it went meanwhile
        if stat.S_ISREG(status.st_mode):
            found[name] = [status.st_size, status.st_mtime_ns]
        if len(found) > most:
            raise UserError(f"There are more than {most:,} files in {one.what}.", hint="Narrow it by --glob.")
    return json.dumps(found, sort_keys=True)


def _files(root: Path) -> Iterator[tuple[Path, str]]:
    """Yield the files of a path with their names below it. No link is followed out of it."""
    if not root.is_dir():
        yield root, root.name
        return
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in (".git", "node_modules", "__pycache__", ".venv"))
        for name in names:
            path = Path(folder, name)
            yield path, str(path.relative_to(root))


def is_small(path: str) -> bool:
    """Tell whether there are so few folders below a path that the system can be asked to tell of each."""
    folders = os.walk(path, followlinks=True)  # as the system is asked to: a link may lead to all there is
    return all(number < _FOLDERS for number, _ in enumerate(folders))


def text_of(kind: str, body: bytes, content_type: str) -> str:
    """Return what is compared of a page or a feed. Raises UserError where a feed is none."""
    if kind == "feed":
        return json.dumps(_entries(body), ensure_ascii=False)
    text = body.decode("utf-8", "replace")
    if "html" in content_type or text.lstrip()[:15].lower().startswith(("<!doctype html", "<html")):
        from hermes_documents.markdown import from_html

        text = from_html(text)
    return text[:_KEPT]


def _entries(body: bytes) -> Sequence[Sequence[str]]:
    """Return the entries of a feed, RSS or Atom, newest first as most have them: id, title, link, summary."""
    from xml.etree.ElementTree import Element, ParseError

    from defusedxml.common import DefusedXmlException  # type: ignore[import-untyped]
    from defusedxml.ElementTree import fromstring  # type: ignore[import-untyped]

    try:
        root: Element = fromstring(body)
    except (ParseError, DefusedXmlException, ValueError, LookupError) as error:  # also an encoding that is none
        raise UserError("It is no feed that can be read.") from error

    def said(entry: Element, *names: str) -> str:
        for part in entry:
            if part.tag.rpartition("}")[2] in names:
                return " ".join((part.text or part.get("href") or "").split())
        return ""

    found = []
    for entry in root.iter():
        if entry.tag.rpartition("}")[2] in ("item", "entry"):
            title, link = said(entry, "title")[:300], said(entry, "link")[:500]
            known = said(entry, "guid", "id")[:500] or link or title
            found.append((known, title, link, said(entry, "summary", "description")[:300]))
    if not found and root.tag.rpartition("}")[2] not in ("rss", "feed", "RDF"):
        raise UserError("It is no feed: it has no entries.")
    return found[:_ENTRIES]


async def run(one: Watch, place: Workspace) -> str:
    """Return what a command says, behind the wall of where it runs. Raises UserError where there is none, ToolError."""
    if not place.wall.name or (place.wall.name == "none" and Feature.ISOLATED not in place.features):
        hint = "hermes doctor --walls says what is missing."
        raise UserError("Commands are watched behind a wall only, and there is none here.", hint=hint)
    folder = one.folder or place.cwd
    wanted = ExecRequest(argv=("sh", "-c", one.what), cwd=folder, seconds=_SECONDS, limit=_KEPT)
    result = await place.run(wanted)
    said = result.output.decode("utf-8", "replace")
    if result.truncated:  # how much was left out changes with what was: what is kept is compared
        said = _CUT.sub("[... left out ...]", said)
    return f"{said}\n(exit status {result.status})" if result.status else said


def differs(one: Watch, seen: str) -> str:
    """Return what is new, in words; empty where nothing is, or this is the first look."""
    if not one.seen or one.seen == seen:
        return ""
    if one.kind == "path":
        return _files_told(json.loads(one.seen), json.loads(seen))
    if one.kind == "feed":
        known = {entry[0] for entry in json.loads(one.seen)}
        new = [entry for entry in json.loads(seen) if entry[0] not in known]
        return _cut("\n\n".join("\n".join(filter(None, entry[1:])) or entry[0] for entry in new))
    lines = difflib.unified_diff(one.seen.splitlines(), seen.splitlines(), "before", "now", n=1, lineterm="")
    return _cut("\n".join(lines))


def _files_told(before: Mapping[str, object], now: Mapping[str, object]) -> str:
    told = {
        "new": [name for name in now if name not in before],
        "changed": [name for name in now if name in before and now[name] != before[name]],
        "gone": [name for name in before if name not in now],
    }
    lines = [f"{what}: {ascii(name)[1:-1] if not name.isprintable() else name}" for what in told for name in told[what]]
    more = [f"and {len(lines) - _NAMES} more"] if len(lines) > _NAMES else []
    return _cut("\n".join([*lines[:_NAMES], *more]))


def _cut(text: str) -> str:
    return text if len(text) <= _TOLD else f"{text[:_TOLD]}…"
