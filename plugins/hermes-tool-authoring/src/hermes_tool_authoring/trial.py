"""A plugin's code looked at in a process of its own: what it does there, crash or hang, happens to that process."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from hermes_core.types import Finding

__all__ = ["tried"]

PATIENCE = 10  # seconds that import and registering may take; the kernel gives up after eight
# What the plugin prints goes to stderr, as in Hermes: the last line of stdout is ours.
_PROGRAM = """
import contextlib, json, os, sys
from pathlib import Path
from hermes_core.testing import check_plugin
with contextlib.redirect_stdout(sys.stderr):
    found = check_plugin(Path(sys.argv[1]), imports=True)
sys.stdout.write("\\n" + json.dumps([[f.level, f.text, f.fix] for f in found]) + "\\n")
sys.stdout.flush()
os._exit(0)
"""


def tried(path: Path) -> list[Finding]:
    """Return what is found when a plugin is imported and registers: its manifest's findings, then its code's."""
    command = [sys.executable, "-P", "-c", _PROGRAM, str(path.absolute())]
    with tempfile.TemporaryDirectory() as scratch:  # what it has no time to tidy up goes with its end
        environment = {**os.environ, "TMPDIR": scratch}
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, env=environment, timeout=PATIENCE, check=False)
        except subprocess.TimeoutExpired:
            return [_fault(f"Its import or a register hook did not end within {PATIENCE} s.")]
    try:
        return [
            Finding(level=level, text=text, fix=fix) for level, text, fix in json.loads(done.stdout.splitlines()[-1])
        ]
    except (ValueError, IndexError):
        how = f"by {signal.Signals(-done.returncode).name}" if done.returncode < 0 else f"with status {done.returncode}"
        return [_fault(f"Its import or a register hook ended the whole process, {how}.")]


def _fault(text: str) -> Finding:
    return Finding(level="fault", text=text, fix="Import and register only; do the work when a hook is called.")
