"""After a run of the tests nothing is left: no process, no file outside its temporary folder, no change in a home.

Each process of the run has a temporary folder and a home of its own below ``hermes-run-…``. So whatever carries that
path is the run's, and nobody else is blamed: programs of others, another run at the same time, an editor at work.
"""

import os
import pwd
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

PREFIX = "hermes-run-"
OF_A_RUN = ("pytest-", PREFIX)  # what pytest makes for this run, and keeps of one that a test started
OF_THE_PERSON = f"hermes-ssh-{os.getuid()}"  # one folder for sockets of kept connections, whose paths must be short
OUTSIDE = ("/opt", "/srv", "/run", "/var/tmp", "/var/lib", "/dev/shm")
OF_A_HOME = (
    *(".bashrc", ".bash_profile", ".profile", ".zshrc", ".gitconfig", ".netrc", ".docker/config.json"),
    *(".ssh/config", ".ssh/known_hosts", ".ssh/authorized_keys", ".config/systemd/user"),
    *(".hermes", ".hermes/config.yaml", ".hermes/.env", ".hermes/plugins.lock"),
)
NAMED_IN_A_HOME = ("*hermes*", ".config/*hermes*", ".cache/*hermes*", ".local/share/*hermes*", ".local/state/*hermes*")
PATIENCE = 5.0  # seconds for what was told to end; nothing is waited for when nothing is left
KEPT = 2  # folders of runs that failed, beside the one of this run
NOT_THE_TESTS = ("multiprocessing.resource_tracker", "multiprocessing.forkserver")  # they end with their process


class Run:
    """What one run of the tests began with, and what is there that was not there then."""

    def __init__(self, config: pytest.Config) -> None:
        told = getattr(config, "workerinput", {})
        self.leads = not told
        self.found_with = {name: os.environ.get(name) for name in ("HOME", "TMPDIR", "HERMES_HOME")}
        self.homes = sorted({Path.home(), Path(pwd.getpwuid(os.getuid()).pw_dir)})
        self.outside = (tempfile.gettempdir(), *OUTSIDE, os.environ.get("XDG_RUNTIME_DIR", ""))
        self.tree = config.rootpath
        self.given: str | None = told["basetemp"] if told else config.option.basetemp
        self.began = int(_stat(os.getpid())[19]) if _stat(os.getpid()) else 0
        self.root = Path(told["root"]) if told else _new_root(Path(tempfile.gettempdir()))
        self.seen: dict[str, str] = {}
        self.keep = False
        self.left: list[str] = []
        self.noted: list[str] = []
        if self.leads:
            self.before = self._outer()
            self.changed = _changed(self.tree)
        place = self.root / (told["workerid"] if told else "main")
        self.temp, self.home = place / "tmp", place / "home"
        self._move_in(config)

    def _move_in(self, config: pytest.Config) -> None:
        for folder in (self.temp, self.home):
            folder.mkdir(parents=True)
        self.temp.parent.chmod(0o711)  # a server that runs as another user gets to its folder
        self.temp.chmod(0o1777)
        os.environ.update(HOME=str(self.home), TMPDIR=str(self.temp))
        os.environ.pop("HERMES_HOME", None)
        tempfile.tempdir = None
        if not self.given:
            config.option.basetemp = str(self.temp / "pytest-0")

    def move_out(self) -> None:
        """Give the process back what it had, and remove the folder."""
        for name, value in self.found_with.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        tempfile.tempdir = None
        if self.leads and not self.keep:
            shutil.rmtree(self.root, ignore_errors=True)

    def look(self, test: str) -> None:
        """Remember after which test something appeared in this process's folders."""
        for name in self._inside():
            self.seen.setdefault(name, test)

    def inside(self) -> list[str]:
        """What the tests of this process left in its temporary folder, or wrote into what they took for a home."""
        by = {name: f"; first seen after {self.seen[name]}" if name in self.seen else "" for name in self._inside()}
        return [f"{name} is still there{told}" for name, told in by.items()]

    def _inside(self) -> Iterator[str]:
        for folder in (self.temp, self.home):
            with suppress(FileNotFoundError), os.scandir(folder) as entries:
                yield from (e.path for e in entries if folder is self.home or not e.name.startswith(OF_A_RUN))

    def finish(self) -> None:
        """Find what is left of the whole run. Processes are ended, so that the next run does not meet them."""
        self.left += self.inside()
        end = time.monotonic() + PATIENCE
        while (living := self._processes()) and time.monotonic() < end:
            time.sleep(0.05)
        for pid, said in living.items():
            self.left.append(said)
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        after = self._outer()
        changed = sorted(path for path in {*self.before, *after} if self.before.get(path) != after.get(path))
        told = [f"{path} {'was changed' if path in self.before else 'is new'}" for path in changed]
        for one, path in zip(told, changed, strict=True):
            (self.noted if self._may_be_of_others(path) else self.left).append(one)
        now = _changed(self.tree)
        files = sorted(name for name in {*self.changed, *now} if self.changed.get(name) != now.get(name))
        if os.environ.get("CI"):
            self.left += [f"{name} of the work tree was made or changed" for name in files]
        elif files:  # somebody works on it meanwhile
            shown = ", ".join(files[:3]) + (f" and {len(files) - 3} more" if len(files) > 3 else "")
            self.noted.append(f"of the work tree {shown}")

    def _outer(self) -> dict[str, object]:
        """What there is outside the run's folder that tests of Hermes could make or change."""
        found: dict[str, object] = {}
        for place in filter(None, self.outside):
            with suppress(OSError), os.scandir(place) as entries:
                others = (e for e in entries if "hermes" in e.name and not e.name.startswith(PREFIX))
                found |= {e.path: "" for e in others if e.name != OF_THE_PERSON}
        for home in self.homes:
            paths = {home / name for name in OF_A_HOME} | {p for name in NAMED_IN_A_HOME for p in home.glob(name)}
            for path in paths:
                with suppress(OSError):
                    status = path.stat()
                    found[str(path)] = "" if path.is_dir() else (status.st_mtime_ns, status.st_size)
        return found

    def _may_be_of_others(self, path: str) -> bool:
        """Whether another program may have done it: a run that goes on beside this one, or any in the shared folder."""
        if any(Path(path).is_relative_to(home) for home in self.homes):
            return False
        if not os.environ.get("CI") and Path(path).parent == Path(self.outside[0]):
            return True
        return any(_owner_lives(run) for run in self.root.parent.glob(f"{PREFIX}*") if run != self.root)

    def _processes(self) -> dict[int, str]:
        """The living processes of this run, by their number: what they are called, and who started them."""
        rows = {int(entry): row for entry in _listed("/proc") if entry.isdigit() and (row := _stat(int(entry)))}
        ours = {os.getpid()}
        marked = {pid for pid, row in rows.items() if int(row[19]) > self.began and self._is_marked(pid, rows)}
        while more := {p for p, row in rows.items() if p not in ours and (int(row[1]) in ours or p in marked)}:
            ours |= more
        found = {}
        for pid in sorted(ours - {os.getpid()}):
            command = _read(pid, "cmdline").replace(b"\0", b" ").decode(errors="replace").strip()
            if command and rows[pid][0] != "Z" and not any(name in command for name in NOT_THE_TESTS):
                found[pid] = f"`{command[:200]}` (process {pid}) still runs{self._started_by(pid, command)}"
        return found

    def _is_marked(self, pid: int, rows: dict[int, list[str]]) -> bool:
        """Whether it has our path about it: inherited, or where it works and looks, if no one else's shell began it."""
        mark = os.fsencode(self.root) + b"/"
        visits = (b"PWD=", b"OLDPWD=")  # of a shell that went there
        if any(mark in one for one in _read(pid, "environ").split(b"\0") if not one.startswith(visits)):
            return True
        session = int(rows[pid][3])
        if session != os.getsid(0) and session in rows and int(rows[session][19]) <= self.began:
            return False  # somebody looks into our folder
        links = [_link(f"/proc/{pid}/cwd"), *(_link(f"/proc/{pid}/fd/{n}") for n in _listed(f"/proc/{pid}/fd"))]
        return mark in _read(pid, "cmdline") or any(f"{link}/".startswith(f"{self.root}/") for link in links)

    def _started_by(self, pid: int, command: str) -> str:
        if told := re.search(rb"(?:^|\0)PYTEST_CURRENT_TEST=([^\0]*?)(?: \(\w+\))?(?:\0|$)", _read(pid, "environ")):
            return f"; started by {told[1].decode(errors='replace')}"
        where = f"{command} {_link(f'/proc/{pid}/cwd')}"
        folder = re.search(rf"{re.escape(str(self.root))}/[^/]+/tmp/pytest-0/([^/\s]+)", where)
        return f"; of the test with the folder {folder[1]}" if folder else ""


def _new_root(temporary: Path) -> Path:
    """Make the folder of a run, and remove those of runs that are over, but for the last."""
    over = [path for path in temporary.glob(f"{PREFIX}*") if not _owner_lives(path)]
    for path in sorted(over, key=lambda path: path.stat().st_mtime)[:-KEPT]:
        shutil.rmtree(path, ignore_errors=True)
    root = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=os.path.realpath(temporary)))
    root.chmod(0o711)
    return root


def _owner_lives(root: Path) -> bool:
    try:
        os.kill(int(root.name.removeprefix(PREFIX).partition("-")[0]), 0)
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False
    return True


def _changed(tree: Path) -> dict[str, object]:
    """The files of a work tree that are not as they were committed, and when each was written."""
    command = ("git", "--no-optional-locks", "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all")
    with suppress(OSError):
        told = subprocess.run(command, cwd=tree, capture_output=True, check=False).stdout
        return {os.fsdecode(line[3:]): _written(tree / os.fsdecode(line[3:])) for line in told.split(b"\0") if line}
    return {}


def _written(path: Path) -> object:
    with suppress(OSError):
        return path.lstat().st_mtime_ns
    return "gone"


def _stat(pid: int) -> list[str]:
    return _read(pid, "stat").rpartition(b")")[2].decode().split()


def _read(pid: int, name: str) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/{name}").read_bytes()
    return b""


def _listed(folder: str) -> list[str]:
    with suppress(OSError):
        return [entry.name for entry in Path(folder).iterdir()]
    return []


def _link(path: str) -> str:
    with suppress(OSError):
        return str(Path(path).readlink())
    return ""


RUN = pytest.StashKey[Run]()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Move into the folder of the run, before anything asks where temporary files or the home are."""
    config.stash[RUN] = Run(config)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a process of pytest-xdist where to live."""
    run = node.config.stash[RUN]
    node.workerinput |= {"root": str(run.root), "basetemp": run.given}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Look around after each test."""
    done = yield
    item.config.stash[RUN].look(item.nodeid)
    return done


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Hear what a process of pytest-xdist left; one that crashed says nothing."""
    node.config.stash[RUN].left += getattr(node, "workeroutput", {}).get("left", [])


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run that left something. By now its fixtures are torn down and its processes were told to end."""
    run = session.config.stash[RUN]
    if not run.leads:
        session.config.workeroutput["left"] = run.inside()  # type: ignore[attr-defined]
        if not session.testsfailed:  # side by side with the others, as it takes a while
            shutil.rmtree(run.temp / "pytest-0", ignore_errors=True)
        return
    run.finish()
    fine = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    if run.left and session.exitstatus in fine:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    run.keep = session.exitstatus not in fine  # somebody may want to look at what the tests wrote


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say what was left, one sentence each."""
    run = config.stash[RUN]
    for title, told in (("left behind by this run", run.left), ("changed meanwhile", run.noted)):
        if told:
            terminalreporter.section(title, red=told is run.left, bold=True)
            for one in told:
                terminalreporter.line(f"- {one}")


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Move out."""
    config.stash[RUN].move_out()
