"""What the model is told after a rollback: a note that waits for the person's next message in a session.

It becomes part of that message, so it is stored with it and no earlier byte of the conversation changes. The note is
forgotten when a reply to it is stored; a crash in between tells it twice rather than not at all.
"""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from attrs import evolve

from hermes_core.types import Envelope, Text
from hermes_tool_checkpoints.restore import Restored
from hermes_tool_checkpoints.store import read, replace

_MOST = 20  # names of files


class Notes:
    """The notes that wait, one file for each session."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sent: dict[str, str] = {}

    def _path(self, session_id: str) -> Path:
        return self._folder / f"{hashlib.sha256(session_id.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}.json"

    def leave(self, session_ids: Iterable[str], text: str) -> None:
        """Leave a note for sessions, beside what waits already."""
        for session_id in filter(None, set(session_ids)):
            path = self._path(session_id)
            replace(path, json.dumps({"text": f"{read(path).get('text', '')}\n{text}".strip()}))

    def add(self, session_id: str, envelope: Envelope) -> Envelope | None:
        """The message with the note that waits for it, or None."""
        text = read(self._path(session_id)).get("text", "") if session_id else ""
        if not text:
            return None
        self._sent[session_id] = text
        message = envelope.message
        return evolve(envelope, message=evolve(message, parts=(*message.parts, Text(text=f"\n\n[{text}]"))))

    def answered(self, session_id: str) -> None:
        """A reply came: what was told need not be told again."""
        if text := self._sent.pop(session_id, ""):
            path = self._path(session_id)
            later = str(read(path).get("text", "")).removeprefix(text).strip()
            if later:
                replace(path, json.dumps({"text": later}))
            else:
                path.unlink(missing_ok=True)


def note_of(folder: Path, done: Restored, when: str) -> str:
    """What a model should know of a rollback."""
    names = done.changed
    shown = ", ".join(ascii(n)[1:-1] for n in names[:_MOST]) + (
        f" and {len(names) - _MOST} more" if names[_MOST:] else ""
    )
    return (
        f"Note from Hermes: the person brought files in {folder} back to how they were at {when}. "
        f"Changed: {shown or 'nothing'}. What you know of them may be outdated; read a file again before you use it."
    )
