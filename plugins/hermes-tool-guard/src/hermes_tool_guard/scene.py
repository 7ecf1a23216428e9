"""One check in progress: what was found so far, what the command knows of its variables, and how much work is left."""

import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from hermes_core.types import Effect, Protected
from hermes_tool_guard.judgement import DERIVED, EFFECTS, OPEN, UNKNOWN, Class, Decided, Judgement, Outcome
from hermes_tool_guard.places import Places
from hermes_tool_guard.variables import Variables

if TYPE_CHECKING:
    from tree_sitter import Node

    from hermes_tool_guard.losses import Losses
    from hermes_tool_guard.memory import Memory
    from hermes_tool_guard.shell import Shell

__all__ = ["Ends", "Folders", "Found", "Scene", "shown"]

Folders = tuple[str, ...]  # the folders a command may be run in; several where a cd may have failed
Ends = tuple[Folders, Folders]  # the folders after it went well, and after it failed
STEPS = 12_000  # commands, words and repetitions looked at in one check
DEPTH = 12  # code inside code inside code
_MAY_CHANGE = frozenset(  # files that this command made, in ways that cannot be seen
    {
        Class.PROJECT,
        Class.CODE,
        Class.GIT,
        Class.GIT_HISTORY,
        Class.INSTALL,
        Class.CONTAINERS,
        Class.UNCLEAR,
        Class.SERVE,
    }
)
_STRENGTH = {"allow": 0, "ask": 1, "deny": 2}
_ODD = re.compile(f"[{UNKNOWN}]")


def shown(word: str) -> str:
    """A word for people: what is not known is a …, what is long is cut."""
    text = _ODD.sub("…", word).replace("\n", " ")
    return text if len(text) <= 80 else f"{text[:77]}…"


class Found:
    """What was found in a command, or in a part of it."""

    __slots__ = ("classes", "effects", "outcome", "programs", "reason")

    def __init__(self) -> None:
        self.programs: dict[str, None] = {}
        self.classes: dict[Class, None] = {}
        self.effects: set[Effect] = set()
        self.outcome: Outcome = "allow"
        self.reason = ""

    def judge(self, outcome: Outcome, reason: str) -> None:
        """The strongest verdict counts, and of equals the first."""
        if _STRENGTH[outcome] > _STRENGTH[self.outcome]:
            self.outcome, self.reason = outcome, reason

    def add(self, other: "Found") -> None:
        """What was found in another part counts here too."""
        self.programs.update(other.programs)
        self.classes.update(other.classes)
        self.effects |= other.effects
        if other.outcome != "allow":
            self.judge(other.outcome, other.reason)


class Scene:
    """What one check found and still may do."""

    def __init__(self, places: Places, folder: str) -> None:
        self.places = places
        known = {"HOME": places.home, "PWD": folder, "IFS": " \t\n", "TMPDIR": "/tmp", "?": "0", "#": "0", "!": "%1"}  # noqa: S108
        self.variables = Variables(
            known | {"$": "1", "UID": "1000", "EUID": "1000", "RANDOM": "1", "SHELL": "/bin/bash"}
        )
        self.functions: dict[str, tuple[Shell, Node]] = {}
        self.doubtful: set[str] = set()  # functions that may not have been defined: then a program of that name runs
        self.uncalled: dict[str, Folders] = {}  # functions that nothing has called yet, and where they were defined
        self.traps: list[tuple[str, Folders]] = []  # code for the end
        self.written: set[str] = set()  # paths that this command line writes or fetches, and may run afterwards
        self.doubted: set[str] = set()  # files that may hold something else by now
        self.racing = 0  # parts that run at the same time as others
        self.fillings = 0  # how often anything was learnt of what files hold
        self.contents: dict[str, str] = {}  # of those, what is in them, where that is known
        self.printed = DERIVED  # what the last text that a shell ran prints
        self.piped = DERIVED  # what the last <(…) gives
        self.found = Found()
        self.memory: Memory | None = None
        self.record: Callable[[Sequence[str]], None] | None = None
        self.depth = 0
        self.setting = OPEN
        self.protected = Protected()
        self.reserved = 0  # how often words were looked at that a person's may be: another program has others
        self.losses: Losses | None = None  # what no snapshot has; None where that cannot be looked at
        self.steps = STEPS

    @contextmanager
    def perhaps(self) -> Iterator[None]:
        """A part of the command that may not run, or runs in a shell of its own."""
        before, functions = self.variables.names(), len(self.functions)
        known = set(self.functions) if functions else set()
        yield
        self.variables.perhaps(before)
        if len(self.functions) != functions:
            self.doubtful |= self.functions.keys() - known

    def step(self, count: int = 1) -> None:
        """Some work was done. Raises Decided when there was too much of it."""
        self.steps -= count
        if self.steps < 0:
            self.ask(Class.UNCLEAR, "is too tangled to follow")
            raise Decided

    def was_written(self, path: str) -> bool:
        """Whether a path, or a pattern of paths, is among those that this command line makes."""
        written = self.written
        if path in written or os.path.dirname(path) in written:  # noqa: PTH120
            return True
        if any(c in path for c in "*?["):
            return any(fnmatchcase(one, path) or fnmatchcase(path, one) for one in written)
        return any(("*" in one or "?" in one or "[" in one) and fnmatchcase(path, one) for one in written)

    def filled(self, path: str, text: str, *, more: bool) -> None:
        """What a file holds now. With ``more`` it is added to what was there."""
        self.fillings += 1
        if self.racing or (more and path not in self.contents):  # or something else may write to it at the same time
            self.doubted.add(path)
        elif not more:
            self.doubted.discard(path)
        self.contents[path] = f"{self.contents.get(path, '')}{text}" if more else text

    def emptied_of(self, paths: Collection[str]) -> None:
        """What these files hold is not known for sure any more."""
        if self.contents:
            for path in paths:
                below = [kept for kept in self.contents if kept == path or kept.startswith(f"{path}/")]
                self.doubted.update(below)
                self.fillings += len(below)

    def note(self, what: Class, effects: Collection[Effect] = ()) -> None:
        """It does something that needs no yes. ``effects`` are those of the class unless given."""
        self.found.classes[what] = None
        if self.contents and what in _MAY_CHANGE:
            self.emptied_of(tuple(self.contents))
        self.found.effects.update(effects or EFFECTS[what])

    def ask(self, what: Class, reason: str, *, lost: bool = False) -> None:
        """It does something that needs a person's yes. ``lost``: something of the folder, and no snapshot has it."""
        self.note(what)
        if what in self.setting.asks or (lost and self.setting.denies):
            self.found.judge("ask", reason)

    def lost(self) -> "Losses | None":
        """What no snapshot has, as it is now: what was judged by it is judged anew the next time."""
        self.fillings += self.losses is not None
        return self.losses

    def deny(self, what: Class, reason: str) -> None:
        """It does what is never done. Raises Decided."""
        self.note(what)
        if self.setting.denies:
            self.found.judge("deny", reason)
            raise Decided

    def result(self) -> Judgement:
        """What it came to."""
        found = self.found
        reason = found.reason
        if found.outcome == "allow":
            reason = " and ".join(c.value for c in list(found.classes)[:3]) or "does nothing"
        return Judgement(found.outcome, reason, tuple(found.classes), tuple(found.programs), frozenset(found.effects))
