"""``hermes guard check``: commands in, verdicts out, one a line."""

import json
import os
import sys
from collections.abc import Callable

import click

from hermes_tool_guard.judgement import Judgement

__all__ = ["make_check"]


def make_check(home: str) -> click.Command:
    """The command; ``home`` is the folder of Hermes, whose files no command may touch."""

    @click.command(
        "check",
        help="Read shell commands from standard input, one a line, and print one verdict a line, as JSON: allow, ask "
        "or deny, and why. Nothing is run. The reason continues a sentence that starts with 'it'.",
        epilog="Example: echo 'rm -rf /' | hermes guard check",
    )
    @click.option("--json", "more", is_flag=True, help="Also tell what each command does and which programs it runs.")
    @click.option(
        "--cwd",
        type=click.Path(file_okay=False),
        default=".",
        help="The folder the commands would run in; default: here.",
    )
    def check(more: bool, cwd: str) -> None:
        from hermes_tool_guard import guard

        guarded, root = guard.guarded_paths(home), os.path.abspath(cwd)  # noqa: PTH100 - links are kept as written

        def judge(line: str) -> Judgement:
            return guard.check(line, root=root, guarded=guarded)

        _stream(judge, more)

    return check


def _stream(judge: Callable[[str], Judgement], more: bool) -> None:
    for raw in sys.stdin.buffer:
        found = judge(raw.decode(errors="replace").removesuffix("\n"))
        row: dict[str, object] = {"verdict": found.outcome, "reason": found.reason}
        if more:
            row |= {"classes": [c.value for c in found.classes], "programs": list(found.programs)}
        sys.stdout.write(json.dumps(row) + "\n")
        sys.stdout.flush()
