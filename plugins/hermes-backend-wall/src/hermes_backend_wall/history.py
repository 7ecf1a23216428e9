"""What a repository's history held when a workspace was opened: what was there, git may bring back.

Commands can write that history: objects, replacements, grafts and graphs. So every object on the way from a commit
that was known before the first command is hashed here, and git is but asked for bytes, with none of the repository's
settings.
"""

import os
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha1, sha256
from pathlib import Path
from typing import IO, Self

__all__ = ["ENV", "Known", "environment"]

_SAFE = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never")
ENV = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
ENV |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_REPLACE_OBJECTS": "1"}
_SECONDS = 10
_MOST = 500  # names whose commits count, the newest first
_COMMITS, _WALK = 20_000, 5.0  # commits and seconds that are looked through
_LARGEST = 20_000_000  # bytes of an object


def environment() -> dict[str, str]:
    """Variables for git, none of which comes from the person's settings."""
    return {"PATH": os.environ.get("PATH", os.defpath), **ENV}


class Known:
    """The commits that the names of a repository led to. ``commits`` are None until they were looked at."""

    def __init__(self, folder: str, commits: Iterable[str] | None = None, objects: str = "") -> None:
        self._folder = folder
        self.commits = None if commits is None else list(commits)
        self.objects = objects

    def look(self) -> None:
        """Remember the commits, once. Costs a program of git, so only before commands ran."""
        if self.commits is not None:
            return
        self.commits = []
        if not os.path.lexists(f"{self._folder}/.git"):
            return
        words = ("for-each-ref", "--sort=-creatordate", f"--count={_MOST}", "--format=%(objectname)")
        named = self._ask(*words).split()
        head = self._ask("rev-parse", "--verify", "--quiet", "HEAD").split()
        self.commits = list(dict.fromkeys([*head, *named]))
        if self.commits:
            self.objects = os.path.join(self._folder, self._ask("rev-parse", "--git-path", "objects").strip())  # noqa: PTH118

    def _ask(self, *words: str) -> str:
        try:
            done = subprocess.run(
                ["git", *_SAFE, *words],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
                timeout=_SECONDS,
                cwd=self._folder,
                env=environment(),
            )
        except (OSError, subprocess.SubprocessError):
            return ""
        return done.stdout.decode(errors="surrogateescape") if done.returncode == 0 else ""

    def holds(self, path: str, data: bytes) -> bool:
        """Whether a file of the workspace had these bytes in the history of one of them."""
        if not self.commits:
            return False
        try:
            with _Objects(self.objects, len(self.commits[0])) as objects:
                return _held(objects, self.commits, os.fsencode(path).split(b"/"), data)
        except (OSError, ValueError, subprocess.SubprocessError):
            return False


def _held(objects: "_Objects", commits: Iterable[str], parts: list[bytes], data: bytes) -> bool:
    wanted = objects.name(b"blob", data)
    waiting, seen, trees = deque(commits), set(commits), set[str]()
    until = time.monotonic() + _WALK
    while waiting and len(seen) < _COMMITS and time.monotonic() < until:
        kind, body = objects.get(waiting.popleft())
        if kind == b"tag":
            waiting.append(body[7 : 7 + objects.length].decode())
            continue
        if kind != b"commit":
            continue
        head = body.partition(b"\n\n")[0].split(b"\n")
        tree = head[0][5:].decode()
        if tree not in trees:
            trees.add(tree)
            if _entry(objects, tree, parts) == wanted:
                return True
        for line in head[1:]:
            if line.startswith(b"parent ") and (parent := line[7:].decode()) not in seen:
                seen.add(parent)
                waiting.append(parent)
    return False


def _entry(objects: "_Objects", tree: str, parts: list[bytes]) -> str:
    """The object at a path of a tree; empty where there is none."""
    for part in parts:
        kind, body = objects.get(tree)
        if kind != b"tree":
            return ""
        at, tree = 0, ""
        while at < len(body):
            end = body.index(b"\0", at)
            after = end + 1 + objects.length // 2
            if body[at:end].partition(b" ")[2] == part:
                tree = body[end + 1 : after].hex()
                break
            at = after
        if not tree:
            return ""
    return tree


class _Objects:
    """Objects out of a folder of them, each checked against its name."""

    def __init__(self, folder: str, length: int) -> None:
        self.length = length
        self._hash = sha1 if length == 40 else sha256
        self._place = tempfile.TemporaryDirectory(prefix="hermes-objects-")
        place = Path(self._place.name)
        for name in ("refs", "objects"):
            (place / name).mkdir()
        (place / "HEAD").write_text("ref: refs/heads/none\n")
        sha = length != 40
        extension = "[extensions]\n\tobjectformat = sha256\n" if sha else ""
        (place / "config").write_text(f"[core]\n\trepositoryformatversion = {int(sha)}\n\tbare = true\n{extension}")
        env = {**environment(), "GIT_DIR": str(place), "GIT_OBJECT_DIRECTORY": folder}
        try:
            self._git = subprocess.Popen(
                ["git", *_SAFE, "cat-file", "--batch"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env=env,
            )
        except OSError:
            self._place.cleanup()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._git.kill()
        for end in (self._git.stdin, self._git.stdout):
            with suppress(OSError):
                _must(end).close()
        self._git.wait()
        self._place.cleanup()

    def name(self, kind: bytes, body: bytes) -> str:
        """The name of an object, by the hash that the repository uses."""
        whole = b"%b %d\0%b" % (kind, len(body), body)
        return (sha1(whole, usedforsecurity=False) if self.length == 40 else sha256(whole)).hexdigest()

    def get(self, name: str) -> tuple[bytes, bytes]:
        """Kind and bytes of an object. Raises ValueError where it is missing, too large, or not what it is called."""
        give, take = _must(self._git.stdin), _must(self._git.stdout)
        give.write(f"{name}\n".encode())
        give.flush()
        words = take.readline().split()
        if len(words) != 3 or int(words[2]) > _LARGEST:
            raise ValueError(f"{name} is not there")
        body = take.read(int(words[2]))
        take.read(1)
        if self.name(words[1], body) != name:
            raise ValueError(f"{name} is forged")
        return words[1], body


def _must(end: IO[bytes] | None) -> IO[bytes]:
    if end is None:
        raise ValueError("git has no pipes")
    return end
