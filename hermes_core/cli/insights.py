"""``hermes insights`` and ``hermes logs``: what is used, what happened."""

import json
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence

import click

from hermes_core.cli.scope import Scope
from hermes_core.cli.sessions import with_store
from hermes_core.cli.table import emit, json_option
from hermes_core.errors import UserError

_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


@click.command()
@click.option("--days", default=30, type=click.IntRange(min=1), show_default=True, help="How many days back.")
@json_option
@click.pass_obj
def insights(scope: Scope, days: int, as_json: bool) -> None:
    """Turns, calls, tokens, cache hits and cost by day and model."""
    found = with_store(scope, lambda store, owner: store.usage_by_day(owner, days=days))
    rows = [
        {
            "day": r.day,
            "provider": r.provider,
            "model": r.model,
            "turns": r.turns,
            "calls": r.calls,
            "input": r.usage.input,
            "output": r.usage.output,
            "cache_hits": f"{100 * r.usage.cache_read // r.usage.input} %" if r.usage.input else "-",
            "cost": round(r.usage.cost, 4),
        }
        for r in found
    ]
    columns = ("day", "provider", "model", "turns", "calls", "input", "output", "cache_hits", "cost")
    emit(rows, columns, as_json=as_json, empty="Nothing was used yet.")


@click.command()
@click.option(
    "-n", "--lines", default=50, type=click.IntRange(min=1), show_default=True, help="How many of the last lines."
)
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
    levels = _LEVELS[_LEVELS.index(level.upper()) :]

    def told(file: Iterable[str]) -> Iterator[str]:
        return filter(None, (_told(line, levels, session, as_json=as_json) for line in file))

    with path.open(encoding="utf-8", errors="replace") as file:
        for text in deque(told(file), maxlen=lines):
            click.echo(text)
        position = file.tell()
    while follow:
        time.sleep(0.3)
        if path.exists():
            with path.open(encoding="utf-8", errors="replace") as file:
                file.seek(position if path.stat().st_size >= position else 0)  # a shorter file is a new one
                for text in told(file):
                    click.echo(text)
                position = file.tell()


def _told(line: str, levels: Sequence[str], session: str, *, as_json: bool) -> str:
    """A line of the log as it is shown; empty when it is not asked for."""
    try:
        entry = json.loads(line)
    except ValueError:
        return line.rstrip("\n")
    level = entry.pop("level", "INFO")
    if level not in levels or not str(entry.get("session", "")).startswith(session):
        return ""
    if as_json:
        return line.rstrip("\n")
    when, what = entry.pop("time", ""), entry.pop("event", "")
    entry.pop("logger", None)
    rest = " ".join(f"{k}={v}" for k, v in entry.items())
    color = {"WARNING": "yellow", "ERROR": "red"}.get(level)
    return f"{when} {click.style(f'{level:<7}', fg=color)} {what} {click.style(rest, dim=True)}"
