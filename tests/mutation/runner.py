"""Plays the tests of a room once for each mistake, in a fork of a process that has collected them.

A mistake in a function is swapped into the functions that live; one that is read while a module is imported needs the
tests collected anew. Either way the tests that run the line are played, quickest first, until one fails.
"""

import gc
import importlib
import json
import os
import select
import signal
import sys
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import _lru_cache_wrapper
from importlib.machinery import SourceFileLoader
from itertools import pairwise
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest
from attrs import field, frozen
from mutants import Mistake, Mutant, Statement

ROOT = Path(__file__).parents[2]
SLOW = 1.0  # seconds; a test that takes longer is left out
ENOUGH = 20.0  # seconds of tests, quickest first, that are played for one mistake where a room does not say
OPTIONS = ["-qqs", "--no-summary", "-p", "no:xdist", "-m", "not real", "--hypothesis-profile=mutation"]
OPTIONS += ["--timeout=0"]  # each test has a limit here that an endless loop in C cannot hold off
OPTIONS += ["--assert=plain"]  # or pytest reads the kernel's files itself
OPTIONS += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # hypothesis is imported before pytest
Tests = list[tuple[str, float]]  # ids of tests, and the seconds that each takes
Where = tuple[str, str, int]  # file, name and first line of some code


@frozen
class Room:
    """What is judged together: files, statements whose names match ``sql``, and the tests that should notice."""

    name: str
    files: Sequence[str]
    tests: Sequence[str]
    sql: str = ""
    enough: float = ENOUGH


@frozen
class Played:
    """What became of a mistake: killed, late (killed by its limit of time), survived, or unseen: no test runs it."""

    state: str
    by: str = ""


@frozen
class Source:
    """A file of the room with all that can be wrong in it."""

    path: Path
    tree: Any = field(repr=False)


def forked(work: Callable[[], Any], said: Path, *, limit: float | None = None, quiet: bool = True) -> Any:
    """What a child of this process gives as JSON, or how it ended. Nothing that it started outlives it."""
    said.unlink(missing_ok=True)
    sys.stdout.flush()
    if not (child := os.fork()):
        try:
            os.setsid()
            for stream in (0, 1, 2) if quiet else ():
                os.dup2(os.open(os.devnull, os.O_RDWR), stream)
            said.write_text(json.dumps(work()))
            sys.stdout.flush()
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    ended = os.pidfd_open(child)
    try:
        select.select([ended], [], [], limit)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        os.close(ended)
    return json.loads(said.read_text()) if said.exists() else os.waitstatus_to_exitcode(status)


def living() -> list[Any]:
    """All objects that the collector knows, those too that it was told to look at no more."""
    gc.unfreeze()
    return gc.get_objects()


class Failures:
    """The plugin that knows which tests failed."""

    def __init__(self) -> None:
        self.failed: list[str] = []
        self.patience = 3.0  # seconds that a test may take besides ten times what it took before

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.append(report.nodeid)

    def play(self, items: Sequence[tuple[pytest.Item, float]], *, stop: bool = True) -> list[str]:
        """Run tests in this order, each within its time; the ids of those that fail, at most one with ``stop``."""
        for (item, seconds), (following, _) in pairwise([*items, (None, 0.0)]):
            signal.setitimer(signal.ITIMER_REAL, self.patience + 10 * seconds)  # whose signal ends this process
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if stop and self.failed:
                break
        signal.setitimer(signal.ITIMER_REAL, 0)
        return self.failed


class Anew(Failures):
    """The plugin that plays chosen tests where they are collected after a mistake was made."""

    def __init__(self, tests: Tests) -> None:
        super().__init__()
        self.tests = dict(tests)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        known = {item.nodeid: item for item in session.items}
        self.play([(known[name], seconds) for name, seconds in self.tests.items() if name in known])
        return True


def played_anew(tests: Tests, path: str = "", code: CodeType | None = None) -> list[str]:
    """The tests that fail when one file has this code; "collection" when they cannot be collected then."""
    honest = SourceFileLoader.get_code

    def get_code(loader: SourceFileLoader, name: str) -> CodeType | None:
        return code if loader.path == path else honest(loader, name)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
    plugin = Anew(tests)
    status = pytest.main([*OPTIONS, *sorted({name.partition("::")[0] for name, _ in tests})], plugins=[plugin])
    return plugin.failed or ([] if status in (0, 5) else ["collection"])


class Runner(Failures):
    """The plugin that takes over a room's tests once they are collected."""

    def __init__(
        self,
        sources: dict[str, Source],
        wrong: Iterable[Mistake],
        folder: Path,
        looked: Path,
        enough: float = ENOUGH,
    ) -> None:
        super().__init__()
        self.enough = enough
        self.sources, self.wrong, self.folder = sources, list(wrong), folder
        self.looked = looked  # what was seen of the tests, for whoever plays the same ones again
        self.files = {str(source.path): name for name, source in sources.items()}
        self.early: set[tuple[str, str]] = set()  # what runs while modules are imported
        self.lines: set[tuple[str, int | str]] = set()
        self.tests: dict[tuple[str, int | str], set[str]] = defaultdict(set)
        self.seconds: dict[str, float] = {}
        self.items: dict[str, pytest.Item] = {}
        self.functions: dict[Where, list[FunctionType]] = defaultdict(list)
        self.caches: dict[tuple[str, str], Any] = {}  # functions that are run once for what they give again and again
        self.kills: dict[str, Counter[str]] = defaultdict(Counter)
        self.told: Callable[[Mistake, Played], None] = lambda one, played: None
        self.anew: list[tuple[str, Tests]] = []
        self.ended = False
        sys.monitoring.use_tool_id(sys.monitoring.COVERAGE_ID, "mutation")
        sys.monitoring.register_callback(sys.monitoring.COVERAGE_ID, sys.monitoring.events.PY_START, self._early)
        sys.monitoring.set_events(sys.monitoring.COVERAGE_ID, sys.monitoring.events.PY_START)

    def _early(self, code: CodeType, _: int) -> object:
        if code.co_filename in self.files:
            self.early.add((code.co_filename, _outermost(code)))
        return sys.monitoring.DISABLE

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        for name in self.sources:  # before any fork: what is imported late is not imported in each
            importlib.import_module(_module(name))
        sys.monitoring.set_events(sys.monitoring.COVERAGE_ID, 0)
        for one in living():
            if isinstance(one, FunctionType) and one.__code__.co_filename in self.files:
                self.functions[_where(one.__code__)].append(one)
            elif isinstance(one, _lru_cache_wrapper):
                code = getattr(one.__wrapped__, "__code__", None)
                if code and code.co_filename in self.files:
                    self.caches[code.co_filename, _outermost(code)] = one
        servers = [item for item in session.items if "clusters" in getattr(item, "fixturenames", ())]
        self.items = {item.nodeid: item for item in session.items if item not in servers}
        self._look()
        gc.freeze()
        for one in self.wrong:
            self._judge(one)
        self.ended = True
        return True

    def _look(self) -> None:
        """Learn which test runs which line, and which are quick and pass, also one after the other as they are here."""
        if self.looked.exists():
            seen = json.loads(self.looked.read_text())
        else:
            said = self.folder / "said"
            seen = forked(self._watched, said, limit=1200)
            quick = [(seconds, name) for name, (seconds, _) in seen["tests"].items() if seconds <= SLOW]
            order = [(self.items[name], 10.0) for _, name in sorted(quick)]
            seen["failed"] += forked(lambda: self.play(order, stop=False), said, limit=1200)
            for old in self.looked.parent.glob(f"*-{self.looked.name.partition('-')[2]}"):
                old.unlink()  # of these tests as they were
            self.looked.write_text(json.dumps(seen))
        for module in seen["modules"]:
            with suppress(Exception):
                importlib.import_module(module)
        for name in {*seen["tests"]} & {*self.items} - {*seen["failed"]}:
            seconds, lines = seen["tests"][name]
            if seconds <= SLOW:
                self.seconds[name] = seconds
                for file, line in lines:
                    self.tests[file, line].add(name)
        total = sum(self.seconds.values())
        print(f"{len(self.seconds)} of {len(self.items)} tests are quick and pass: {total:.0f} s", flush=True)

    def _watched(self) -> dict[str, Any]:
        from hermes_core.store.file_database import FileTransaction

        lines = self.lines

        class Noted(dict[str, str]):
            def __getitem__(self, name: str) -> str:
                lines.add(("sql", name))
                return super().__getitem__(name)

        FileTransaction.sql = Noted(FileTransaction.sql)
        events, tool = sys.monitoring.events, sys.monitoring.COVERAGE_ID
        sys.monitoring.register_callback(tool, events.LINE, self._line)
        for functions in self.functions.values():
            for code in {id(c): c for one in functions for c in _codes(one.__code__)}.values():
                sys.monitoring.set_local_events(tool, code, events.LINE)
        found = {}
        for item, following in pairwise([*self.items.values(), None]):
            lines.clear()
            sys.monitoring.restart_events()
            began = time.perf_counter()
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            found[item.nodeid] = (time.perf_counter() - began, sorted(lines, key=str))
        return {"tests": found, "failed": self.failed, "modules": [name for name in sys.modules if "." in name]}

    def _line(self, code: CodeType, line: int) -> object:
        if code.co_filename in self.files:
            self.lines.add((self.files[code.co_filename], line))
        return sys.monitoring.DISABLE

    def _judge(self, one: Mistake) -> None:
        """Play the tests that run what is wrong: those first that noticed the last mistakes in this place."""
        from hermes_core.store.file_database import FileTransaction

        kills = self.kills[one.place]
        tests = ((name, self.seconds[name]) for name in self._who_runs(one))
        order = _enough(sorted(tests, key=lambda test: (-kills[test[0]], test[1])), self.enough)
        if not order:
            return self.told(one, Played("unseen"))
        if isinstance(one, Statement):
            swaps: list[tuple[FunctionType, CodeType]] | None = []
        else:
            swaps = self._swaps(one, self.sources[one.file])
        if swaps is None:
            return self.anew.append((one.key, order))

        def work() -> list[str]:
            for cache in self.caches.values():
                cache.cache_clear()
            for function, code in swaps:
                function.__code__ = code
            if isinstance(one, Statement):
                FileTransaction.sql[one.place] = one.text
            return self.play([(self.items[name], seconds) for name, seconds in order])

        for self.patience in (3.0, 12.0):  # on a machine that is busy a test may be late once for no reason
            played = verdict(forked(work, self.folder / "said", limit=60 + 10 * sum(s for _, s in order)))
            if played.state != "late":
                break
        kills[played.by] += 1
        return self.told(one, played)

    def _who_runs(self, one: Mistake) -> set[str]:
        if isinstance(one, Statement):
            return self.tests["sql", one.place]
        if (str(self.sources[one.file].path), one.function) in self.caches:  # it ran for whoever asked first
            return set().union(*(tests for (file, _), tests in self.tests.items() if file == one.file))
        if not self._is_early(one):
            return set().union(*(self.tests[one.file, line] for line in range(one.lines[0], one.lines[1] + 1)))
        idle = {*self.seconds}.difference(*self.tests.values())  # it may look at a constant all the same
        return idle.union(*(tests for (file, _), tests in self.tests.items() if file == one.file))

    def _is_early(self, one: Mutant) -> bool:
        return not one.function or (str(self.sources[one.file].path), one.function) in self.early

    def _swaps(self, one: Mutant, source: Source) -> list[tuple[FunctionType, CodeType]] | None:
        """The functions that a mistake changes, with what they become; None when it has to be there from the start."""
        if self._is_early(one):
            return None
        path = str(source.path)
        new: dict[Where, list[CodeType]] = defaultdict(list)
        for code in _codes(one.compiled(source.tree, path)):
            new[_where(code)].append(code)
        found = []
        for where, functions in self.functions.items():
            if where[0] == path and _outermost(functions[0].__code__) == one.function:
                codes = new[where]
                if len(codes) != 1 or any(f.__code__.co_freevars != codes[0].co_freevars for f in functions):
                    return None
                found += [(function, codes[0]) for function in functions]
        return found or None


def verdict(failed: Any) -> Played:
    """What it means which tests failed, or how their process ended."""
    if isinstance(failed, list):
        return Played("killed", failed[0]) if failed else Played("survived")
    return Played("late") if failed in (-signal.SIGALRM, -signal.SIGKILL) else Played("killed", f"the end: {failed}")


def _enough(tests: Tests, seconds: float) -> Tests:
    kept, left = [], seconds
    for name, seconds in tests:
        if (left := left - seconds) < 0 and kept:
            break
        kept.append((name, seconds))
    return kept


def _module(file: str) -> str:
    return file.rpartition("/src/")[2].removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _where(code: CodeType) -> Where:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _codes(one)


def _outermost(code: CodeType) -> str:
    """The function that a function is in, or itself."""
    return code.co_qualname.partition(".<locals>")[0]
