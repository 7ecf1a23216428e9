"""What the guard says of each command of the corpora, in full: ``python plugins/hermes-tool-guard/tests/told.py``.

That writes ``corpus/told/``, a line for each command. The disk is taken for empty, or for one that is made up, so
that every machine says the same.
"""

import os
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from guard_places import CORPUS, GUARDED, HOME, PROTECTED, ROOT, corpus

from hermes_core.types import Effect
from hermes_tool_guard import byitself, memory, places
from hermes_tool_guard.guard import check
from hermes_tool_guard.judgement import Judgement

FOLDER = CORPUS / "told"
NAMES = sorted(path.name for path in CORPUS.glob("*.txt"))
# Commands for what no other tells apart: each is here as one condition of the file it is listed under decides on it.
BRANCHES = sorted(f"branches/{path.name}" for path in CORPUS.glob("branches/*.txt"))
PART = 75  # commands that are judged in one test


def words(change: Callable[[list[str], int], list[str]]) -> Callable[[str], str]:
    """A change of one word, another one in each command, and never the first."""

    def changed(command: str) -> str:
        parts = command.split(" ")
        return " ".join(change(parts, 1 + zlib.crc32(command.encode()) % len(parts[1:]))) if len(parts) > 1 else command

    return changed


# A disk that is made up, for ``branches/on-a-disk.txt``.
LINKS = {
    f"{ROOT}/door": "/srv/outside",
    f"{ROOT}/top": "/",
    f"{ROOT}/inner": f"{ROOT}/sub",
    f"{ROOT}/itself": ROOT,
    f"{ROOT}/sub/deep": "../door/deep",
    f"{ROOT}/key": f"{HOME}/.ssh/id_rsa",
    f"{ROOT}/null": "/dev/null",
    f"{ROOT}/disk": "/dev/sda",
    f"{ROOT}/settings": f"{HOME}/.hermes/config.yaml",
    f"{ROOT}/hermes": f"{HOME}/.hermes",
    f"{ROOT}/rc": f"{HOME}/.bashrc",
    f"{ROOT}/notes.md": "AGENTS.md",
    f"{ROOT}/tmp": "/tmp",
    f"{ROOT}/[x]": "/srv/outside",
    f"{HOME}/data": f"{ROOT}/data",
    f"{HOME}/.hermes/plugins": "/srv/plugins",
    "/srv/way": ROOT,
    "/tmp/door": "/srv/outside",
}
MOUNTS = {"/", "/dev", "/proc", "/sys", "/mnt/usb", f"{ROOT}/stick", "/tmp/mounted", f"{ROOT}/[m]"}
FILES = {f"{ROOT}/bare/{name}" for name in ("HEAD", "objects", "refs")}
FILES |= {f"{ROOT}/bare/sub/.git", f"{ROOT}/half/HEAD", f"{ROOT}/half/refs", "/srv/outside/HEAD"}


def realpath(path: str) -> str:
    """Where a path leads on the disk that is made up."""
    at = "/"
    for part in path.split("/"):
        at = os.path.normpath(f"{at.rstrip('/')}/{part}")
        if link := LINKS.get(at):
            at = realpath(link if link[0] == "/" else f"{at.rpartition('/')[0]}/{link}")
    return at


EMPTY: dict[str, Any] = {
    "realpath": os.path.normpath,
    "islink": lambda path: False,
    "exists": lambda path: False,
    "ismount": lambda path: path in ("/", "/dev", "/proc", "/sys"),
}
MADE_UP: dict[str, Any] = {
    "realpath": realpath,
    "islink": lambda path: "/".join((realpath(path.rpartition("/")[0]), path.rpartition("/")[2])) in LINKS,
    "exists": lambda path: realpath(path) in FILES,
    "ismount": lambda path: path in MOUNTS,
}
# Commands that are nearly the same: of these only outcome, effects and classes are told.
DRESSES: dict[str, Callable[[str], str]] = {
    "a word less": words(lambda parts, at: [*parts[:at], *parts[at + 1 :]]),
    "a word twice": words(lambda parts, at: [*parts[:at], parts[at], *parts[at:]]),
    "a word earlier": words(lambda parts, at: [parts[0], parts[at], *parts[1:at], *parts[at + 1 :]]),
    "a word unknown": words(lambda parts, at: [*parts[:at], "$UNSET", *parts[at + 1 :]]),
    "a word that is an option": words(lambda parts, at: [*parts[:at], "-Z", *parts[at + 1 :]]),
    "a place elsewhere": words(lambda parts, at: [*parts[:at], "/etc/hosts", *parts[at + 1 :]]),
    "a place of credentials": words(lambda parts, at: [*parts[:at], "~/.ssh/id_rsa", *parts[at + 1 :]]),
    "a place inside": words(lambda parts, at: [*parts[:at], "build/out.txt", *parts[at + 1 :]]),
    "an option with its value": words(
        lambda parts, at: [*parts[: at - 1], "=".join(parts[at - 1 : at + 1]), *parts[at + 1 :]]
    ),
    "no options after": words(lambda parts, at: [*parts[:at], "--", *parts[at:]]),
    "quoted": words(lambda parts, at: [*parts[:at], f"'{parts[at]}'", *parts[at + 1 :]]),
    "cut off": words(lambda parts, at: parts[: at + 1]),
    "only that": words(lambda parts, at: [parts[0], parts[at]]),
    "with help": lambda command: f"{command} --help",
    "dry": lambda command: command.replace(" ", " --dry-run ", 1),
    "in the background of a loop": lambda command: f"for x in a b; do {command} $x; done &",
}


def commands(name: str) -> list[str]:
    """The commands of a file; for a dress every seventh of all, starting with its own."""
    if name not in DRESSES:
        return corpus(name)
    every = [command for one in NAMES for command in corpus(one)]
    return [DRESSES[name](command) for command in every[list(DRESSES).index(name) % 7 :: 7]]


def path_of(name: str) -> Path:
    """The file that holds what was said."""
    return FOLDER / (f"{name.replace(' ', '-')}.txt" if name in DRESSES else name)


_LETTERS = {effect: effect.value[0] for effect in Effect}


def parts(name: str) -> list[slice]:
    """The parts in which the commands of a file or dress are judged."""
    return [slice(start, start + PART) for start in range(0, len(commands(name)), PART)]


def told(name: str, part: slice = slice(None)) -> list[str]:
    """The verdicts on commands: outcome, effects, classes; where they are of a file also programs and reason."""
    forget()
    disk = MADE_UP if name == "branches/on-a-disk.txt" else EMPTY
    with patch.multiple(os.path, **disk):
        found = [
            check(command, root=ROOT, home=HOME, guarded=GUARDED, protected=PROTECTED)
            for command in commands(name)[part]
        ]
    forget()
    return [_line(one, brief=name in DRESSES) for one in found]


def forget() -> None:
    """Forget what was said before, and what another disk said."""
    memory.memory_of.cache_clear()
    places._guarded.cache_clear()
    byitself._why.cache_clear()


def _line(one: Judgement, *, brief: bool) -> str:
    effects = "".join(sorted(map(_LETTERS.__getitem__, one.effects)))
    classes = f"{one.outcome:<5} {effects:<5} [{', '.join(sorted(one.classes))}]"
    return classes if brief else f"{classes} {' '.join(one.programs)!a}: {one.reason!a}"


def main() -> None:
    """Write down what is said now."""
    (FOLDER / "branches").mkdir(parents=True, exist_ok=True)
    for name in (*NAMES, *BRANCHES, *DRESSES):
        path_of(name).write_text("\n".join(told(name)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
