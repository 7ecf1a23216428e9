"""Tidying: what is too old, too many, too large or of a folder that is gone goes."""

import json
import os
import time
from contextlib import suppress
from pathlib import Path

from hermes_core.values import frozen
from hermes_tool_checkpoints.git import Git, GitFailed, Job, locked
from hermes_tool_checkpoints.store import Snapshot, Store, read, replace

_DAY = 86400.0
_ROUNDS = 12
_NOTE = "pruned.json"  # of the last tidying, in the store


@frozen(kw_only=True)
class Project:
    """A folder with snapshots, newest first."""

    key: str
    folder: Path
    snapshots: tuple[Snapshot, ...]


@frozen(kw_only=True)
class Pruned:
    """What a tidying did: snapshots dropped, bytes before and after."""

    dropped: int
    before: int
    after: int


@frozen(kw_only=True)
class Tidied:
    """The last tidying that came to its end: when, in seconds since 1970 (0: never), what it dropped, bytes freed."""

    when: float = 0.0
    dropped: int = 0
    freed: int = 0


def projects(store: Store, job: Job) -> list[Project]:
    """Every folder with snapshots."""
    found = []
    for path in sorted((store.root / "projects").glob("*.json")):
        if workdir := read(path).get("workdir"):
            folder = Path(workdir)
            found.append(Project(key=path.stem, folder=folder, snapshots=tuple(store.snapshots(folder, job))))
    return found


def size(store: Store) -> int:
    """The bytes the store takes, but for the note of its last tidying."""
    total = 0
    for place, _, names in os.walk(store.root):
        for name in set(names) - {_NOTE}:
            with suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_size  # noqa: PTH118
    return total


def tidied(store: Store) -> Tidied:
    """The last tidying, in whichever process."""
    kept = read(store.root / _NOTE)
    with suppress(TypeError, ValueError):
        when, dropped, freed = (kept.get(name, 0) for name in ("when", "dropped", "freed"))
        return Tidied(when=float(when), dropped=int(dropped), freed=int(freed))
    return Tidied()


def due(store: Store) -> bool:
    """Whether it is time to tidy up."""
    return not 0 <= time.time() - tidied(store).when < store.config.min_interval_hours * 3600


def prune(store: Store, job: Job, *, wait: bool = True) -> Pruned:
    """Tidy up, alone. Raises GitFailed when others are at work for too long."""
    before, dropped = size(store), 0
    if not (store.repository / "hermes-ready").exists():
        return Pruned(dropped=0, before=before, after=before)
    with locked(store.root / "locks" / "store.lock", job, wait=wait):
        git = Git(store.repository, store.root, store.root / "index", job)
        _clear(store)
        for project in projects(store, job):
            dropped += _drop(store, git, _stale(store, project))
            if not project.folder.exists() and not store.snapshots(project.folder, job):
                _forget(store, project)
        git("prune", "--expire=now")  # first: unlike gc it keeps what it did when it is stopped half-way
        git("gc", "--quiet", "--prune=now")
        for _ in range(_ROUNDS):
            if size(store) <= store.config.max_total_size_mb * 1_000_000:
                break
            if not (gone := _drop(store, git, _oldest(projects(store, job)))):
                break
            dropped += gone
            git("gc", "--quiet", "--prune=now")
        after = size(store)
        replace(
            store.root / _NOTE,
            json.dumps({"when": time.time(), "dropped": dropped, "freed": before - after}),
        )
    return Pruned(dropped=dropped, before=before, after=after)


def erase(store: Store, session_id: str, job: Job) -> None:
    """Drop the snapshots of a session, with what only they hold; a folder of Hermes that has none left is forgotten."""
    if not (store.repository / "hermes-ready").exists():
        return
    with locked(store.root / "locks" / "store.lock", job):
        git = Git(store.repository, store.root, store.root / "index", job)
        dropped = 0
        for project in projects(store, job):
            dropped += _drop(store, git, [one for one in project.snapshots if one.session == session_id])
            if project.folder.is_relative_to(store.home) and not store.snapshots(project.folder, job):
                _forget(store, project)
        if dropped:
            git("prune", "--expire=now")
            git("gc", "--quiet", "--prune=now")


def _forget(store: Store, project: Project) -> None:
    for end in (".json", ".index", ".restoring", ".refused"):
        (store.root / "projects" / f"{project.key}{end}").unlink(missing_ok=True)


def _clear(store: Store) -> None:
    """Take away what git, and turns, left when they were killed; nobody else is at work on the snapshots now."""
    for note in (store.root / "unsaved").glob("*"):
        with suppress(OSError):
            if time.time() - note.stat().st_mtime > _DAY:
                note.unlink()
    stale = [*store.repository.glob("*.lock"), *store.repository.glob("refs/**/*.lock"), store.repository / "gc.pid"]
    stale += [*store.repository.glob("objects/??/tmp_obj_*"), *store.repository.glob("objects/pack/tmp_*")]
    stale += [*(store.root / "projects").glob(".*"), *(store.root / "projects").glob("*.restore*")]
    for path in stale:
        if path.suffix != ".restoring":
            path.unlink(missing_ok=True)


def _drop(store: Store, git: Git, snapshots: list[Snapshot]) -> int:
    if snapshots:
        store.drop(git, snapshots)
    return len(snapshots)


def _stale(store: Store, project: Project) -> list[Snapshot]:
    config, now = store.config, time.time()
    newest = project.snapshots[0].when if project.snapshots else 0.0
    if config.delete_orphans and not project.folder.exists() and now - newest > _DAY:
        return list(project.snapshots)  # not sooner: the folder may be what has to be brought back
    return [
        s
        for place, s in enumerate(project.snapshots)
        if place >= config.max_snapshots or now - s.when > config.retention_days * _DAY
    ]


def _oldest(found: list[Project]) -> list[Snapshot]:
    """A quarter of what there is, oldest first; the newest of a folder goes only when there is nothing else."""
    older = sorted((s for p in found for s in p.snapshots[1:]), key=lambda s: s.when)
    last = sorted((p.snapshots[0] for p in found if p.snapshots), key=lambda s: s.when)
    return older[: max(1, len(older) // 4)] if older else last[:1]


def tidy(store: Store, job: Job) -> None:
    """Tidy up when it is time and nobody else is at work; a failure waits for the next time."""
    if store.config.auto_prune and due(store):
        with suppress(GitFailed):
            prune(store, job, wait=False)
