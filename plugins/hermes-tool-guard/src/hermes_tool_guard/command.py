"""``hermes guard check``: a command or many in, verdicts out, one a line."""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

import click

from hermes_tool_guard.judgement import Judgement

__all__ = ["make_check"]

_HELP = """Print what would become of a shell command: one verdict, as JSON. Nothing is run.

Without COMMAND, shell commands are read from standard input, one a line, and each has its line. Every line is answered
before the next one is read, blank ones too.

The verdict is allow, ask or deny. The reason continues a sentence that starts with "it". Of the disk only links, mounts
and the layout of repositories are looked at. What only a person may do with Hermes itself asks here; given to a tool
it is denied, by the records of its commands.

\b
  allow   looks, or works inside the folder
  ask     is delicate, or is not understood: a person decides
  deny    is never run, whatever the mode

With --json each row also says what the command does: "effects" (read_files, write_files, execute, network, send),
"classes", and the "programs" it runs. Where the guard is not sure, execute is among the effects.
"""
_EXAMPLES = """Examples:

\b
  hermes guard check 'git push --force'
  hermes guard check --json --cwd ~/project < commands.txt
  hermes guard check < commands.txt | jq -r .verdict | sort | uniq -c
"""
LONGEST = 1 << 20  # bytes of a line that are kept in memory; more of it is read and thrown away


def make_check(home: str) -> click.Command:
    """The command; ``home`` is the folder of Hermes, whose files no command may touch."""

    @click.command("check", help=_HELP, epilog=_EXAMPLES)
    @click.argument("command", required=False)
    @click.option("--json", "more", is_flag=True, help="Also tell what each command does, and which programs it runs.")
    @click.option(
        "--cwd",
        type=click.Path(file_okay=False),
        default=".",
        help="The folder the commands would run in. Default: this one.",
    )
    @click.option(
        "--home",
        "person",
        type=click.Path(file_okay=False),
        default=None,
        help="What ~ and $HOME stand for. Default: your home.",
    )
    def check(command: str | None, more: bool, cwd: str, person: str | None) -> None:
        from hermes_tool_guard import guard

        guarded, root = guard.guarded_paths(home), os.path.abspath(cwd)  # noqa: PTH100 - links are kept as written
        of_whom = os.path.abspath(person) if person else ""  # noqa: PTH100

        def judge(line: str) -> Judgement:
            return guard.check(line, root=root, guarded=guarded, home=of_whom)

        _stream(_lines(sys.stdin.buffer) if command is None else [os.fsencode(command)], judge, more)

    return check


def _lines(source: BinaryIO) -> Iterator[bytes]:
    """The lines of a stream, as they come, without their ends. A longer one than is kept is cut."""
    while line := source.readline(LONGEST):
        rest = line
        while rest and not rest.endswith(b"\n"):
            rest = source.readline(LONGEST)
        yield line.removesuffix(b"\n")


def _stream(commands: Iterable[bytes], judge: Callable[[str], Judgement], more: bool) -> None:
    for raw in commands:
        found = judge(raw.decode(errors="surrogateescape"))
        row: dict[str, object] = {"verdict": found.outcome, "reason": found.reason}
        if more:
            row["effects"] = sorted(effect.value for effect in found.effects)
            row |= {"classes": [c.value for c in found.classes], "programs": list(found.programs)}
        try:
            sys.stdout.write(json.dumps(row) + "\n")
            sys.stdout.flush()
        except BrokenPipeError:  # whoever asked has heard enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return
