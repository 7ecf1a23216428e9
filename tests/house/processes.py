"""Processes of this machine that tests look for by a word of their own."""

from pathlib import Path

__all__ = ["running"]


def running(word: str, *, whole: bool = False) -> list[int]:
    """The processes with a word in their command line; ``whole`` where it is an argument, not a part of one."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if word.encode() in (line.split(b"\0") if whole else line):
            found.append(int(entry.name))
    return found
