"""Commands that run, and things that are remembered."""

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence

from attrs import field

from hermes_core.environment import MARK, for_commands
from hermes_core.values import frozen


def _marked(env: Mapping[str, str]) -> Mapping[str, str]:
    return {**env, MARK: os.urandom(16).hex()}


@frozen(kw_only=True)
class ExecRequest:
    """A command to run. ``argv`` is never passed through a shell; ``on_output`` gets output as it comes.

    ``env`` are variables that it has beside those of the place it runs in. ``HERMES_RUN`` is always among them, new for
    each request: by it the processes of this command are found, and ``hermes`` knows that no person runs it.
    """

    argv: Sequence[str]
    stdin: bytes = b""
    cwd: str = ""
    env: Mapping[str, str] = field(factory=dict, converter=_marked)
    seconds: float = 180.0
    limit: int = 1_000_000  # bytes of output kept in memory; head and tail are kept, the middle is dropped
    on_output: Callable[[bytes], None] | None = None
    wall: bool = True  # False lets it out of Workspace.wall: only what a person allowed
    opens: Callable[[str], Awaitable[str]] | None = None  # for a closed HOST:PORT: once, session, always, deny or ""
    hosts: Sequence[str] | None = None  # patterns of the only ones it may reach behind a wall; None: as that has it

    @property
    def environment(self) -> dict[str, str]:
        """All variables of a command of this machine: those of Hermes but for secrets, and ``env``."""
        return {**for_commands(), **self.env}


@frozen
class Folder:
    """A folder that commands reach besides their own, by its real path, and whether they may change it."""

    path: str
    writes: bool = False


@frozen(kw_only=True)
class ExecResult:
    """What a command came to: exit status (124 after a time-out, 128+n after signal n) and joined output."""

    status: int
    output: bytes
    truncated: bool = False
    online: bool = False  # a connection led out, or ``Workspace.also`` was read, so its output may come from outside
    refused: Sequence[str] = ()  # what the wall refused it, and what would allow it, as far as the place can tell


@frozen(kw_only=True)
class Wall:
    """What bounds the commands of a workspace: its name, ``none`` where nothing does, and what it does not keep.

    ``better`` are commands that would make a better one possible here, for a person to agree to.
    """

    name: str
    missing: Sequence[str] = ()
    better: Sequence[Sequence[str]] = ()


@frozen(kw_only=True)
class Source:
    """Where a memo came from. ``trusted`` is false when its text came from outside (a page, a file, a stranger)."""

    by: str
    session_id: str = ""
    trusted: bool = True


@frozen(kw_only=True)
class Memo:
    """One remembered thing."""

    id: str
    text: str
    source: Source
    score: float = 1.0
