"""What became of a message, as a chat shows it."""

import time
from collections.abc import Callable

from hermes_core.store.paths import Path
from hermes_core.store.steps import steps, verdict
from hermes_core.types import TraceStep

__all__ = ["told"]


def told(path: Path, program: str, name: Callable[[str], str]) -> str:
    """The path as a chat shows it: a line for each step, then how it stands."""
    lines = [f"Message {path.trace or path.turns[0]['id']}"]
    lines += [f"    {_clock(step.at)}  {_line(step)}" for step in steps(path, name)]
    return "\n".join([*lines, verdict(path, program)[1]])


def _line(step: TraceStep) -> str:
    took = f" [{step.seconds:.1f} s]" if step.seconds else ""
    return f"{step.step}: {step.what}{took}{f' - {step.outcome}' if step.outcome else ''}"


def _clock(at: float) -> str:
    """A time of day, local, with thousandths."""
    return f"{time.strftime('%H:%M:%S', time.localtime(at))}.{int(at % 1 * 1000):03d}"
