"""What a kernel with nothing beside it says: what to install, and an offer to do so where a person is there."""

import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec

import click

from hermes_core.agent.policy.itself import run_by_tool
from hermes_core.cli.scope import Scope
from hermes_core.errors import UserError
from hermes_core.own import MOST

__all__ = ["require_somebody"]


def require_somebody(scope: Scope) -> None:
    """Do nothing where a plugin is there that could answer; else offer to install some. Raises UserError."""
    if scope.index.offered("providers"):
        return
    uv, pip = shutil.which("uv"), [sys.executable, "-m", "pip", "install", MOST]
    command = pip if find_spec("pip") else [uv, "pip", "install", MOST, "--python", sys.executable] if uv else []
    text = "Only the kernel is installed: nothing that could answer."
    alone = not (sys.stdin.isatty() and sys.stderr.isatty()) or run_by_tool()
    if alone or not command or not click.confirm(f"{text}\nRun now: {shlex.join(command)}", default=True, err=True):
        raise UserError(text, hint=f"Install what most people want: {shlex.join(command or ['pip', 'install', MOST])}")
    if subprocess.run(command, check=False).returncode:
        raise UserError(f"That failed: {shlex.join(command)}", hint="What it said stands above.")
    raise UserError("It is installed.", hint=f"Start again: {scope.name} setup")
