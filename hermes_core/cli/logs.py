"""``hermes logs``: what was logged."""

import json
import time
from collections import deque
from pathlib import Path

import click

from hermes_core.cli.scope import Scope
from hermes_core.errors import UserError

_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


@click.command()
@click.option("-n", "--lines", default=50, show_default=True, help="How many of the last lines.")
@click.option("-f", "--follow", is_flag=True, help="Go on printing what comes.")
@click.option(
    "--level", type=click.Choice(_LEVELS, case_sensitive=False), default="DEBUG", help="This level and above."
)
@click.option("--session", default="", help="Only lines of this session.")
@click.option("--json", "as_json", is_flag=True, help="The lines as they are: one JSON object each.")
@click.pass_obj
def logs(scope: Scope, lines: int, follow: bool, level: str, session: str, as_json: bool) -> None:
    """Show the log, newest last. It holds turns, tool calls, faults and errors, and never a secret."""
    path = scope.home.logs / "hermes.log"
    if not path.exists():
        raise UserError("Nothing was logged yet.", hint=f"The log will be {path}.")
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in deque((x for x in file if _wanted(x, level.upper(), session)), maxlen=lines):
            _show(line, as_json=as_json)
        while follow:
            line = file.readline()
            if line and _wanted(line, level.upper(), session):
                _show(line, as_json=as_json)
            elif not line:
                time.sleep(0.3)
                if _was_rotated(path, file.tell()):
                    file.seek(0)


def _was_rotated(path: Path, position: int) -> bool:
    return path.exists() and path.stat().st_size < position


def _wanted(line: str, level: str, session: str) -> bool:
    try:
        entry = json.loads(line)
    except ValueError:
        return True
    severe = entry.get("level", "INFO") not in _LEVELS[: _LEVELS.index(level)]
    return severe and (not session or str(entry.get("session", "")).startswith(session))


def _show(line: str, *, as_json: bool) -> None:
    if as_json:
        click.echo(line, nl=False)
        return
    try:
        entry = json.loads(line)
    except ValueError:
        click.echo(line, nl=False)
        return
    when, level, what = entry.pop("time", ""), entry.pop("level", ""), entry.pop("event", "")
    entry.pop("logger", None)
    rest = " ".join(f"{k}={v}" for k, v in entry.items())
    color = {"WARNING": "yellow", "ERROR": "red"}.get(level)
    click.echo(f"{when} {click.style(f'{level:<7}', fg=color)} {what} {click.style(rest, dim=True)}")
