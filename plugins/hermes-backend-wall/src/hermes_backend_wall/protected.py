"""Files of a workspace that run or give orders by themselves: compared after each command, and put back.

Landlock grants whole trees, and git must be able to bring such files from its history; so nothing forbids writing
them. What a command changed is kept beside, where its result says; what was there before is there again. What the
person or a file tool of Hermes changes while nothing of a command lives is theirs and stays. What stood before is
written down before a command starts: a Hermes that is killed compares when it is there again, and others whose commands
run in the same folder, around it or in it go by what stood before all of them.
"""

import os
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from hermes_backend_wall import beneath, repository
from hermes_backend_wall.beneath import State
from hermes_backend_wall.beside import as_before, changed_at, is_theirs
from hermes_backend_wall.history import Known
from hermes_backend_wall.remembered import LAG, Baseline, Remembered
from hermes_backend_wall.watched import Watched, counts, is_below, is_settings

__all__ = ["Protected", "fixed"]

_GIT = ".git/config"
_MOST = 4_000  # files that one look takes in
_ROUNDS = 30  # looks, where there are more
_TOLD = 12  # files that are named


class Protected:
    """``folder`` is without links; what is taken away goes to ``aside``.

    ``record`` is where it is written down what stood before, a path that gets endings; who shares its folder hears of
    each other. ``reach`` are more places where commands write.
    """

    def __init__(self, folder: str, aside: Path, record: Path, reach: Sequence[str] = ()) -> None:
        self._folder, self._aside, self._reach = folder, aside, tuple(reach)
        self._before: dict[str, State] = {}
        self._links: dict[str, str] = {}
        self._git: frozenset[str] = frozenset()  # folders of git that were there before
        self._first: repository.Settings | None = None
        self._known = Known(folder)
        self._watched = Watched(folder)
        self._listed: tuple[object, Sequence[str]] = (None, ())  # the places that were last put in order
        self._record = record
        self._remembered = Remembered(str(record), folder)
        self._beside: list[Baseline] = []  # what stood before the commands of others that ran as ours began
        self._had_all = True  # whether no folder was left out as they began
        self._since = 0  # when the first command began, in nanoseconds
        self._began = 0  # when the first of those that run now did
        self._running = 0
        self._held = False  # something that a command left behind may live
        self._compared = False  # since the first of the commands that run began
        self._busy = False  # other commands live while files are compared: what they write may be half done
        self._capped = False
        self._pending: list[str] = []

    @property
    def unsettled(self) -> bool:
        """Whether something may still change files though no command is waited for."""
        return self._held

    @property
    def shallow(self) -> bool:
        """Whether the tree is larger than what is looked through while a command waits: ``deepen`` goes on."""
        return not self._watched.whole

    def begin(self) -> None:
        """A command starts. Raises OSError where what stands now cannot be written down."""
        if not self._running and self._held:
            self.watch()
        elif not self._running:
            with self._remembered.alone():
                self._begin()
        self._running += 1

    def _begin(self) -> None:
        """Nothing of ours lives, and nobody else begins right now."""
        found = self._recovered()  # what ran there may live for some moments yet
        self._beside = [*found, *self._remembered.others()]
        if not self._beside:
            self._remembered.settle()
            self._known.look()
        elif self._known.commits is None:
            same = [one for one in self._beside if one.folder == self._folder]
            self._known = _known(same[0]) if same else self._known
        self._look_first()
        self._began = min([time.time_ns() - LAG, *(one.began for one in self._beside)])
        # What no look has reached yet counts since the first command.
        if not self._since or self._watched.whole:
            self._since = self._began
        self._since = min([self._since, *(one.since for one in self._beside)])
        self._write_down(exact=bool(self._beside))

    def _look_first(self) -> None:
        links, self._links = self._links, {}
        self._before = as_before(self._beside, self._folder, self._look(self._before, exact=False))
        self._watched.places, self._had_all = self._watched.folders, self._watched.whole
        self._capped = len(self._before) >= _MOST or any(one.known.get("capped") for one in self._beside)
        known = repository.settings(self._data(_GIT)) if _GIT in self._before else {}
        self._first = known if self._first is None else self._first
        named = [os.path.relpath(path, self._folder) for path in repository.named_files(known, self._folder)]
        named += [os.path.relpath(p, self._folder) for p in repository.named_files(known, f"{self._folder}/.git")]
        named = [path for path in named if not path.startswith("..") and path != "."]
        found = {p: self._watched.link(p) for p, one in self._before.items() if stat.S_ISLNK(one.mode)}
        self._links = {path: to for path, to in found.items() if to}
        if self._links or self._links != links or tuple(named) != self._watched.named:
            self._watched.named = tuple(named)
            self._before = as_before(self._beside, self._folder, self._look(self._before, exact=False, walk=False))
        self._git = self._watched.git
        self._compared = False

    def _data(self, path: str) -> bytes | None:
        return self._before[path].data

    def _write_down(self, *, exact: bool = False) -> None:
        """``exact``: the time of this writing is not when the first of the commands began."""
        known: dict[str, object] = {"commits": self._known.commits or [], "objects": self._known.objects}
        known |= {"git": sorted(self._git), "links": self._links, "named": list(self._watched.named)}
        known |= {"first": {name: list(values) for name, values in (self._first or {}).items()}}
        known |= {"aside": str(self._aside), "capped": self._capped, "whole": self._had_all}
        known["places"] = self._places()
        known["since"] = 0 if self._watched.whole and not exact else self._since
        known["began"] = self._began if exact else 0
        self._remembered.keep(known, self._before)

    def _places(self) -> Sequence[str]:
        """Put the places in order, once as long as they are the same: a tree has thousands."""
        if self._listed[0] is not self._watched.places:
            self._listed = (self._watched.places, sorted(self._watched.places or ()))
        return self._listed[1]

    def recover(self) -> None:
        """Put back what commands changed before a Hermes was killed that ran them; told with the next result."""
        if not self._running and not self._held:
            self._recovered()

    def _recovered(self) -> list[Baseline]:
        found = []
        for one in self._remembered.lost():
            other = Protected(one.folder, Path(str(one.known["aside"])), self._record, self._reach)
            other._resume(one)
            if said := other.compare():
                where = "" if one.folder == self._folder else f" in {one.folder}"
                self._pending.append(f"Hermes was ended while commands ran{where}. {said}")
            found.append(one)
        return found

    def _resume(self, one: Baseline) -> None:
        self._before, self._compared = dict(one.files), True
        self._known = _known(one)
        self._git, self._watched.named = frozenset(one.known["git"]), tuple(one.known["named"])
        self._watched.places, self._had_all = frozenset(one.known["places"]), bool(one.known["whole"])
        self._links, self._first = dict(one.known["links"]), dict(one.known["first"])
        self._since, self._began, self._capped = one.since, one.began, bool(one.known["capped"])
        self._watched.deepen()

    def end(self, *, left: bool = False) -> str:
        """A command ended, and ``left`` something behind or not: put back what is not its to change; what was done."""
        try:
            self._tell(busy=left or self._held or self._running > 1)
        finally:
            self._running -= 1
            if not self._running:
                self._held = left
                if not left:
                    self._remembered.rest()
        said, self._pending = self._pending, []
        return "\n".join(said)

    def watch(self, *, left: bool = True) -> None:
        """Compare while something may live that a command left behind; told with the next result."""
        self._tell(busy=left or self._running > 0)
        if self._held and not left and not self._running:
            self._held = False
            self._remembered.rest()

    def _tell(self, *, busy: bool) -> None:
        self._busy = busy
        if said := self.compare():
            self._pending.append(said)

    def deepen(self) -> None:
        """Look through the whole tree for folders of git; may be called in a thread. Then ``watch``."""
        self._watched.deepen()

    def close(self) -> str:
        """Nothing lives any more: a last comparison; what is still to be told."""
        if self._running or self._held:
            self._running, self._held = 0, True
            self.watch(left=False)
        self._remembered.forget()
        said, self._pending = self._pending, []
        return "\n".join(said)

    def accept(self, path: str) -> None:
        """Hermes itself wrote this file while commands run. Raises OSError where that cannot be written down."""
        inner = os.path.relpath(path, self._folder)
        if inner.startswith("..") or not counts(inner, self._watched) or not (now := self._state(inner)):
            return
        if self._running or self._held:
            self._before[inner] = now
            self._write_down(exact=True)
        if self._remembered.others():
            self._remembered.vouch({inner: now})

    def compare(self) -> str:
        """Put back what was changed since the first of the commands that run began; what was done."""
        told: list[str] = []
        for _ in range(_ROUNDS):
            before = len(told)
            now = self._look(self._before, exact=self._compared or self._held or self._running > 1)
            told += self._put_back(now)
            if len(now) < _MOST or len(told) == before:
                break
        self._compared = True
        if not told:
            return ""
        more = f"; and {len(told) - _TOLD} more, in {self._aside}" if len(told) > _TOLD else ""
        return (
            f"[put back: {'; '.join(told[:_TOLD])}{more}. What commands changed in files that run by themselves needs "
            "a person.]"
        )

    def _put_back(self, now: dict[str, State]) -> Iterator[str]:
        for path in [path for path in self._before if path not in now]:  # a look may not reach what others look at
            if (there := self._state(path)) is not None:
                now[path] = there
        theirs: list[Baseline] | None = None
        for path in sorted({*self._before, *now}, key=lambda path: (path != ".git", path.count("/") > 1, path)):
            old, new = self._before.get(path), now.get(path)
            if old == new:
                continue
            if old and new and old.same(new):
                self._before[path] = new
                continue
            if theirs is None:
                theirs = self._remembered.others()
                self._busy = self._busy or bool(theirs)
                theirs += self._remembered.vouched()
            if new and is_theirs(theirs, self._folder, path, new):
                self._before[path] = new
                continue
            try:
                yield from self._judged(path, old, new)
            except OSError as error:
                yield f"{path} could not be put back ({error.strerror or error})"

    def _judged(self, path: str, old: State | None, new: State | None) -> Iterator[str]:
        if old is None and new is not None and self._is_old(path, new):
            self._before[path] = new
        elif is_settings(path, self._watched.git) and new is not None:
            yield from self._settings(path, old, new)
        elif new is not None and old is None and path.endswith("/commondir") and new.data == b"../..\n":
            self._before[path] = new  # as `git worktree add` writes it
        elif new is None or new.data is None or not self._known.holds(path, new.data):
            yield self._restore(path, old, new)
        else:
            self._before[path] = new

    def _is_old(self, path: str, new: State) -> bool:
        """Whether something that was not looked at before the commands was there then: no clock of theirs tells."""
        folder = next((one for one in self._watched.git if path.startswith(f"{one}/") or not one), None)
        changed = changed_at(new)
        if folder is None and not self._capped:
            return is_below(path, self._watched) and changed < self._began and not self._is_in_new_folder(path)
        if not self._capped and folder in self._git:
            return False
        for place in (folder or "", os.path.dirname(path)):  # noqa: PTH120
            with suppress(OSError):
                changed = max(changed, os.lstat(f"{self._folder}/{place}").st_ctime_ns)
        return changed < self._since

    def _is_in_new_folder(self, path: str) -> bool:
        """Whether a folder on the way came while commands ran: what is moved with one keeps its own time."""
        known, place = self._watched.places or (), os.path.dirname(path)  # noqa: PTH120
        while place and place not in known:
            with suppress(OSError):
                if os.lstat(f"{self._folder}/{place}").st_ctime_ns >= self._began:
                    return True
            place = os.path.dirname(place)  # noqa: PTH120
        return False

    def _settings(self, path: str, old: State | None, new: State) -> Iterator[str]:
        root = self._folder if path.startswith(".git/") else f"{self._folder}/{path.rpartition('/.git/')[0]}"
        first = self._first if path == _GIT else None
        before = repository.settings(old.data if old else None)
        plain = stat.S_ISREG(new.mode) and new.data is not None
        after = repository.settings(new.data)
        names = repository.harmful(before, after, first=first, root=root, reach=self._reach) if plain else ["a link"]
        if not names and self._busy:
            return  # judged against what stood before all of them, once they are done
        if not names:
            self._before[path] = new
        elif old is None and plain and new.data is not None:
            kept = self._place(path)
            kept.write_bytes(new.data)
            left = repository.without(new.data, names)
            bad = repository.harmful({}, repository.settings(left), first=first, root=root, reach=self._reach)
            if bad:
                yield f"{self._restore(path, None, new)} ({', '.join(names[:3])})"
                return
            self._write(path, State((), new.mode, left))
            yield f"{path} ({', '.join(names[:3])}; kept as {kept})"
        else:
            yield f"{self._restore(path, old, new)} ({', '.join(names[:3])})"

    def _restore(self, path: str, old: State | None, new: State | None) -> str:
        where = path
        if new:
            target = self._place(path)
            with suppress(FileNotFoundError):  # another whose commands run was quicker
                beneath.take(self._folder, path, str(target))
                where = f"{path} (kept as {target})"
        if old and old.data is not None:
            if os.path.isdir(f"{self._folder}/{path}"):  # noqa: PTH112 - a folder in a file's place
                beneath.take(self._folder, path, str(self._place(path)))
            self._write(path, old)
        else:
            self._before.pop(path, None)
        return where

    def _write(self, path: str, wanted: State) -> None:
        """Put it there. What stands there afterwards may be another's already, who did not end yet."""
        beneath.write(self._folder, path, wanted.data or b"", wanted.mode)
        now = self._state(path, time.time_ns())
        self._before[path] = now if now and now.same(wanted) else wanted

    def _place(self, path: str) -> Path:
        self._aside.mkdir(parents=True, exist_ok=True, mode=0o700)
        name = f"{time.strftime('%Y%m%d-%H%M%S')}-{os.urandom(4).hex()}-{path.replace('/', '_')[-150:]}"
        return self._aside / name

    def _state(self, path: str, now: int = 0) -> State | None:
        return beneath.state(self._folder, path, now=now)

    def _look(self, earlier: dict[str, State], *, exact: bool, walk: bool = True) -> dict[str, State]:
        """What stands now; with ``exact`` everything is read, as who held a file open may change it unseen."""
        found: dict[str, State] = {}
        now = time.time_ns()
        for path in self._watched.paths(self._links, walk=walk):
            if path in found:
                continue
            mark, known = self._mark(path), None if exact else earlier.get(path)
            state = known if known and known.mark == mark else self._state(path, now) if mark else None
            if state is not None:
                found[path] = state
            if len(found) >= _MOST:
                break
        return found

    def _mark(self, path: str) -> tuple[int, ...]:
        """What tells whether something changed; empty for nothing: most of what could be there is not."""
        try:
            return beneath.mark(os.lstat(f"{self._folder}/{path}"))
        except (FileNotFoundError, NotADirectoryError):
            return ()
        except OSError:
            return (0,)


def _known(one: Baseline) -> Known:
    return Known(one.folder, one.known["commits"], str(one.known["objects"]))


def fixed(folder: str) -> list[str]:
    """What can be closed from the start where a wall can: git never writes its hooks, nor brings them from anywhere."""
    hooks = f"{folder}/.git/hooks"
    return [hooks] if os.path.isdir(hooks) and os.path.realpath(hooks) == hooks else []  # noqa: PTH112
