"""The question whether a folder is known, put once where a conversation begins in one that holds notes for agents."""

import asyncio
import os
from collections.abc import Callable, Sequence
from uuid import uuid4

from hermes_closed.closed import wide
from hermes_core.errors import UserError
from hermes_core.kinds import Opening
from hermes_core.types import Question, Verdict
from hermes_tool_kit.provenance.ledger import Ledger, project_of, trust_for_run
from hermes_tool_provenance.commands import trusted
from hermes_tool_provenance.notes import Note, notes_in

__all__ = ["Known"]

NO, RUN, GOOD = "No", "Yes, in this run", "Yes, for good"
_SHOWN = 10  # notes
_SIZES = ("bytes", "kB", "MB", "GB")


class Known(Opening):
    """Asks about the project of a folder. ``asked`` gets the folders of whose answer the person knows."""

    name = "known"

    def __init__(self, ledger: Callable[[], Ledger], asked: list[str]) -> None:
        self._ledger, self._asked = ledger, asked

    async def question(self, folder: str) -> Question | None:
        """See Opening: nothing where it is known, was declined before, or holds nothing that would be followed."""
        return await asyncio.to_thread(self._question, folder)

    def _question(self, folder: str) -> Question | None:
        if not folder or not os.path.isdir(folder) or wide(folder):  # noqa: PTH112
            return None
        root, ledger = project_of(os.path.realpath(folder)), self._ledger()
        try:
            if ledger.of(folder).known(folder) or any(one.path == root for one in ledger.declined()):
                return None
        except UserError:  # it is told when the session begins
            return None
        notes = notes_in(folder)
        if not notes:
            return None
        return Question(id=uuid4().hex, kind="choice", subject=_subject(root, notes), choices=(NO, RUN, GOOD))

    async def answered(self, folder: str, verdict: Verdict | None) -> str:
        """See Opening: a no is kept too, so that it is asked once."""
        return await asyncio.to_thread(self._answered, folder, verdict)

    def _answered(self, folder: str, verdict: Verdict | None) -> str:
        if verdict is None:  # nobody is here: the line at the start of the session says it
            return ""
        self._asked.append(folder)
        root = project_of(os.path.realpath(folder))
        choice = verdict.choice if verdict.outcome == "allow" else ""
        if choice == GOOD:
            return trusted(self._ledger(), root)
        if choice == RUN:
            trust_for_run(root)
            return f"{root} is known in this run."
        more = ""
        if choice == NO:
            self._ledger().decline(root)
            more = " It is not asked again."
        return f"Nothing of {root} is followed.{more} /trust says yes."


def _subject(root: str, notes: Sequence[Note]) -> str:
    width = max(len(note.name) for note in notes[:_SHOWN])
    listed = [f"  {note.name.ljust(width)}  {_size(note.size)}" for note in notes[:_SHOWN]]
    if len(notes) > _SHOWN:
        listed.append(f"  and {len(notes) - _SHOWN:,} more in folders below")
    return "\n".join(
        (
            f"{root} is not known. Is it yours?",
            "",
            "With a yes these notes for agents are followed, and what is read there counts as your own:",
            "",
            *listed,
            "",
            "With a no nothing of it is followed, and what is read there counts as text from outside.",
        )
    )


def _size(many: int) -> str:
    size, unit = float(many), 0
    while size >= 1000 and unit < len(_SIZES) - 1:
        size, unit = size / 1000, unit + 1
    return f"{size:.0f} {_SIZES[unit]}" if unit == 0 or size >= 10 else f"{size:.1f} {_SIZES[unit]}"
