"""``hermes insights`` and ``hermes logs``: what is used, what happened."""

import json
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING

import click

from hermes_core.cli.scope import Scope
from hermes_core.cli.sessions import with_store
from hermes_core.cli.table import emit, json_option
from hermes_core.errors import UserError

if TYPE_CHECKING:
    from hermes_core.types import UsageRow

_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


@click.command()
@click.option("--days", default=30, type=click.IntRange(min=1), show_default=True, help="How many days back.")
@click.option("--daily", is_flag=True, help="One row for each day.")
@json_option
@click.pass_obj
def insights(scope: Scope, days: int, daily: bool, as_json: bool) -> None:
    """Calls, tokens, cache hits and cost by provider, model and task. ~ marks an estimate from list prices."""
    found = with_store(scope, lambda store, owner: store.usage(owner, days=days))
    groups: dict[tuple[str, ...], list[UsageRow]] = {}
    for row in found:
        groups.setdefault((row.day if daily else "", row.provider, row.model, row.task), []).append(row)
    rows = [_spent(key, group, as_json=as_json) for key, group in groups.items()]
    columns = ("day", "provider", "model", "task", "turns", "calls", "input", "output", "cache_hits", "cost")
    emit(rows, columns if daily else columns[1:], as_json=as_json, empty="Nothing was used yet.")


def _spent(key: tuple[str, ...], group: "Sequence[UsageRow]", *, as_json: bool) -> dict[str, object]:
    from hermes_core.agent.usage import add
    from hermes_core.types import Usage

    used = reduce(add, (row.usage for row in group), Usage())
    estimated, unpriced = sum(row.estimated for row in group), sum(row.unpriced for row in group)
    known: dict[str, object] = dict(zip(("day", "provider", "model", "task"), key, strict=True))
    figures = {
        "turns": sum(row.turns for row in group),
        "calls": used.calls,
        "input": used.input,
        "output": used.output,
    }
    row = {name: value for name, value in known.items() if value or name != "day"} | figures
    if as_json:
        return row | {
            "cache_read": used.cache_read,
            "cost": round(used.cost, 6),
            "estimated": round(estimated, 6),
            "unpriced_calls": unpriced,
        }
    hits = f"{100 * used.cache_read // used.input} %" if used.input else "-"
    return row | {
        "task": known["task"] or "-",
        "cache_hits": hits,
        "cost": _cost(used.cost, estimated, unpriced, used.calls),
    }


def _cost(cost: float, estimated: float, unpriced: int, calls: int) -> str:
    """What it cost as far as anybody knows: an estimate is marked, an unknown is never shown as nothing."""
    if unpriced == calls:
        return "unknown"
    shown = f"{'~' if estimated else ''}${cost:.4f}"
    return f"{shown} + {unpriced} unknown" if unpriced else shown


@click.command()
@click.option(
    "-n", "--lines", default=50, type=click.IntRange(min=1), show_default=True, help="How many of the last lines."
)
@click.option("-f", "--follow", is_flag=True, help="Go on printing what comes.")
@click.option(
    "--level", type=click.Choice(_LEVELS, case_sensitive=False), default="DEBUG", help="This level and above."
)
@click.option("--session", default="", help="Only lines of this session.")
@click.option("--trace", default="", help="Only lines about this message (see `why`).")
@click.option("--json", "as_json", is_flag=True, help="The lines as they are: one JSON object each.")
@click.pass_obj
def logs(scope: Scope, lines: int, follow: bool, level: str, session: str, trace: str, as_json: bool) -> None:
    """Show the log, newest last. It holds turns, tool calls, faults and errors, and never a secret."""
    path = scope.home.logs / "hermes.log"
    if not path.exists():
        raise UserError("Nothing was logged yet.", hint=f"The log will be {path}.")
    levels, about = _LEVELS[_LEVELS.index(level.upper()) :], {"session": session, "trace": trace}

    def told(file: Iterable[str]) -> Iterator[str]:
        return filter(None, (_told(line, levels, about, as_json=as_json) for line in file))

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


def _told(line: str, levels: Sequence[str], about: Mapping[str, str], *, as_json: bool) -> str:
    """A line of the log as it is shown; empty when it is not asked for."""
    try:
        entry = json.loads(line)
    except ValueError:
        return line.rstrip("\n")
    level = entry.pop("level", "INFO")
    if level not in levels or not all(str(entry.get(name, "")).startswith(word) for name, word in about.items()):
        return ""
    if as_json:
        return line.rstrip("\n")
    when, what = entry.pop("time", ""), entry.pop("event", "")
    entry.pop("logger", None)
    rest = " ".join(f"{k}={v}" for k, v in entry.items())
    color = {"WARNING": "yellow", "ERROR": "red"}.get(level)
    return f"{when} {click.style(f'{level:<7}', fg=color)} {what} {click.style(rest, dim=True)}"
