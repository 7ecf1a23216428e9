"""What a running session was told of how to speak: one small file for each, as a prompt never changes its bytes.

A change goes with the person's next message, as a part of it, and is stored with it. It counts as told when a model
answered a request that holds it; a crash before tells it twice rather than not at all. When the conversation is
compacted and does not hold it any more, it is told again.
"""

import hashlib
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from attrs import evolve, frozen

from hermes_core.types import Envelope, Message, Text

KEPT = 1_000  # sessions whose personality is known; the oldest are forgotten


@frozen(kw_only=True)
class Overlay:
    """How a session is to speak; an empty ``name`` means plainly. ``change`` counts the changes in it."""

    name: str
    text: str
    change: int
    told: bool = False

    @property
    def mark(self) -> str:
        """What stands before it in a message, and nowhere else."""
        return f"[Personality, change {self.change}: {self.name or 'off'}."

    @property
    def words(self) -> str:
        """What a model is told."""
        if not self.name:
            return (
                f"{self.mark} From here on the person wants no personality: whatever was said of how to speak before, "
                "speak plainly again.]"
            )
        return f"{self.mark} From here on, and instead of any before, the person wants you to speak so:\n{self.text}]"


class Overlays:
    """The overlays of all sessions, in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, session_id: str) -> Overlay | None:
        """That of a session; None when nothing was changed in it."""
        try:
            data = json.loads(self._path(session_id).read_text(encoding="utf-8"))
            return Overlay(
                name=str(data["name"]), text=str(data["text"]), change=int(data["change"]), told=data["told"] is True
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def change(self, session_id: str, name: str, text: str) -> None:
        """Let a session speak so from its next message on. Raises OSError."""
        before = self.get(session_id)
        self._keep(session_id, Overlay(name=name, text=text, change=before.change + 1 if before else 1))
        self._forget_the_oldest()

    def add(self, session_id: str, envelope: Envelope) -> Envelope | None:
        """The message with the change that it has to tell, or None."""
        overlay = self.get(session_id)
        if overlay is None or overlay.told:
            return None
        part = Text(text=f"\n\n{overlay.words}", quotes=f"personality {overlay.name or 'off'}")
        return evolve(envelope, message=evolve(envelope.message, parts=(*envelope.message.parts, part)))

    def heard(self, session_id: str, messages: Sequence[Message]) -> None:
        """A model answered these messages: what is in them it was told."""
        overlay = self.get(session_id)
        if overlay and not overlay.told and _holds(messages, overlay):
            self._keep(session_id, evolve(overlay, told=True))

    def check(self, session_id: str, messages: Sequence[Message]) -> None:
        """What a model is about to read does not say it any more: tell it again with the next message."""
        overlay = self.get(session_id)
        if overlay and overlay.told and not _holds(messages, overlay):
            self._keep(session_id, evolve(overlay, told=False))

    def _path(self, session_id: str) -> Path:
        return self._folder / f"{hashlib.sha256(session_id.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}.json"

    def _keep(self, session_id: str, overlay: Overlay) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._path(session_id)
        draft = path.with_suffix(f".{os.getpid()}.draft")
        facts = {"name": overlay.name, "text": overlay.text, "change": overlay.change, "told": overlay.told}
        draft.write_text(json.dumps(facts), encoding="utf-8")
        draft.replace(path)

    def _forget_the_oldest(self) -> None:
        with suppress(OSError):
            known = sorted(self._folder.glob("*.json"), key=lambda path: path.stat().st_mtime)
            for path in known[:-KEPT]:
                path.unlink(missing_ok=True)


def _holds(messages: Sequence[Message], overlay: Overlay) -> bool:
    """Whether it was said by the person, not quoted by a tool."""
    return any(
        isinstance(part, Text) and overlay.mark in part.text
        for message in reversed(messages)
        if message.role == "user"
        for part in message.parts
    )
