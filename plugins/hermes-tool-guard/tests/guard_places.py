"""The place that the tests of the guard pretend to be in."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from hermes_core.agent.policy.itself import widens
from hermes_core.records import KERNEL, Record
from hermes_core.types import Protected
from hermes_tool_guard.guard import check, guarded_paths
from hermes_tool_guard.hardblocks import blocked_command
from hermes_tool_guard.judgement import Judgement

ROOT, HOME = "/work/project", "/home/me"
GUARDED = guarded_paths(f"{HOME}/.hermes")
CORPUS = Path(__file__).with_name("corpus")


# The kernel's own commands, and one of a plugin's that its manifest keeps for a person.
_RECORDS = (*KERNEL, Record("skills enable", who="person", owner="tool/skills"))


def reserved(words: Sequence[str]) -> bool:
    """Whether only a person may run the words behind the name of the program."""
    return widens(words, _RECORDS)


PROTECTED = Protected(reserved=reserved)


def judged(command: str, *, root: str = ROOT, folder: str = "") -> Judgement:
    return check(command, root=root, folder=folder, home=HOME, guarded=GUARDED, protected=PROTECTED)


def blocked(
    command: str, cwd: str, guarded: Sequence[Path] = (), program: str = "hermes", readable: Sequence[str] = ()
) -> str:
    """Why a command is never run, or nothing."""
    protected = Protected(closed=tuple(guarded), readable=tuple(readable), program=program, reserved=reserved)
    return blocked_command(command, cwd, protected)


def otherwise(outcome: str, commands: Iterable[str]) -> dict[str, Judgement]:
    """The commands that are judged otherwise, each with its judgement."""
    return {command: found for command in commands if (found := judged(command)).outcome != outcome}


def corpus(name: str) -> list[str]:
    """The commands of a file, one a line; ␤ stands for a line end inside of one."""
    lines = (CORPUS / name).read_text(encoding="utf-8").split("\n")
    return [line.replace("␤", "\n") for line in lines if line.strip()]
