"""What no mode lifts, not even ``--yolo``: wiping the disk, the home or a mount, and touching what guards the agent.

This looks at words, not at meaning: it is a net under the judgement, not a boundary. An isolated workspace is one.
"""

import os
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

from hermes_closed.closed import NO_NAME, expanded, vital_place
from hermes_core.patterns import pattern
from hermes_core.types import Protected
from hermes_tool_guard.itself import is_for_a_person
from hermes_tool_guard.line import singles
from hermes_tool_guard.named import Clear, closed_text, closed_words

__all__ = ["CODE", "LONGEST", "blocked_command", "program_words"]

_WIPERS = {"rm", "rmdir", "shred", "chmod", "chown", "chgrp", "mv", "find", "truncate", "unlink", "srm", "wipe"}
_NEVER = pattern(r"(mkfs(\..+)?|mke2fs|wipefs|blkdiscard|fdisk|sfdisk|parted|mkswap|sgdisk)$")
_DEVICE = pattern(r"/dev/(sd|hd|vd|xvd|nvme|mmcblk|disk|dm-|md|mapper/|loop)")
# Programs that run another one, with those of their options that take a value.
_WRAPPERS = {
    "sudo": "ugCDhpRrTU", "doas": "uC", "env": "uCS", "nice": "n", "ionice": "cn", "timeout": "ks", "time": "fo",
    "stdbuf": "ioe", "xargs": "IadEnPsL", "nohup": "", "setsid": "", "command": "", "exec": "a", "builtin": "",
    "busybox": "", "chroot": "", "flock": "wE", "eval": "", "coproc": "", "then": "", "do": "", "else": "", "elif": "",
    "!": "", "{": "", "if": "", "while": "", "until": "",
}  # fmt: skip
CODE = pattern(  # programs whose words or input are code
    r"((ba|z|da|k|c|tc|fi)?sh|python[\d.]*|pypy[\d.]*|perl[\d.]*|ruby[\d.]*|node|nodejs|deno|bun|php[\d.]*|lua[\d.]*"
    r"|tclsh[\d.]*|osascript|pwsh|powershell|[gmn]?awk|sqlite3|ed|ex|vim?|nvim|emacs|xargs|parallel|eval|gdb)$"
)
_LEADING = {"timeout": 1, "chroot": 1, "flock": 1}  # words of their own before the program
_FORK_BOMB = pattern(r":\(\)\s*\{\s*:\s*\|\s*:\s*&\s*\}\s*;\s*:")
_OPTION = pattern(r"(of|if|--\w[\w-]*)=")
LONGEST = 128_000  # characters of a command


def blocked_command(command: str, cwd: str, protected: Protected) -> str:
    """Why a shell command that begins in a folder is never run, or an empty string."""
    if reason := _as_a_whole(command):
        return reason
    known: dict[str, str] = {}  # variables set on the way: D=~; rm -rf $D
    aliases: dict[str, list[str]] = {}
    cwd = os.path.normpath(cwd or "/")
    clear = Clear()
    seen: set[tuple[str, ...]] = set()
    named: str | None = None  # what of ours the text names, once somebody asked
    for one in singles(command):
        if one in seen:
            continue
        words = _meant(program_words(one, known), aliases, known)
        if known and any("$" in word for word in one):
            words = [_with(known, word) for word in words]
        elif not aliases and not any("=" in word for word in one):  # what sets a variable may set it back
            seen.add(one)
        if not words:
            continue
        if words[0] in ("cd", "pushd"):
            clear = Clear()
            seen.clear()
            cwd = os.path.normpath(os.path.join(cwd, expanded(words[1] if len(words) > 1 else "~")))  # noqa: PTH118
        if is_for_a_person(words, protected):
            return f"what {protected.program} may do is a person's to change"
        if reason := _blocked_words(words, cwd, protected, clear):
            return reason
        if CODE.match(_name(words[0])):
            named = closed_text(command, protected.closed, protected.readable) if named is None else named
            if named:
                return named
    return ""


def program_words(single: Sequence[str], known: dict[str, str] | None = None) -> list[str]:
    """A single command's words from its program on: without wrappers such as ``sudo`` and variables set before it.

    ``known`` takes up the variables.
    """
    words, variables = _taken_apart(tuple(single))
    if known is not None:
        known.update((name, expanded(value)) for name, value in variables)
    return list(words)


@lru_cache(maxsize=512)
def _taken_apart(single: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    words, variables = list(single), list[tuple[str, str]]()
    while words:
        name, _, value = words[0].partition("=")
        program = _name(words[0])
        if value and name.isidentifier():
            variables.append((name, value))
            words = words[1:]
        elif program in _WRAPPERS:
            words = _after_options(words[1:], _WRAPPERS[program])[_LEADING.get(program, 0) :]
        else:
            break
    return tuple(words), tuple(variables)


def _after_options(words: list[str], valued: str) -> list[str]:
    while words and words[0].startswith("-"):
        takes_next = len(words[0]) == 2 and words[0][1] in valued
        words = words[2 if takes_next else 1 :]
    return words


def _with(known: dict[str, str], word: str) -> str:
    for name, value in known.items():
        word = re.sub(rf"\$\{{?{name}\b\}}?", value.replace("\\", "\\\\"), word)
    return word


def _meant(words: list[str], aliases: dict[str, list[str]], known: dict[str, str]) -> list[str]:
    """The words that a shell reads for these, by the names that it was given on the way; takes up new names."""
    if words and words[0] == "alias":
        aliases.update((name, text.split()) for name, sign, text in (w.partition("=") for w in words[1:]) if sign)
    elif words and words[0] in aliases:
        return program_words([*aliases[words[0]], *words[1:]], known)
    return words


def _as_a_whole(command: str) -> str:
    if len(command) > LONGEST:
        return f"it is longer than {LONGEST:,} characters, too long to be looked through"
    if re.search(NO_NAME, command):
        return "it holds a character that no command can have"
    return "it is a fork bomb" if _FORK_BOMB.search(command) else ""


def _name(word: str) -> str:
    return word.rpartition("/")[2]


def _blocked_words(words: list[str], cwd: str, protected: Protected, clear: Clear) -> str:
    program = _name(words[0])
    if _NEVER.match(program):
        return f"{program} destroys a file system"
    if any("/dev/" in word for word in words) and (target := _device(program, words)):
        return f"it writes to the raw device {target}"
    shut, free, sweeps = protected.closed, protected.readable, _takes_all(program, words)
    if reason := closed_words(words, cwd, shut, free, sweeps=sweeps, clear=clear):
        return reason
    if program in _WIPERS and _is_sweeping(program, words):
        targets = words[1:-1] if program == "mv" else words[1:]
        for word in targets:
            if (place := vital_place(word, cwd)) and not word.startswith("-"):
                return f"{program} would change {place} as a whole"
    return ""


def _device(program: str, words: list[str]) -> str:
    for word in words[1:]:
        target = word.split("=", 1)[1] if _OPTION.match(word) else word
        if _DEVICE.match(target) and (program in ("dd", "cp", "tee", "shred", "cat") or ">" in words):
            if program == "dd" and not word.startswith("of="):
                continue
            return target
    return next((target for target in _redirected(words) if _DEVICE.match(target)), "")


def _redirected(words: list[str]) -> Iterable[str]:
    for i, word in enumerate(words):
        if word.lstrip("&0123456789") in (">", ">>", ">|") and i + 1 < len(words):
            yield words[i + 1]
        elif match := re.search(r">\|?([^>|\s]+)$", word):
            yield match.group(1)


def _takes_all(program: str, words: list[str]) -> bool:
    """Whether what it names is touched with all that lies below."""
    if program == "find":
        return any(word.startswith(("-delete", "-exec", "-ok", "-fprint", "-fls")) for word in words)
    return program in _WIPERS - {"chmod"}


def _is_sweeping(program: str, words: list[str]) -> bool:
    if program == "find":
        runs = [after for word, after in pairwise(words) if word in ("-exec", "-execdir", "-ok")]
        return "-delete" in words or any(_name(run) in _WIPERS - {"find"} for run in runs)
    if program in ("mv", "shred", "truncate", "unlink", "rmdir", "srm", "wipe"):
        return True
    return any(w == "--recursive" or re.match(r"-[a-zA-Z]*[rR]", w) for w in words[1:])
