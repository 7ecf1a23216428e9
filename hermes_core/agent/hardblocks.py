"""What no mode lifts, not even ``--yolo``: wiping the disk, the home or a mount, and touching what guards the agent.

This looks at words, not at meaning: it is a net under the policy point, not a boundary. An isolated workspace is one.
"""

import os
import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

_WIPERS = {"rm", "rmdir", "shred", "chmod", "chown", "chgrp", "mv", "find", "truncate", "unlink", "srm", "wipe"}
_NEVER = re.compile(r"^(mkfs(\..+)?|mke2fs|wipefs|blkdiscard|fdisk|sfdisk|parted|mkswap|sgdisk)$")
_DEVICE = re.compile(r"^/dev/(sd|hd|vd|xvd|nvme|mmcblk|disk|dm-|md|mapper/|loop)")
_WRAPPERS = {"sudo", "doas", "env", "nice", "nohup", "time", "command", "exec", "ionice", "stdbuf", "xargs", "busybox"}
_FORK_BOMB = re.compile(r":\(\)\s*\{\s*:\s*\|\s*:\s*&\s*\}\s*;\s*:")
_GROUPS = re.compile(r"\$\(|[`()]|(?:^|\s)\{\s|\s\}")
_SPLIT = re.compile(r"(?:\|\||&&|[;&|\n])")


def blocked_command(command: str, cwd: str, guarded: Sequence[Path]) -> str:
    """Why a shell command is never run, or an empty string."""
    if _FORK_BOMB.search(command):
        return "it is a fork bomb"
    for piece in _pieces(command):
        words = _words(piece)
        while words and (Path(words[0]).name in _WRAPPERS or re.match(r"^\w+=", words[0])):
            words = words[1:]
        if not words:
            continue
        if words[0] == "cd":
            cwd = os.path.normpath(os.path.join(cwd or "/", _expanded(words[1] if len(words) > 1 else "~")))  # noqa: PTH118
        if reason := _blocked_words(words, cwd, guarded):
            return reason
    return ""


def _pieces(command: str, depth: int = 0) -> Iterable[str]:
    for piece in _SPLIT.split(_GROUPS.sub(" ; ", command) if depth < 3 else command):
        yield piece
        words = _words(piece)
        for i, word in enumerate(words[:-1]):  # sh -c '…' carries another command
            if (
                word == "-c"
                and depth < 3
                and any(Path(w).name in ("sh", "bash", "zsh", "dash", "su") for w in words[:i])
            ):
                yield from _pieces(words[i + 1], depth + 1)


def _words(piece: str) -> list[str]:
    try:
        return shlex.split(piece, comments=False)
    except ValueError:
        return piece.split()


def _blocked_words(words: list[str], cwd: str, guarded: Sequence[Path]) -> str:
    program = Path(words[0]).name
    if _NEVER.match(program):
        return f"{program} destroys a file system"
    for word in words[1:]:
        target = word.split("=", 1)[1] if re.match(r"^(of|if|--\w[\w-]*)=", word) else word
        if _DEVICE.match(target) and (program in ("dd", "cp", "tee", "shred", "cat") or ">" in words):
            if program == "dd" and not word.startswith("of="):
                continue
            return f"it writes to the raw device {target}"
    for target in _redirected(words):
        if _DEVICE.match(target):
            return f"it writes to the raw device {target}"
    if reason := _touches_guarded(words, cwd, guarded):
        return reason
    if program in _WIPERS and _is_sweeping(program, words):
        for word in words[1:]:
            if (place := vital_place(word, cwd)) and not word.startswith("-"):
                return f"{program} would change {place} as a whole"
    return ""


def _redirected(words: list[str]) -> Iterable[str]:
    for i, word in enumerate(words):
        if word in (">", ">>", ">|") and i + 1 < len(words):
            yield words[i + 1]
        elif match := re.match(r"^\d?>{1,2}\|?(\S+)$", word):
            yield match.group(1)


def _is_sweeping(program: str, words: list[str]) -> bool:
    if program == "find":
        return any(w in ("-delete", "-exec", "-execdir") for w in words)
    if program in ("mv", "shred", "truncate", "unlink", "rmdir", "srm", "wipe"):
        return True
    return any(w == "--recursive" or re.match(r"^-[a-zA-Z]*[rR]", w) for w in words[1:])


def vital_place(word: str, cwd: str) -> str:
    """The name of a vital place that a path means (``/``, the home, a mount), or an empty string."""
    bare = word[: word.rfind("/") + 1] if word.endswith(("/*", "/.*", "/.")) else word
    expanded = _expanded("." if bare in ("*", ".*") else bare)
    if "$" in expanded:  # an unset variable expands to nothing: "$DIR/" becomes "/"
        expanded = re.sub(r"\$\{?\w+[^}/]*\}?", "", expanded)
        if not expanded.startswith("/"):
            return ""
    path = os.path.normpath(os.path.join(cwd or "/", expanded))  # noqa: PTH118 - must not touch the disk
    home = os.path.normpath(os.path.expanduser("~"))  # noqa: PTH111
    if path in ("/", "//"):
        return "the root folder"
    if path == home or home.startswith(path + "/"):
        return "your home folder"
    if path.count("/") == 1 and path != os.path.normpath(cwd or "/") and path not in ("/tmp", "/workspace"):  # noqa: S108
        return f"the system folder {path}"
    if os.path.ismount(path):
        return f"the mount {path}"
    return ""


def _expanded(word: str) -> str:
    return os.path.expandvars(os.path.expanduser(word))  # noqa: PTH111


def _touches_guarded(words: list[str], cwd: str, guarded: Sequence[Path]) -> str:
    for word in words:
        for piece in re.split(r"[=:<>]", word):
            if piece and (reason := guarded_path(piece, cwd, guarded)):
                return reason
    return ""


def guarded_path(word: str, cwd: str, guarded: Sequence[Path]) -> str:
    """Why a path may never be touched by a tool: it guards the agent or holds its secrets; else empty."""
    if not word or len(word) > 4096 or "\0" in word:
        return ""
    expanded = _expanded(word)
    if "/" not in expanded and expanded not in {g.name for g in guarded}:
        return ""
    path = os.path.normpath(os.path.join(cwd or "/", expanded))  # noqa: PTH118
    real = os.path.realpath(path)
    for guard in guarded:
        kept = os.path.realpath(guard)
        if kept in (real, path) or str(guard) == path or real.startswith(kept + "/"):
            return f"{guard.name} belongs to Hermes itself and is closed to tools"
    return ""
