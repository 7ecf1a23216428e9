"""Searching with the programs of the workspace: ripgrep where it is there, else grep and find."""

import posixpath
import re
from collections.abc import Callable, Sequence
from itertools import groupby

from hermes_core.errors import ToolError
from hermes_core.kinds import Workspace
from hermes_core.patterns import pattern
from hermes_core.types import ExecRequest
from hermes_core.values import frozen

SECONDS = 60.0
OUTPUT = 2_000_000
WIDTH = 500  # characters shown of one line
SKIPPED = (".git", "node_modules", "__pycache__", ".venv", ".tox", ".mypy_cache", ".pytest_cache", ".ruff_cache")
_ROW = pattern(r"(?P<path>[^\0\n]+)\0(?P<number>\d+)(?P<mark>[:-])(?P<text>.*)")

# Newest first over the whole tree; ripgrep's own --sort=modified orders only within each folder.
_STAT = "if stat -c %Y / >/dev/null 2>&1; then flag=-c; form='%Y %n'; else flag=-f; form='%m %N'; fi; "
_ORDER = ' xargs -0 stat "$flag" "$form" 2>/dev/null | sort -k1,1rn -k2 | cut -d\' \' -f2-'
_FIND_RIPGREP = _STAT + 'rg "$@" |' + _ORDER
_PRUNED = " -o ".join(f"-name {name}" for name in SKIPPED)
_FIND = _STAT + f'find "$1" -type d \\( {_PRUNED} \\) -prune -o -type f -name "$2" -print0 2>/dev/null |' + _ORDER

_LIST = """
[ -e "$1" ] || exit 44; [ -d "$1" ] || exit 45
find "$1" -mindepth 1 -maxdepth "$2" \\( -type d \\( PRUNED \\) -prune -exec printf '%s/ (not shown)\\0' {} + \\) \
-o \\( -type d -exec printf '%s/\\0' {} + \\) -o -exec printf '%s\\0' {} +
""".replace("PRUNED", _PRUNED)


@frozen(kw_only=True)
class Search:
    """What to look for, where, and how much to tell. ``is_open`` says whether what is in a file may be shown."""

    pattern: str
    root: str
    glob: str = ""
    limit: int = 50
    context: int = 0
    is_open: Callable[[str], bool] = lambda path: True


async def _output(workspace: Workspace, argv: Sequence[str], root: str, fine: Sequence[int] = (0,)) -> str:
    result = await workspace.run(ExecRequest(argv=argv, seconds=SECONDS, limit=OUTPUT))
    text = result.output.decode(errors="replace")
    if result.status == 124:
        raise ToolError(f"The search took longer than {SECONDS:.0f} s.", hint="Search a smaller folder or add a glob.")
    # Some unreadable folders do not spoil what was found in the others.
    if result.status not in fine and not _ROW.search(text):
        await _there(workspace, root)
        raise ToolError(f"The search failed: {text.strip()[:600] or f'exit {result.status}'}")
    return text


async def _there(workspace: Workspace, root: str) -> None:
    """Raise ToolError when nothing is at this path: what looks there says so in many ways, or not at all."""
    argv = ("sh", "-c", '[ -e "$1" ] || exit 44', "sh", root)
    if (await workspace.run(ExecRequest(argv=argv, seconds=SECONDS, limit=OUTPUT))).status == 44:
        raise ToolError(f"{root} does not exist.")


async def search_content(workspace: Workspace, search: Search, *, ripgrep: bool) -> str:
    """Matching lines, grouped by file. Raises ToolError when the pattern cannot be used."""
    if ripgrep:
        argv = ["rg", "-n", "-H", "-0", "--no-heading", "--color=never", "--hidden", "-g!.git", "-M5000"]
        argv += ["--no-messages", f"-m{search.limit + 1}"]
        argv += [f"-g{search.glob}"] if search.glob else []
    else:
        argv = ["grep", "-rnHIEs", "--null", "--color=never", f"-m{search.limit + 1}"]
        argv += [f"--exclude-dir={name}" for name in SKIPPED]
        argv += [f"--include={search.glob}"] if search.glob else []
    argv += [f"-C{search.context}"] if search.context else []
    rows = await _output(workspace, [*argv, "-e", search.pattern, "--", search.root], search.root, (0, 1))
    return _grouped(rows, search)


def _grouped(output: str, search: Search) -> str:
    found = [match for line in output.split("\n") if (match := _ROW.fullmatch(line))]
    closed = {path for path in {match["path"] for match in found} if not search.is_open(path)}
    found = [match for match in found if match["path"] not in closed]
    found.sort(key=lambda match: (match["path"], int(match["number"])))
    # With context a line can be context of one match and a match itself; the match wins.
    rows: dict[tuple[str, int], tuple[str, str]] = {}
    for match in found:
        place = (match["path"], int(match["number"]))
        if place not in rows or match["mark"] == ":":
            rows[place] = (match["mark"], match["text"].rstrip("\r"))
    matches = 0
    told: list[str] = []
    for path, group in groupby(rows.items(), key=lambda row: row[0][0]):
        if matches >= search.limit:
            break
        told.append(_shown_path(path, search.root))
        for (_, number), (mark, text) in group:
            matches += mark == ":"
            if matches > search.limit:
                break
            told.append(f"  {number}{'|' if mark == ':' else '-'}{text[:WIDTH]}{'…' if len(text) > WIDTH else ''}")
    total = sum(mark == ":" for mark, _ in rows.values())
    told += _left_out(len(closed), "matching file")
    if not total:
        return "\n".join(["No match.", *told])
    if total > search.limit:
        told.append(f"[more than {search.limit} matches; narrow the pattern, the path or the glob]")
    return "\n".join(told)


async def search_names(workspace: Workspace, search: Search, *, ripgrep: bool) -> str:
    """Files whose name fits, newest first. Raises ToolError."""
    pattern = search.pattern or "*"
    if not re.search(r"[*?\[]", pattern):
        pattern = f"*{pattern}*"
    if ripgrep:
        script, words = _FIND_RIPGREP, ["--files", "-0", "--hidden", "--no-messages", "-g!.git", f"-g{pattern}", "--"]
        words.append(search.root)
    else:
        script, words = _FIND, [search.root, pattern.rpartition("/")[2]]
    output = await _output(workspace, ["sh", "-c", script, "sh", *words], search.root)
    found = [name for name in output.split("\n") if name]
    names = [name for name in found if search.is_open(name)]
    closed = _left_out(len(found) - len(names), "file")
    if not found:
        await _there(workspace, search.root)
    if not names:
        return "\n".join(["No such file.", *closed])
    told = [_shown_path(name, search.root) for name in names[: search.limit]]
    if len(names) > search.limit:
        told.append(f"[{len(names) - search.limit:,} more; narrow the pattern or the path]")
    return "\n".join([*told, *closed])


def _left_out(count: int, what: str) -> list[str]:
    return [f"[left out: {count:,} {what}{'s' * (count > 1)} of Hermes itself, closed to tools]"] if count else []


async def list_folder(
    workspace: Workspace, root: str, depth: int, limit: int, is_open: Callable[[str], bool] = lambda path: True
) -> str:
    """What is in a folder, folders with a slash, as far as it ``is_open``. Raises ToolError when it is none."""
    request = ExecRequest(argv=("sh", "-c", _LIST, "sh", root, str(depth)), seconds=SECONDS, limit=OUTPUT)
    result = await workspace.run(request)
    if result.status in (44, 45):
        raise ToolError(f"{root} {'does not exist' if result.status == 44 else 'is a file, not a folder'}.")
    rows = result.output.decode(errors="replace").split("\0")
    shown = [row for row in rows[:-1] if is_open(row.removesuffix(" (not shown)").rstrip("/"))]
    names = sorted(_shown_path(row, root) for row in shown)
    closed = _left_out(len(rows) - 1 - len(shown), "name")
    if result.status and not names:
        raise ToolError(f"Cannot list {root}: {rows[-1].strip()[:300]}")
    told = names[:limit]
    if len(names) > limit:
        told.append(f"[{len(names) - limit:,} more; list a folder in it, or use a smaller depth]")
    return "\n".join([*(told or ["The folder is empty."]), *closed])


def _shown_path(path: str, root: str) -> str:
    inside = path.removeprefix(root.rstrip("/") + "/") if path.startswith("/") else path
    return inside if inside != root else posixpath.basename(path)
