"""The known language servers, what a person added, and which of them are there for a file."""

import posixpath
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from attrs import Factory

from hermes_core.kinds import Workspace
from hermes_core.types import ExecRequest
from hermes_core.values import frozen
from hermes_tool_diagnostics.config import Config

QUICK = 10.0
_MARK = "@"
# Programs of the project before those of the place; a mark is looked for from the file's folder up to the workspace's.
_FIND = r"""
dir=$1; top=$2; shift 2
up() { [ "$d" != "$top" ] && [ "$d" != / ] && d=$(dirname -- "$d"); }
for name do
  d=$dir
  case $name in
  @*) while :; do [ -e "$d/${name#@}" ] && { printf '%s\t%s\n' "$name" "$d"; break; }; up || break; done ;;
  *) found=
     while :; do
       for b in .venv/bin venv/bin node_modules/.bin; do
         [ -x "$d/$b/$name" ] && { found=$d/$b/$name; break; }
       done
       [ -z "$found" ] && up || break
     done
     [ -n "$found" ] || found=$(command -v -- "$name" 2>/dev/null)
     [ -n "$found" ] && printf '%s\t%s\n' "$name" "$found" ;;
  esac
done
exit 0
"""


@frozen(kw_only=True)
class Row:
    """A language server: how it is started, and for what."""

    name: str
    command: Sequence[str]
    files: Mapping[str, str]
    roots: Sequence[str] = ()
    group: str = ""
    settings: Mapping[str, Any] = Factory(dict)

    def language(self, path: str) -> str:
        """The language a file is in; empty for one it does not look at."""
        name = posixpath.basename(path).lower()
        return self.files.get(name) or self.files.get(posixpath.splitext(name)[1], "")


@frozen
class Found:
    """A server that is there, and the folder it is started in."""

    row: Row
    root: str


@cache
def known() -> Sequence[Row]:
    """The rows of ``servers.toml``, in its order."""
    text = Path(__file__).with_name("servers.toml").read_text(encoding="utf-8")
    return [Row(name=name, **row) for name, row in tomllib.loads(text).items()]


def rows_of(config: Config) -> Sequence[Row]:
    """Those of a person before the known ones, without what is off."""
    mine = [
        Row(name=name, command=row.command, files=row.files, roots=row.roots, group=name)
        for name, row in config.more.items()
        if row.command
    ]
    named = {row.name for row in mine}
    return [row for row in (*mine, *(one for one in known() if one.name not in named)) if row.name not in config.off]


async def found_for(workspace: Workspace, path: str, rows: Sequence[Row]) -> Sequence[Found]:
    """The servers that are there for a file, of each group the first. Raises ToolError."""
    rows = [row for row in rows if row.language(path)]
    top = workspace.cwd.rstrip("/")
    if not rows or not path.startswith(f"{top}/"):
        return []
    names = dict.fromkeys(row.command[0] for row in rows)
    marks = dict.fromkeys(f"{_MARK}{root}" for row in rows for root in row.roots)
    request = ExecRequest(argv=("sh", "-c", _FIND, "sh", posixpath.dirname(path), top, *names, *marks), seconds=QUICK)
    output = (await workspace.run(request)).output.decode(errors="replace")
    there = dict(line.split("\t", 1) for line in output.splitlines() if "\t" in line)
    found: dict[str, Found] = {}
    for row in rows:
        if row.command[0] not in there:
            continue
        root = next((there[f"{_MARK}{mark}"] for mark in row.roots if f"{_MARK}{mark}" in there), top)
        whole = Row(
            name=row.name, command=(there[row.command[0]], *row.command[1:]), files=row.files, roots=row.roots,
            group=row.group, settings=row.settings,
        )  # fmt: skip
        found.setdefault(row.group or row.name, Found(whole, root))
    return list(found.values())
