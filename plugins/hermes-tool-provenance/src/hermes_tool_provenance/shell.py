"""What a shell command names and reads, as far as its words tell. Where they do not tell, it reads what lies there."""

import os
import shlex
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hermes_core.patterns import pattern

_PARTS = pattern(r"\$\(|[;&|\n(){}`]+")
_MAGIC = pattern(r"[*?\[$]")
_ASSIGNED = pattern(r"\w+=")
_CARRIERS = frozenset((
    "sudo", "env", "time", "nohup", "nice", "xargs", "command", "exec", "timeout", "stdbuf",
))  # fmt: skip
# Programs that show nothing of what is in files, and nothing of their names.
_SILENT = frozenset((
    "cd", "pwd", "mkdir", "rmdir", "touch", "rm", "mv", "cp", "ln", "chmod", "chown", "true", "false", "echo",
    "printf", "date", "which", "type", "sleep", "export", "set", "unset", "exit", "test", "kill", "wait",
    "whoami", "id", "uname", "hostname", "nproc", "free", "uptime", "df", "install",
))  # fmt: skip
# Programs that show of a folder what is named, and do not go through it by themselves.
_NAMED_ONLY = frozenset((
    "ls", "cat", "head", "tail", "less", "wc", "stat", "file", "diff", "cmp", "sort", "uniq", "cut", "tr", "tee",
    "curl", "wget", "ping", "dig",
))  # fmt: skip
# Verbs of git that show nothing of the commits it keeps, nor write it out; and those that show of files the names.
_NO_OBJECTS = frozenset((
    "", "add", "clean", "commit", "config", "gc", "help", "init", "ls-files", "mv", "push", "rm", "status", "version",
))  # fmt: skip
_NO_FILES = frozenset((
    "", "add", "branch", "checkout", "clean", "commit", "config", "fetch", "gc", "help", "init", "log", "ls-files",
    "merge", "mv", "push", "rebase", "remote", "rev-list", "rev-parse", "rm", "shortlog", "status", "switch", "tag",
    "version",
))  # fmt: skip
_WITH_VALUE = frozenset(("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"))


class Part(NamedTuple):
    """One command of a line: what it runs in, the places that it names, those that are not there yet, how it reads.

    ``speaks``: its output may hold what it reads. ``searches``: it may read what lies in its folder, though it does not
    name it. ``objects``: it reads what git keeps.
    """

    cwd: str
    places: Sequence[str]
    absent: Sequence[str]
    speaks: bool
    searches: bool
    objects: bool


def parts(command: str, cwd: str) -> Iterator[Part]:
    """The commands of a line."""
    for text in _PARTS.split(command):
        words = _words(text)
        while words and (_ASSIGNED.match(words[0]) or words[0] in _CARRIERS or words[0].startswith("-")):
            words = words[1:]
        if not words:
            continue
        program, rest = words[0].rpartition("/")[2], words[1:]
        named = dict.fromkeys(place for word in words for place in _places(word, cwd))
        git = program == "git"
        verb, here = _of_git(rest, cwd) if git else ("", cwd)
        yield Part(
            cwd=here,
            places=[place for place in named if os.path.lexists(place)],
            absent=[place for place in named if not os.path.lexists(place)],
            speaks=program not in _SILENT,
            searches=verb not in _NO_FILES if git else program not in _SILENT | _NAMED_ONLY,
            objects=git and verb not in _NO_OBJECTS,
        )
        if program == "cd" and rest:
            cwd = os.path.normpath(os.path.join(cwd, os.path.expanduser(rest[-1])))  # noqa: PTH111, PTH118


def _of_git(words: Sequence[str], cwd: str) -> tuple[str, str]:
    """The verb of a command of git, and the folder that it works in."""
    rest = iter(words)
    for word in rest:
        value = next(rest, "") if word in _WITH_VALUE else ""
        if word == "-C":
            cwd = os.path.normpath(os.path.join(cwd, os.path.expanduser(value)))  # noqa: PTH111, PTH118
        elif not word.startswith("-"):
            return word, cwd
    return "", cwd


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text, comments=False)
    except ValueError:
        return text.split()


def _places(word: str, cwd: str) -> Iterator[str]:
    """The files and folders that a word may mean, there or not."""
    bare = word.lstrip("<>0123456789@")
    for one in {word, bare, word.partition("=")[2]}:
        if not one or one.startswith("-") or "://" in one or "\0" in one:
            continue
        path = os.path.expandvars(os.path.expanduser(one))  # noqa: PTH111
        if found := _MAGIC.search(path):
            path = path[: found.start()].rpartition("/")[0] or ("/" if path.startswith("/") else ".")
        yield os.path.normpath(os.path.join(cwd, path))  # noqa: PTH118
