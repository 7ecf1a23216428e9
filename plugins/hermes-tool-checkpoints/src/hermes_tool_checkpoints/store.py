"""The shadow store: snapshots of folders as commits in one git repository of our own.

    checkpoints/
      store/                  the git repository; refs/hermes/<hash of the folder>/<time in nanoseconds>
      projects/<hash>.json    which folder, when first and last
      projects/<hash>.index   git's index of that folder: what makes the next snapshot quick
      projects/<hash>.refused why a folder that is too large or slow gets none for a while
      locks/                  store.lock (shared: snapshots, exclusive: tidying), <hash>.lock (one snapshot at a time)

A commit holds ``files`` (the tree) and ``facts`` (what was left out, modes that git forgets). Objects come first, the
ref last, so a process that is killed leaves a snapshot whole or not at all.
"""

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from attrs import field

from hermes_atomic import whole
from hermes_core.errors import HermesError, UserError
from hermes_core.values import frozen
from hermes_tool_checkpoints.config import Config
from hermes_tool_checkpoints.contents import Contents, look
from hermes_tool_checkpoints.git import (
    ATTRIBUTES,
    CONFIG,
    EXCLUDE,
    Git,
    GitFailed,
    Job,
    clean_environment,
    locked,
    program,
)

_FRESH = 3600.0  # seconds for which an equal snapshot need not be taken again
_AGAIN = 600.0  # seconds after which a folder that was too large or slow is tried again
_STEP = 2_000  # new files that git reads before it writes its index
# Places that are nobody's work but hold that of many, and the system itself. Folders in them are fine.
_WIDE = frozenset({
    "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib64", "/media", "/mnt", "/opt", "/run", "/sbin", "/srv",
    "/tmp", "/usr", "/usr/lib", "/usr/local", "/usr/share", "/var", "/var/lib", "/var/log", "/var/tmp",  # noqa: S108
    "/Applications", "/Library", "/System", "/Users", "/Volumes", "/private", "/private/tmp",
})  # fmt: skip
_UNREAL = ("/proc", "/sys")  # what looks like files there may never end, or wait


@frozen(kw_only=True)
class Snapshot:
    """One snapshot. ``kind`` is turn, or rollback: taken before files were brought back."""

    ref: str
    commit: str
    when: float
    tree: str
    facts: str
    kind: str = "turn"
    session: str = ""
    turn: str = ""
    tool: str = ""
    backend: str = ""
    files: int = 0
    skipped: int = 0


@frozen(kw_only=True)
class About:
    """Why a snapshot is taken."""

    kind: str = "turn"
    session: str = ""
    turn: str = ""
    tool: str = ""
    backend: str = ""


@frozen(kw_only=True)
class State:
    """What a folder held at one moment."""

    tree: str
    contents: Contents = field(repr=False)


class Store:
    """The shadow store. Every method works in the calling thread and raises GitFailed or UserError."""

    def __init__(self, root: Path, config: Config, *, closed: Path) -> None:
        self.root, self.config = root, config
        self.repository = root / "store"
        self.home = Path(os.path.realpath(closed))  # of Hermes: never part of a snapshot

    # --- places -------------------------------------------------------------------------------------------------------

    def project(self, folder: Path) -> str:
        """The name a folder has in the store."""
        return hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]

    def checked(self, folder: str) -> Path:
        """A folder that may have snapshots. Raises UserError."""
        try:
            path = Path(os.path.realpath(folder))
        except FileNotFoundError:
            raise UserError("The current folder is gone.", hint="cd to another one, or name it: --folder.") from None
        home = Path(os.path.realpath(os.path.expanduser("~")))  # noqa: PTH111
        unreal = any(path.is_relative_to(place) for place in _UNREAL)
        wide = str(path) in _WIDE or path == Path(os.path.realpath(gettempdir()))
        if wide or unreal or path == home or path in home.parents or path == Path(path.anchor):
            raise UserError(f"{path} is too wide a folder for snapshots.", hint="Work in a folder of its own.")
        if self.home in (path, *path.parents) and not self._lent(path):
            raise UserError(f"{path} belongs to Hermes itself.", hint="Work in another folder.")
        return path

    def _lent(self, path: Path) -> bool:
        """Whether a folder of Hermes is somebody's to work in: begun in a wide folder, or of a guest."""
        below = path.relative_to(self.home).parts
        return below[:1] == ("workspace",) or (below[:1] == ("people",) and len(below) > 1)

    def called(self, folder: Path) -> str:
        """What a folder is called for its person: where those of guests lie is nothing for them."""
        theirs = self.home in folder.parents and folder.relative_to(self.home).parts[0] == "people"
        return "your folder" if theirs else str(folder)

    @contextmanager
    def at(self, folder: Path, job: Job) -> Iterator[Git]:
        """Git for one folder, alone. What a dead process left half done is cleared away."""
        key = self.project(folder)
        with locked(self.root / "locks" / "store.lock", job, shared=True):
            self._prepare(job)
            with locked(self.root / "locks" / f"{key}.lock", job):
                index = self.root / "projects" / f"{key}.index"
                index.with_name(f"{index.name}.lock").unlink(missing_ok=True)
                yield Git(self.repository, folder, index, job)

    def _prepare(self, job: Job) -> None:
        ready = self.repository / "hermes-ready"
        if ready.exists():
            return
        with locked(self.root / "locks" / "make.lock", job):
            for folder in (self.root, self.root / "projects", self.repository):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            words = [program(), "init", "-q", "--bare", "--template=", str(self.repository)]
            status, _, errors = job.run(words, env=clean_environment(), cwd=self.root)
            if status:
                raise GitFailed(f"git init: {errors.decode(errors='replace').strip()[:300]}")
            (self.repository / "info").mkdir(exist_ok=True)
            for name, text in (("config", CONFIG), ("info/attributes", ATTRIBUTES), ("info/exclude", EXCLUDE)):
                replace(self.repository / name, text)
            replace(ready, "1\n")

    # --- taking -------------------------------------------------------------------------------------------------------

    def take(self, folder: Path, about: About, job: Job, claim: Callable[[], bool] = lambda: True) -> Snapshot | None:
        """Take a snapshot, or find that the last one is the same. None when ``claim`` says it comes too late.

        ``claim`` is asked when all is read and before anything is kept.
        """
        with self.at(folder, job) as git:
            state = self.state(git)
            return self.keep(git, state, about) if claim() else None

    def state(self, git: Git) -> State:
        """What the folder holds now; its files are in the store, but not yet as a snapshot."""
        contents = look(git, self.config, [self.home])
        for attempt in (1, 2):
            try:
                return State(tree=self._tree(git, contents), contents=contents)
            except GitFailed:
                if attempt == 2 or not git.index.exists():
                    raise
                git.job.left  # noqa: B018 - raises when it took too long
                git.index.unlink()  # it was damaged, or names files that a tidying took away
        raise AssertionError

    def now(self, folder: Path, job: Job) -> State:
        """What a folder holds now, without making it a snapshot."""
        with self.at(folder, job) as git:
            return self.state(git)

    @staticmethod
    def _tree(git: Git, contents: Contents) -> str:
        known = set(filter(None, git("ls-files", "-z", "-c").split(b"\0")))
        if gone := known - contents.wanted:
            git("update-index", "--force-remove", "-z", "--stdin", feed=b"\0".join(gone) + b"\0")
        new = sorted(contents.wanted - known)
        # In steps: what was read before it was stopped need not be read again the next time.
        for files in (sorted(contents.wanted & known), *(new[at : at + _STEP] for at in range(0, len(new), _STEP))):
            if files:
                git("update-index", "--add", "--remove", "-z", "--stdin", feed=b"\0".join(files) + b"\0")
        return git("write-tree").decode().strip()

    def keep(self, git: Git, state: State, about: About) -> Snapshot:
        """Make a snapshot of a state, unless the last one is the same and fresh."""
        facts, now = state.contents.facts(), time.time()
        digest = hashlib.sha256(facts).hexdigest()[:16]
        known = self._snapshots(git)
        if known and (known[0].tree, known[0].facts) == (state.tree, digest) and now - known[0].when < _FRESH:
            return known[0]
        said: dict[str, Any] = {
            "when": now, "tree": state.tree, "facts": digest, "kind": about.kind, "session": about.session,
            "turn": about.turn, "tool": about.tool, "backend": about.backend, "files": len(state.contents.wanted),
            "skipped": len(state.contents.skipped),
        }  # fmt: skip
        blob = git("hash-object", "-w", "--stdin", "--no-filters", feed=facts).decode().strip()
        rows = f"040000 tree {state.tree}\tfiles\n100644 blob {blob}\tfacts\n"
        root = git("mktree", feed=rows.encode()).decode().strip()
        commit = git("commit-tree", root, feed=json.dumps(said).encode()).decode().strip()
        self._touch(git.folder, now)
        ref = f"refs/hermes/{self.project(git.folder)}/{time.time_ns():020d}"
        git("update-ref", ref, commit, "0" * 40)
        if surplus := known[self.config.max_snapshots - 1 :]:
            with suppress(GitFailed):  # the next tidying gets them
                self.drop(git, surplus)
        return Snapshot(ref=ref, commit=commit, **said)

    def _touch(self, folder: Path, now: float) -> None:
        path = self.root / "projects" / f"{self.project(folder)}.json"
        created = read(path).get("created_at", now)
        replace(path, json.dumps({"workdir": str(folder), "created_at": created, "last_touch": now}))

    # --- refusing -----------------------------------------------------------------------------------------------------

    def refused(self, folder: Path) -> str:
        """Why a folder is not tried for now; empty when it is. Every process knows: none waits for it again."""
        found = read(self._refusal(folder))
        now = found.get("limits") == self._limits and 0 <= time.time() - found.get("when", 0.0) < _AGAIN
        return str(found.get("reason", "")) if now else ""

    def refuse(self, folder: Path, reason: str) -> None:
        """Note that a folder is too large or too slow, for as long as the limits are what they are."""
        replace(self._refusal(folder), json.dumps({"when": time.time(), "reason": reason, "limits": self._limits}))

    def forgive(self, folder: Path) -> None:
        """A folder was read to its end."""
        self._refusal(folder).unlink(missing_ok=True)

    def _refusal(self, folder: Path) -> Path:
        return self.root / "projects" / f"{self.project(folder)}.refused"

    @property
    def _limits(self) -> list[float]:
        return [self.config.max_files, self.config.max_total_size_mb, self.config.wait_seconds]

    # --- looking ------------------------------------------------------------------------------------------------------

    def snapshots(self, folder: Path, job: Job, backend: str = "") -> list[Snapshot]:
        """The snapshots of a folder, newest first; only those taken in places of one backend, if so asked."""
        if not (self.repository / "hermes-ready").exists():
            return []
        git = Git(self.repository, self.root, self.root / "index", job)
        return [s for s in self._snapshots(git, folder) if not backend or s.backend in ("", backend)]

    def _snapshots(self, git: Git, folder: Path | None = None) -> list[Snapshot]:
        where = f"refs/hermes/{self.project(folder or git.folder)}/"
        listing = git("for-each-ref", "--sort=-refname", "--format=%(refname) %(objectname) %(contents:subject)", where)
        found = []
        for line in listing.decode().splitlines():
            ref, commit, said = line.split(" ", 2)
            with suppress(ValueError, TypeError):
                found.append(Snapshot(ref=ref, commit=commit, **json.loads(said)))
        return found

    def facts(self, git: Git, snapshot: Snapshot) -> Contents:
        """What a snapshot left out, and modes; ``wanted`` stays empty."""
        data = json.loads(git("cat-file", "blob", f"{snapshot.commit}:facts"))
        return Contents(wanted=frozenset(), skipped=data["skipped"], modes=data["modes"])

    def drop(self, git: Git, snapshots: list[Snapshot]) -> None:
        """Forget snapshots, all at once. Their files go with the next tidying."""
        lines = "".join(f"delete {s.ref}\n" for s in snapshots)
        git("update-ref", "--stdin", feed=lines.encode())


def pick(snapshots: list[Snapshot], number: int, folder: str) -> Snapshot:
    """The ``number``-th snapshot, 1 being the newest. Raises UserError."""
    if not snapshots:
        raise UserError(f"There is no snapshot of {folder}.", hint="One is taken before the first change of a turn.")
    if not 1 <= number <= len(snapshots):
        raise UserError(f"There is no snapshot {number} of {folder}; there are 1 to {len(snapshots)}.")
    return snapshots[number - 1]


def read(path: Path) -> Mapping[str, Any]:
    """A small JSON file of ours; empty when it is not there or damaged."""
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def replace(path: Path, text: str) -> None:
    """Replace a file as a whole; never a half-written one. Raises HermesError."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        whole.replace(path, text.encode(errors="surrogateescape"))
    except OSError as error:
        raise HermesError(f"Cannot write {path}: {error.strerror}.") from None
