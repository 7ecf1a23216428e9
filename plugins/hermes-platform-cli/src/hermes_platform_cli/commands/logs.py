"""``hermes logs``: what happened."""

import json
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence

import click

from hermes_core.context import PluginContext
from hermes_core.errors import UserError

__all__ = ["make_logs"]

_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


def make_logs(ctx: PluginContext) -> click.Command:
    """``logs``."""

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
    def logs(lines: int, follow: bool, level: str, session: str, trace: str, as_json: bool) -> None:
        """Show the log, newest last. It holds turns, tool calls, faults and errors, and never a secret."""
        path = ctx.paths.home / "logs" / "hermes.log"
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

    return logs


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
