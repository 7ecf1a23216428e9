"""Running git on the shadow store: no setting, hook or filter of the user or the project has a say in it."""

import fcntl
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hermes_core.errors import ToolError, UserError
from hermes_paths.unsaved import CACHES

CONFIG = """\
[core]
    repositoryformatversion = 0
    bare = false
    fileMode = true
    symlinks = true
    autocrlf = false
    safecrlf = false
    ignoreCase = false
    precomposeUnicode = false
    protectNTFS = false
    protectHFS = false
    fsmonitor = false
    untrackedCache = false
    hooksPath = /dev/null
    excludesFile = /dev/null
    attributesFile = /dev/null
    compression = 1
    bigFileThreshold = 64m
[gc]
    auto = 0
[maintenance]
    auto = false
[commit]
    gpgSign = false
"""
# A project's .gitattributes must change no byte: no line endings, no filters (LFS), no other encodings.
ATTRIBUTES = "* -text -ident -filter !eol !working-tree-encoding\n"
# What can be made again and is large. A project's own .gitignore is honoured besides.
EXCLUDE = "".join(f"{name}/\n" for name in CACHES)


class GitFailed(ToolError):
    """Git could not do it, or not in time. ``status`` is git's own, 0 when it did not end.

    ``busy``: another process is at work, and does it.
    """

    status: int = 0
    busy: bool = False


class Job:
    """A piece of work: when it must have ended, and a way to end it now. Safe from another thread."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self._process: subprocess.Popen[bytes] | None = None
        self.stopped = False
        self.fds: tuple[int, ...] = ()  # locks that live on in a child when this process is killed

    @property
    def over(self) -> bool:
        """Whether its time is up."""
        return self.stopped or time.monotonic() >= self._until

    @property
    def left(self) -> float:
        """Seconds that are left. Raises GitFailed when there are none."""
        if self.over:
            raise GitFailed("it took too long")
        return max(0.001, self._until - time.monotonic())

    def stop(self) -> None:
        """End it, and what it runs."""
        self.stopped = True
        if process := self._process:
            with suppress(OSError):
                process.kill()

    def run(self, argv: list[str], *, env: dict[str, str], cwd: Path, feed: bytes = b"") -> tuple[int, bytes, bytes]:
        """Status, output and errors of a command. Raises GitFailed when it takes too long or cannot be started."""
        left = self.left
        pipe = subprocess.PIPE
        try:
            self._process = subprocess.Popen(
                argv, stdin=pipe, stdout=pipe, stderr=pipe, env=env, cwd=cwd, pass_fds=self.fds
            )
        except OSError as error:
            raise GitFailed(f"git cannot be started: {error.strerror}") from None
        with self._process as process:
            try:
                output, errors = process.communicate(feed, timeout=left)
            except subprocess.TimeoutExpired:
                process.kill()
                raise GitFailed("it took too long") from None
            finally:
                self._process = None
        if self.stopped:
            raise GitFailed("it was stopped")
        return process.returncode, output, errors


def program() -> str:
    """Where git is. Raises UserError."""
    if found := shutil.which("git"):
        return found
    raise UserError("There is no git on this machine.", hint="Install git, or set tools.checkpoints.enabled to false.")


def clean_environment() -> dict[str, str]:
    """An environment in which git sees nobody's settings."""
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR", "SYSTEMROOT") if name in os.environ}
    return kept | {
        "LC_ALL": "C", "HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent", "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0",
        "GIT_AUTHOR_NAME": "hermes", "GIT_AUTHOR_EMAIL": "hermes@localhost",
        "GIT_COMMITTER_NAME": "hermes", "GIT_COMMITTER_EMAIL": "hermes@localhost",
    }  # fmt: skip


class Git:
    """The shadow store seen from one folder, with one index."""

    def __init__(self, store: Path, folder: Path, index: Path, job: Job) -> None:
        self.store, self.folder, self.index, self.job = store, folder, index, job
        self._program = program()

    def __call__(self, *words: str, feed: bytes = b"", index: Path | None = None, folder: Path | None = None) -> bytes:
        """The output of a git command. Raises GitFailed with git's own words."""
        place = folder or self.folder
        own = {"GIT_DIR": str(self.store), "GIT_WORK_TREE": str(place), "GIT_INDEX_FILE": str(index or self.index)}
        status, output, errors = self.job.run(
            [self._program, *words], env={**clean_environment(), **own}, cwd=place, feed=feed
        )
        if status:
            said = errors.decode(errors="replace").strip().splitlines() or [f"status {status}"]
            failed = GitFailed(f"git {words[0]}: {said[0][:300]}")
            failed.status = status
            raise failed
        return output

    def of_the_project(self, *words: str) -> bytes:
        """The output of a reading command on the project's own repository; empty where that does not work."""
        calm = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]
        status, output, _ = self.job.run([self._program, *calm, *words], env=clean_environment(), cwd=self.folder)
        return b"" if status else output


@contextmanager
def locked(path: Path, job: Job, *, shared: bool = False, wait: bool = True) -> Iterator[None]:
    """Hold a lock file. Git inherits it, so whoever gets the lock knows that no git works under it any more.

    Raises GitFailed when somebody else holds it for too long.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    before = job.fds
    try:
        while True:
            try:
                fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not wait or job.over:
                    failed = GitFailed("another Hermes is at work on the snapshots")
                    failed.busy = True
                    raise failed from None
                time.sleep(0.02)
        job.fds = (*before, handle)
        yield
    finally:
        job.fds = before
        os.close(handle)
