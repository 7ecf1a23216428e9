"""What a running session was told of how to speak: a document of the session, as a prompt never changes its bytes.

A change goes with the person's next message, as a part of it, and is stored with it. It counts as told when a model
answered a request that holds it; a crash before tells it twice rather than not at all. When the conversation is
compacted and does not hold it any more, it is told again.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from attrs import evolve

from hermes_core.brokers import DocumentsBroker
from hermes_core.errors import Conflict, UserError
from hermes_core.types import JSON, Envelope, Message, Principal, Text
from hermes_core.values import frozen

NAME = "overlay"


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
    """The overlays of an owner's sessions."""

    def __init__(self, documents: DocumentsBroker, folder: Path, owner: Principal) -> None:
        """``folder`` is where an older version kept them; each is taken over when first met."""
        self._documents, self._folder, self._owner = documents, folder, owner

    async def get(self, session_id: str) -> Overlay | None:
        """That of a session; None when nothing was changed in it. Raises StoreError."""
        if self._folder.is_dir():
            await self._take_over(session_id)
        document = await self._documents.get(NAME, owner=self._owner, session_id=session_id)
        return _overlay(document.value) if document else None

    async def change(self, session_id: str, name: str, text: str) -> None:
        """Let a session speak so from its next message on. Raises StoreError and UserError."""
        await self.get(session_id)
        await self._edit(
            session_id, lambda before: Overlay(name=name, text=text, change=before.change + 1 if before else 1)
        )

    async def add(self, session_id: str, envelope: Envelope) -> Envelope | None:
        """The message with the change that it has to tell, or None."""
        overlay = await self.get(session_id)
        if overlay is None or overlay.told:
            return None
        part = Text(text=f"\n\n{overlay.words}", quotes=f"personality {overlay.name or 'off'}")
        return evolve(envelope, message=evolve(envelope.message, parts=(*envelope.message.parts, part)))

    async def answered(self, session_id: str, messages: Sequence[Message]) -> bool:
        """A model answered these messages: what is in them it was told; what is not is told with the next message.

        Whether there is anything to tell, or was.
        """
        overlay = await self.get(session_id)
        if overlay and overlay.told != (told := _holds(messages, overlay)):
            await self._edit(session_id, lambda now: evolve(overlay, told=told) if now == overlay else now)
        return overlay is not None

    async def _edit(self, session_id: str, edit: Callable[[Overlay | None], Overlay | None]) -> None:
        def changed(before: JSON | None) -> JSON | None:
            after = edit(_overlay(before))
            return after and {"name": after.name, "text": after.text, "change": after.change, "told": after.told}

        await self._documents.change(NAME, changed, owner=self._owner, session_id=session_id)

    async def _take_over(self, session_id: str) -> None:
        """Let what an older version kept in a file go on here. What is no overlay counted as none there too."""
        from hermes_tool_persona.earlier import file_of, read

        path = file_of(self._folder, session_id)
        if path.is_file():
            with suppress(Conflict, UserError):  # what was written since is newer
                kept = read(path)
                if _overlay(kept):
                    await self._documents.put(NAME, kept, version=0, owner=self._owner, session_id=session_id)
            with suppress(OSError):
                path.unlink()
        with suppress(OSError):
            self._folder.rmdir()  # only when it is empty: then nobody looks here again


def _overlay(kept: JSON | None) -> Overlay | None:
    if kept is None:
        return None
    try:
        return Overlay(
            name=str(kept["name"]), text=str(kept["text"]), change=int(kept["change"]), told=kept["told"] is True
        )
    except (ValueError, KeyError, TypeError):
        return None


def _holds(messages: Sequence[Message], overlay: Overlay) -> bool:
    """Whether it was said by the person, not quoted by a tool."""
    return any(
        isinstance(part, Text) and overlay.mark in part.text
        for message in reversed(messages)
        if message.role == "user"
        for part in message.parts
    )
