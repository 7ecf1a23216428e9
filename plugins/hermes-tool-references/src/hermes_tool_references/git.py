"""What changed, as git tells it: nothing that a repository configures is run, and no more is read than fits."""

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from hermes_tool_references.found import Found, Refused, one_line
from hermes_tool_references.parsing import COMMITS, Reference

COMMAND = (
    "git", "--no-pager", "--no-optional-locks", "--literal-pathspecs", "-c", "core.fsmonitor=false",
    "-c", "core.hooksPath=/dev/null", "-c", "log.showSignature=false", "-c", "core.quotePath=false",
)  # fmt: skip
_PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color")
_ALONE = ("--ignore-submodules=dirty",)  # what one configures would be run to see whether its files changed
_LOG = ("log", "--patch", "--stat", "--format=commit %h%nAuthor: %an%nDate:   %ad%n%n%w(0,4,4)%B", "--date=iso")
_ERRORS = 2_000  # bytes
_GRACE = 0.5  # seconds for a process that was killed to be gone


def environment() -> dict[str, str]:
    """The environment of git: no other repository, no questions, no network."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_PAGER": "cat",
        "LC_ALL": "C",
    }


async def changes(wanted: Reference, cwd: str, closed: Sequence[str | Path], most: int) -> Found:
    """The diff or the commits that are meant, of what lies in the folder. Raises Refused."""
    number = int(wanted.value or 0)
    if wanted.kind == "git" and not 1 <= number <= COMMITS:
        raise Refused(f"write a number of commits from 1 to {COMMITS}")
    words = {
        "diff": ("diff", *_ALONE, *_PLAIN),
        "staged": ("diff", "--cached", *_ALONE, *_PLAIN),
        "git": (*_LOG, *_PLAIN, f"--max-count={number}"),
    }[wanted.kind]
    command = [*(word for word in COMMAND if word != "--literal-pathspecs"), *words]
    text = await run([*command, *await _within(cwd, closed)], cwd, most, await _no_filters(cwd))
    if wanted.kind == "git":
        title = "The last commit" if number == 1 else f"The last {number} commits"
    else:
        title = "Changes that are staged" if wanted.kind == "staged" else "Changes that are not staged"
    label = wanted.raw[1:]
    return Found(label=label, title=title, text=text.strip("\n") or "(nothing)", form="diff" if text.strip() else "")


async def subjects(cwd: str) -> list[str]:
    """The subjects of the last commits, newest first; none outside of a repository."""
    try:
        text = await run([*COMMAND, "log", f"--max-count={COMMITS}", "--format=%s", "--no-color"], cwd, 20_000)
    except Refused:
        return []
    return [one_line(line, 80) for line in text.splitlines()]


async def _within(cwd: str, closed: Sequence[str | Path]) -> list[str]:
    """What git is told to look at: the folder where it is not the whole repository, and nothing closed in it."""
    top = (await run([*COMMAND, "rev-parse", "--show-toplevel"], cwd, 4_096)).strip("\n")
    real = os.path.realpath(cwd)
    hidden = [os.path.relpath(p, real) for p in map(os.path.realpath, closed) if p.startswith(f"{real.rstrip('/')}/")]
    if os.path.realpath(top) == real and not hidden:
        return []
    return ["--", ".", *(f":(exclude,literal){path}" for path in hidden)]


async def _no_filters(cwd: str) -> Mapping[str, str]:
    """Return the variables by which git leaves out the filters that a repository's own settings name.

    No option turns them off, and a repository that came as an archive has the settings of whoever packed it.
    """
    try:
        rows = await run([*COMMAND, "config", "--show-scope", "--name-only", "-z", "--list"], cwd, 200_000)
    except Refused:
        return {}
    words = rows.split("\0")
    if len(rows) > 200_000:
        raise Refused("this repository has too many settings")
    own = {name.rpartition(".")[0] for scope, name in zip(words[::2], words[1::2], strict=False)
           if scope in ("local", "worktree") and name.lower().startswith("filter.")}  # fmt: skip
    set_to = [(f"{name}.{key}", value) for name in sorted(own)
              for key, value in (("clean", ""), ("smudge", ""), ("process", ""), ("required", "false"))]  # fmt: skip
    given = {"GIT_CONFIG_COUNT": str(len(set_to))}
    for number, (key, value) in enumerate(set_to):
        given |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return given


async def run(command: Sequence[str], cwd: str, most: int, more: Mapping[str, str] | None = None) -> str:
    """What git writes, up to one byte more than ``most``. Raises Refused when it fails. Cancelled, it ends."""
    pipe = asyncio.subprocess.PIPE
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=cwd,
            env={**environment(), **(more or {})},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
            start_new_session=True,
        )
    except OSError as error:
        raise Refused(f"git cannot be started: {(error.strerror or 'no reason given').lower()}") from None
    assert process.stdout
    assert process.stderr
    errors = asyncio.ensure_future(process.stderr.read(_ERRORS))
    try:
        output = bytearray()
        while len(output) <= most and (piece := await process.stdout.read(65_536)):
            output += piece
        if len(output) <= most and await process.wait():
            raise Refused(_said((await errors).decode("utf-8", "replace")))
    finally:
        errors.cancel()
        if process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):  # it, and what it started
                os.killpg(process.pid, signal.SIGKILL)
        ending = asyncio.ensure_future(process.communicate())
        await asyncio.wait({ending, errors}, timeout=_GRACE)
        ending.cancel()
    return bytes(output[: most + 1]).decode("utf-8", "replace")


def _said(errors: str) -> str:
    if "not a git repository" in errors:
        return "this folder is not in a git repository"
    if "does not have any commits" in errors:
        return "there is no commit yet"
    first = next((line for line in errors.splitlines() if line.strip()), "git failed")
    return one_line(first.removeprefix("fatal: ").rstrip("."), 200)
