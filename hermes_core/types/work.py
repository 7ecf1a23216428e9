"""Commands that run, and things that are remembered."""

from collections.abc import Callable, Mapping, Sequence

from attrs import Factory

from hermes_core.values import frozen


@frozen(kw_only=True)
class ExecRequest:
    """A command to run. ``argv`` is never passed through a shell; ``on_output`` gets output as it comes."""

    argv: Sequence[str]
    stdin: bytes = b""
    cwd: str = ""
    env: Mapping[str, str] = Factory(dict)
    seconds: float = 180.0
    limit: int = 1_000_000  # bytes of output kept in memory; head and tail are kept, the middle is dropped
    on_output: Callable[[bytes], None] | None = None


@frozen(kw_only=True)
class ExecResult:
    """What a command came to: exit status (124 after a time-out, 128+n after signal n) and joined output."""

    status: int
    output: bytes
    truncated: bool = False


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
