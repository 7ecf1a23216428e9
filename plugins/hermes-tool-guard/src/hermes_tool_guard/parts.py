"""The parts of a command line: what rules match against, and how far a lasting yes to each reaches.

Only lines that say plainly what they run are taken apart for a yes, and of their commands only the few in
``_FAMILIES`` are generalised; what carries code is remembered to the letter, and only for a conversation.
"""

import os
import re
from collections.abc import Iterator

from hermes_core.types import CommandPart
from hermes_core.values import frozen
from hermes_tool_guard.hardblocks import CODE, program_words
from hermes_tool_guard.line import Single, plain, singles

__all__ = ["Ground", "for_grants", "for_rules"]

_REDIRECTS = re.compile(r"[<>`\n]|\$\(")
# Programs whose words are code, or name another program: remembered to the letter, and not for good.
_CARRIERS = re.compile(
    r"(busybox|toybox|sudo|doas|su|runuser|pkexec|env|nice|ionice|timeout|stdbuf|nohup|setsid|command|exec|builtin|source"
    r"|\.|trap|alias|export|set|declare|find|fd|watch|script|ssh|mosh|scp|rsync|tmux|screen|at|batch|crontab|chroot|unshare"
    r"|nsenter|flock|strace|less|man|npx|pnpx|bunx|uvx|pipx|hermes)$"
)
# program and subcommand -> how many names behind it are fixed; all further plain names may be others
_FAMILIES = {
    "git": {
        "add": 0, "branch": 0, "cherry-pick": 0, "commit": 0, "diff": 0, "fetch": 1, "log": 0, "merge": 0, "pull": 1,
        "push": 1, "revert": 0, "show": 0, "stash": 1, "status": 0, "switch": 0, "tag": 0,
    },
    "docker": {"images": 0, "inspect": 0, "logs": 0, "ps": 0, "restart": 0, "start": 0, "stop": 0},
    "kubectl": {"describe": 1, "get": 1, "logs": 0},
    "systemctl": {"status": 0},
}  # fmt: skip
_SAYS = {("git", "commit"): ("-m", "-am", "--message"), ("git", "tag"): ("-m",)}  # options before free text
_NAME = re.compile(r"[A-Za-z0-9_.][\w.@+/=-]*", re.ASCII)


@frozen
class Ground:
    """Where a line begins. On a ``local`` one links can be followed."""

    folder: str
    local: bool

    def path(self, word: str, folder: str) -> str:
        """A path as it is, links followed where this machine can tell."""
        joined = os.path.normpath(os.path.join(folder or "/", os.path.expanduser(word)))  # noqa: PTH111, PTH118
        try:
            return os.path.realpath(joined) if self.local else joined
        except (OSError, ValueError):
            return joined


def for_rules(line: str) -> Iterator[CommandPart]:
    """The single commands of a line as rules see them: ``git push origin``, however it was spelled.

    Wrappers, paths of programs and needless spaces are gone, and what hides in ``$(…)`` and ``sh -c`` stands by itself.
    Where something is redirected, only a rule to the letter allows the line.
    """
    literal = bool(_REDIRECTS.search(line))
    told: set[str] = set()
    for words in map(program_words, singles(line)):
        text = " ".join((os.path.basename(words[0]), *words[1:])) if words else ""  # noqa: PTH119
        if words and text not in told:
            told.add(text)
            yield CommandPart(text=text, literal=literal)


def for_grants(line: str, ground: Ground) -> tuple[list[CommandPart], bool]:
    """The commands that a lasting yes to a line covers, none for one that is covered whole; and whether it may last."""
    singles = plain(line)
    if singles is None or any(_carries(single) for single in singles):
        return [], False
    literal = bool(_REDIRECTS.search(line))
    return [_part(single, folder, ground, literal=literal) for single, folder in _steps(singles, ground)], True


def _carries(single: Single) -> bool:
    """Whether it runs a program whose words are code, or a file that can say something else by then."""
    program = single.words[0]
    return "/" in program or bool(_CARRIERS.match(program) or CODE.match(program))


def _steps(singles: list[Single], ground: Ground) -> list[tuple[Single, str]]:
    """The commands of a plain line, each with the folder it runs in; none for a line that is only known whole.

    ``cd FOLDER &&`` at the start is no command of its own: it is where the others run. What is piped into a command is
    part of what it does: such lines stay whole.
    """
    folder = ground.path("", ground.folder)
    while singles[0].words[0] == "cd" and singles[0].after == "&&":
        words = singles[0].words
        if len(words) != 2 or words[1].startswith("-"):
            return []
        folder = ground.path(words[1], folder)
        singles = singles[1:]
    if any(single.after == "|" or single.words[0] in ("cd", "pushd", "popd") for single in singles):
        return []
    return [(single, folder) for single in singles]


def _part(single: Single, folder: str, ground: Ground, *, literal: bool) -> CommandPart:
    program, *words = single.words
    part = CommandPart(text=" ".join(single.words), literal=literal, words=single.words, folder=folder)
    if not words or words[0] not in _FAMILIES.get(program, ()):
        return part
    sub, *words = words
    fixed, says = _FAMILIES[program][sub], _SAYS.get((program, sub), ())
    options, names = set[str](), list[str]()
    rest = iter(words)
    for word in rest:
        if word.startswith("-"):
            options.add(word)
            if word in says and next(rest, None) is None:
                return part
        elif not _NAME.fullmatch(word):
            return part
        else:
            names.append(word)
    more = ["…"] if len(names) >= fixed else []
    return CommandPart(
        text=part.text,
        literal=literal,
        words=part.words,
        folder=folder,
        family=(program, sub, *names[:fixed]),
        options=tuple(sorted(options)),
        places=tuple(ground.path(name, folder) for name in names),
        covers=" ".join((program, sub, *sorted(options), *names[:fixed], *more)),
    )
