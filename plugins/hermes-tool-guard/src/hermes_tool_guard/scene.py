"""One check in progress: what was found so far, what the command knows of its variables, and how much work is left."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hermes_tool_guard.judgement import DERIVED, OPAQUE, UNKNOWN, Class, Decided, Judgement, Outcome
from hermes_tool_guard.places import Places
from hermes_tool_guard.words import Variables

if TYPE_CHECKING:
    from tree_sitter import Node

    from hermes_tool_guard.shell import Shell

__all__ = ["Ends", "Folders", "Scene", "shown"]

Folders = tuple[str, ...]  # the folders a command may be run in; several where a cd may have failed
Ends = tuple[Folders, Folders]  # the folders after it went well, and after it failed
STEPS = 12_000  # commands, words and repetitions looked at in one check
DEPTH = 12  # code inside code inside code
_LEAVES = (Class.SEND, Class.CLOUD)
_STRENGTH = {"allow": 0, "ask": 1, "deny": 2}
_ODD = re.compile(f"[{UNKNOWN}]")


def shown(word: str) -> str:
    """A word for people: what is not known is a …, what is long is cut."""
    text = _ODD.sub("…", word).replace("\n", " ")
    return text if len(text) <= 80 else f"{text[:77]}…"


class Scene:
    """What one check found and still may do."""

    def __init__(self, places: Places, folder: str) -> None:
        self.places = places
        known = {"HOME": places.home, "PWD": folder, "IFS": " \t\n", "TMPDIR": "/tmp", "?": "0", "#": "0", "!": "1"}  # noqa: S108
        self.variables = Variables(
            known | {"$": "1", "UID": "1000", "EUID": "1000", "RANDOM": "1", "SHELL": "/bin/bash"}
        )
        self.functions: dict[str, tuple[Shell, Node]] = {}
        self.written: set[str] = set()  # paths that this command line writes or fetches, and may run afterwards
        self.programs: dict[str, None] = {}
        self.classes: dict[Class, None] = {}
        self.lists: list[str] = []  # what was run, as argv; for comparing with a real shell
        self.record: Callable[[Sequence[str]], None] | None = None
        self.depth = 0
        self.lenient = False  # only what leaves the place counts
        self._steps = STEPS
        self._outcome: Outcome = "allow"
        self._reason = ""

    @contextmanager
    def perhaps(self) -> Iterator[None]:
        """A part of the command that may not run, or runs in a shell of its own."""
        before = self.variables.names()
        yield
        self.variables.perhaps(before)

    def step(self, count: int = 1) -> None:
        """Some work was done. Raises Decided when there was too much of it."""
        self._steps -= count
        if self._steps < 0:
            self.ask(Class.UNCLEAR, "is too tangled to follow")
            raise Decided

    def note(self, what: Class) -> None:
        """It does something that needs no yes."""
        self.classes[what] = None

    def ask(self, what: Class, reason: str) -> None:
        """It does something that needs a person's yes."""
        if self.lenient and what not in _LEAVES:
            self.classes[what] = None
            return
        self._found("ask", what, reason)

    def deny(self, what: Class, reason: str) -> None:
        """It does what is never done. Raises Decided."""
        if self.lenient:
            self.classes[what] = None
            return
        self._found("deny", what, reason)
        raise Decided

    def _found(self, outcome: Outcome, what: Class, reason: str) -> None:
        self.classes[what] = None
        if _STRENGTH[outcome] > _STRENGTH[self._outcome]:
            self._outcome, self._reason = outcome, reason

    def result(self) -> Judgement:
        """What it came to."""
        reason = self._reason
        if self._outcome == "allow":
            reason = " and ".join(c.value for c in list(self.classes)[:3]) or "does nothing"
        return Judgement(self._outcome, reason, tuple(self.classes), tuple(self.programs))


def known(word: str) -> bool:
    """Whether all of a word is known."""
    return OPAQUE not in word and DERIVED not in word
