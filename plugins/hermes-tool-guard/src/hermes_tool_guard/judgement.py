"""What comes of looking at a command: a verdict, why, and what the command would do."""

from enum import StrEnum
from typing import Literal, NamedTuple

__all__ = ["DERIVED", "OPAQUE", "UNKNOWN", "Class", "Decided", "Judgement", "Outcome"]

Outcome = Literal["allow", "ask", "deny"]

# Two characters that no command may hold stand for text that cannot be known from the command.
OPAQUE = "\x00"  # comes from outside: a variable that is not set here
DERIVED = "\x01"  # made by the command itself at run time: a substitution, a loop's variable, a pipe
UNKNOWN = OPAQUE + DERIVED


class Class(StrEnum):
    """What a command does. The name is what ``--json`` shows."""

    READ = "reads"
    WRITE = "writes inside"
    WRITE_OUTSIDE = "writes outside"
    DELETE = "deletes"
    PROJECT = "runs the project's code"
    CODE = "runs code"
    GIT = "local git"
    GIT_HISTORY = "rewrites git"
    FETCH = "fetches"
    SEND = "sends"
    INSTALL = "installs"
    SERVE = "serves"
    PRIVILEGE = "takes privilege"
    USERS = "changes users"
    SERVICES = "changes services"
    KERNEL = "changes kernel or devices"
    PROCESSES = "ends processes"
    PERSISTENCE = "persists"
    CREDENTIALS = "touches credentials"
    CONTAINERS = "drives containers"
    CLOUD = "drives a cloud"
    DATABASE = "drives a database"
    HERMES = "touches Hermes"
    UNCLEAR = "cannot be known"


class Judgement(NamedTuple):
    """The verdict on one command. ``reason`` continues a sentence that starts with "it"."""

    outcome: Outcome
    reason: str
    classes: tuple[Class, ...] = ()
    programs: tuple[str, ...] = ()


class Decided(Exception):
    """Nothing can change the verdict any more, or looking further would take too long."""
