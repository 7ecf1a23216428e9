"""What the memories keep of a person: each enabled one gives it out and erases it, by the commands that it has for it.

A memory's plugin has ``hermes NAME export`` and ``hermes NAME erase``, which take ``--person``. All are asked, not only
the one in use: another one may have been before.
"""

import os
import subprocess
import sys
from collections.abc import Iterator

from hermes_core.context import PluginContext
from hermes_core.errors import UserError

__all__ = ["forget_memories", "given_out"]


def forget_memories(ctx: PluginContext, person: str) -> None:
    """Have every memory erase what it keeps of a person. Raises UserError where one cannot; it may be said again."""
    for label, words in _commands(ctx, "erase"):
        done = _run(ctx, words, "--person", person, "--yes")
        if done.returncode:
            why = f"{label} could not erase what it keeps of them: {_said(done)}"
            raise UserError(why, hint="The rest is erased when this can be. Mend it, and say it again.")


def given_out(ctx: PluginContext, person: str) -> tuple[str, str]:
    """Return what the memories keep of a person, a line of JSON each, and what of it is missing, for people."""
    kept, missing = "", ""
    for label, words in _commands(ctx, "export"):
        done = _run(ctx, words, "--person", person)
        if done.returncode:
            missing += f"Not in it: what {label} remembers, for it could not say: {_said(done)}\n"
        else:
            kept += done.stdout
    return kept, missing


def _commands(ctx: PluginContext, verb: str) -> Iterator[tuple[str, list[str]]]:
    for one in ctx.plugins.records("commands"):
        *before, last = one.words.split()
        if one.owner.startswith("memory/") and before and last == verb:
            yield one.owner, [*before, last]


def _run(ctx: PluginContext, words: list[str], *more: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-P", "-m", "hermes_core", *words, *more]
    env = {**os.environ, "HERMES_HOME": str(ctx.paths.home)}
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def _said(done: "subprocess.CompletedProcess[str]") -> str:
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    return lines[0] if lines else f"exit status {done.returncode}"
