"""What comes of looking at a command: a verdict, why, and what the command would do."""

from enum import StrEnum
from typing import Literal, NamedTuple

from hermes_core.types import Effect

__all__ = [
    "BEHIND_A_WALL",
    "DERIVED",
    "EFFECTS",
    "ISOLATED",
    "LISTED",
    "OPAQUE",
    "OPEN",
    "RUNS",
    "UNKNOWN",
    "Class",
    "Decided",
    "Judgement",
    "Outcome",
    "Setting",
]

Outcome = Literal["allow", "ask", "deny"]

# Two characters that no command may hold stand for text that cannot be known from the command.
OPAQUE = "\x00"  # comes from outside: a variable that is not set here
DERIVED = "\x01"  # made by the command itself at run time: a substitution, a loop's variable, a pipe
LISTED = "\x02"  # the name of some file below a folder, as ls, find and git list them
UNKNOWN = OPAQUE + DERIVED + LISTED


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


_READ, _WRITE, _RUN = {Effect.READ_FILES}, {Effect.WRITE_FILES}, {Effect.EXECUTE}
_FETCH, _SEND = {Effect.NETWORK}, {Effect.SEND, Effect.NETWORK}
# What each does to the world. Where it cannot be said for sure, it is EXECUTE, which may be anything.
EFFECTS: dict[Class, frozenset[Effect]] = {
    one: frozenset(effects)
    for one, effects in {
        Class.READ: _READ,
        Class.WRITE: _WRITE,
        Class.WRITE_OUTSIDE: _WRITE,
        Class.DELETE: _WRITE,
        Class.PROJECT: _RUN,
        Class.CODE: _RUN,
        Class.GIT: _WRITE,
        Class.GIT_HISTORY: _WRITE,
        Class.FETCH: _FETCH,
        Class.SEND: _SEND,
        Class.INSTALL: _RUN | _FETCH,
        Class.SERVE: _RUN | _SEND,
        Class.PRIVILEGE: _RUN,
        Class.USERS: _RUN,
        Class.SERVICES: _RUN,
        Class.KERNEL: _RUN,
        Class.PROCESSES: _RUN,
        Class.PERSISTENCE: _RUN | _WRITE,
        Class.CREDENTIALS: _READ,
        Class.CONTAINERS: _RUN | _FETCH,
        Class.CLOUD: _RUN | _SEND,
        Class.DATABASE: _RUN,
        Class.HERMES: _RUN,
        Class.UNCLEAR: _RUN,
    }.items()
}

# Who asks for one of these may run what it is given, whatever its grammar is.
RUNS = frozenset(
    {Class.PROJECT, Class.CODE, Class.GIT_HISTORY, Class.INSTALL, Class.SERVE, Class.PRIVILEGE, Class.SERVICES}
    | {Class.PROCESSES, Class.PERSISTENCE, Class.DATABASE, Class.UNCLEAR, Class.CREDENTIALS}
)


class Setting(NamedTuple):
    """What holds around a command besides the guard: ``asks`` are classes that it asks about, and ``denies`` whether it
    still denies, and asks about what is lost for good.
    """

    asks: frozenset[Class]
    denies: bool


OPEN = Setting(frozenset(Class), denies=True)
BEHIND_A_WALL = Setting(frozenset(), denies=True)  # what else a command can do, the wall bounds
ISOLATED = Setting(frozenset({Class.SEND, Class.CLOUD}), denies=False)  # only what leaves the place counts


class Judgement(NamedTuple):
    """The verdict on one command. ``reason`` continues a sentence that starts with "it"."""

    outcome: Outcome
    reason: str
    classes: tuple[Class, ...] = ()
    programs: tuple[str, ...] = ()
    effects: frozenset[Effect] = frozenset()


class Decided(Exception):
    """Nothing can change the verdict any more, or looking further would take too long."""
