"""What went wrong in calls of plugins, kept where doctor finds it."""

import contextlib
import json
import time
from collections.abc import Iterable
from pathlib import Path

from hermes_atomic.whole import replace
from hermes_core.errors import UserError
from hermes_core.types import Fault

__all__ = ["keep_faults"]


def keep_faults(path: Path, faults: Iterable[Fault]) -> None:
    """Add the faults of calls to the file. Where that fails doctor knows less, and nothing else happens."""
    with contextlib.suppress(OSError, ValueError, UserError):
        kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        for fault in faults:
            if fault.phase == "call":
                row = {"error": fault.error, "hint": fault.hint, "when": time.time()}
                kept[fault.plugin] = {**kept.get(fault.plugin, {}), fault.where: row}
        replace(path, json.dumps(kept).encode())
