"""Where an older version kept what a session was told: one small file for each."""

import hashlib
import json
from pathlib import Path

from hermes_core.types import JSON


def file_of(folder: Path, session_id: str) -> Path:
    """The file of a session, whether it is there or not."""
    return folder / f"{hashlib.sha256(session_id.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}.json"


def read(path: Path) -> JSON:
    """What is in it; None when it cannot be read."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
