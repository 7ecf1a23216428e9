"""For every test of the repository: a limit of time, the same examples, and a PostgreSQL server of its own."""

import asyncio
import gc
import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# Hundreds of processes are started below. Where the environment keeps them from writing bytecode, each would compile
# all of its modules again, which takes most of its time; and this one all the tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A shell's job in the background ignores the signals of the keyboard, and below nohup it ignores that the terminal is
# gone; so would every process started below.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
for number in (signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)

# The same examples in every run: what is red is red for everybody. A step of CI takes more of them, and `nox -s
# property` looks for new ones.
settings.register_profile("more", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("house", settings.get_profile("more"), max_examples=50)
settings.load_profile("house")
settings.register_profile("fresh", settings.get_profile("more"), derandomize=False, max_examples=1_000)

pytest_plugins = ("left_behind", "workers")  # of tests/house: what a run leaves fails it; what plays and is killed

FEW = 125  # spoiled replies of a model
ORDERS = 150  # hostile orders, each in one cell
LAST_SECONDS = 30  # for what a test that failed has to put away
STRIKE = pytest.StashKey[tuple[Callable[[int, FrameType | None], None], float]]()
REAL_SECONDS = 180  # a server, an image or a homeserver may take its time to start


def pytest_addoption(parser: pytest.Parser) -> None:
    """How often tests repeat that find more the longer they look: a little here, more in a step of CI and by nox."""
    parser.addoption("--rounds", type=int, default=1, help="How often the process is killed at each point.")
    parser.addoption("--every", type=int, default=3, help="Every how many-th statement fails or is the last.")
    parser.addoption("--cases", type=int, default=FEW, help="How many spoiled replies are played.")
    parser.addoption("--orders", type=int, default=ORDERS, help="How many hostile orders are tried; 0: all.")
    parser.addoption("--seeds", type=int, default=3, help="With how many dice messages are sent to services that fail.")
    parser.addoption("--turns", type=int, default=150, help="How many turns a long conversation has.")
    parser.addoption("--messages", type=int, default=60, help="How many messages people write to a service that fails.")
    parser.addoption("--commits", type=int, default=100, help="How often each of many processes writes.")
    parser.addoption("--flips", type=int, default=30, help="How often pages of a store are damaged.")
    parser.addoption("--kills", type=int, default=6, help="How many processes of a kind are killed at random moments.")
    parser.addoption("--days", type=int, default=25, help="How many days of two schedulers on a server are simulated.")
    parser.addoption("--tasks", type=int, default=60, help="How many tasks fifty agents find on a board.")
    parser.addoption(
        "--pairs", type=int, default=2, help="How many conversations are played with somebody else there and without."
    )
    parser.addoption("--talks", type=int, default=10, help="How many of them are played in one process.")
    parser.addoption("--first", type=int, default=1, help="The seed of the first of these conversations.")
    parser.addoption("--kept", default="", help="The file that keeps which of them were judged; they are not again.")
    parser.addoption(
        "--attempts", type=int, default=20, help="How many attempts of people on each other are made; 0: all."
    )
    parser.addoption("--restores", type=int, default=3, help="How many copies are made while others write, and tried.")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Keep neighbours in one process, so that they share what they set up; who is done first takes from the others."""
    if getattr(config.option, "numprocesses", None) and config.option.dist == "no":
        config.option.dist = "worksteal"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Use half as many processes again as there are cores: many tests wait for processes of their own."""
    return -(-len(os.sched_getaffinity(0)) * 3 // 2)


def pytest_sessionstart() -> None:
    """Wait for no disk; imported here, where the folder of the file is on the path."""
    from at_once import wait_for_no_disk

    wait_for_no_disk()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give real counterparts more time than a test has, and leave most cases of some tests to a step of CI."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("few"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for same in cases.values():
        wanted = same[0].get_closest_marker("few")
        step = max(1, len(same) // (wanted.args[0] if wanted else 1))
        for number, item in enumerate(same):
            if number % step:
                item.add_marker(pytest.mark.long)
    for item in items:
        if item.get_closest_marker("real") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(REAL_SECONDS))


def pytest_collection_finish() -> None:
    """Look through what was collected no more: ten thousand tests and their modules are no garbage.

    What is installed is looked up once, now that every room has put its folder on the path.
    """
    from at_once import remember_packages

    remember_packages()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> Generator[None, object, object]:
    """Show where each task waits when the time is up, and strike again when a task or a callback took the blow."""
    done = yield
    first = signal.getsignal(signal.SIGALRM)

    def handler(number: int, frame: FrameType | None) -> None:
        signal.setitimer(signal.ITIMER_REAL, 1)
        with suppress(RuntimeError):  # no loop runs
            for task in asyncio.all_tasks():
                task.print_stack(file=sys.stderr)
        if callable(first):
            first(number, frame)

    if callable(first):
        item.stash[STRIKE] = handler, settings.timeout
        signal.signal(signal.SIGALRM, handler)
    return done


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(call: "pytest.CallInfo[None]") -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Strike no more once the blow was felt."""
    if call.excinfo is not None:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_exception_interact(node: pytest.Item, call: "pytest.CallInfo[None]") -> Generator[None, object, object]:
    """Give what a failed test has to put away a time of its own, as pytest-timeout and faulthandler let go of it now.

    A blow may cost a loop the step that a task waits for: whoever cancels the task then waits for ever.
    """
    done = yield
    if call.when in ("setup", "call") and (strike := node.stash.get(STRIKE, None)):
        handler, seconds = strike
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, min(seconds, LAST_SECONDS))
    return done


FAST = ("fsync=off", "full_page_writes=off", "synchronous_commit=off", "shared_buffers=32MB", "max_connections=60")


class Cluster:
    """A throwaway server. It refuses to run as root, so root lends it the user ``postgres``."""

    def __init__(self, folder: Path, *settings: str) -> None:
        programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
        found = programs[-1] if programs else shutil.which("initdb")
        if found is None:
            pytest.skip("PostgreSQL is not installed")
        self.bin = Path(found).parent
        self.folder, self.data = folder, folder / "data"
        self._user: list[str] = []
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(folder, user.pw_uid, user.pw_gid)
            self._user = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--init-groups"]
        folder.chmod(0o700)
        self.port = _free_port()
        self._settings = ("listen_addresses=127.0.0.1", f"unix_socket_directories={folder}", *settings)
        self._made = 0

    def create(self) -> None:
        """Make the data folder."""
        options = ("-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8")
        self.run("initdb", "-D", str(self.data), *options)

    def run(
        self, program: str, *words: str, check: bool = True, within: Sequence[str] = ()
    ) -> subprocess.CompletedProcess[str]:
        """Run one of the server's programs as its user."""
        command = [*within, *self._user, str(self.bin / program), *words]
        with (self.folder / "programs.log").open("a") as log:  # a pipe would be kept open by the server
            return subprocess.run(
                command, check=check, cwd="/", text=True, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def start(self, within: Sequence[str] = ()) -> None:
        """Start it, ``within`` a command that runs another."""
        options = " ".join(f"-c {setting}" for setting in self._settings)
        log = str(self.folder / "server.log")
        words = ("-D", str(self.data), "-w", "-l", log, "-o", f"-p {self.port} {options}", "start")
        for _ in range(40):  # processes of a server that was cut off may still hold its memory for a moment
            if not self.run("pg_ctl", *words, within=within, check=False).returncode:
                return
            time.sleep(0.25)
        raise RuntimeError((self.folder / "server.log").read_text()[-2000:])

    def stop(self, mode: str = "immediate") -> None:
        self.run("pg_ctl", "-D", str(self.data), "-m", mode, "-w", "stop", check=False)

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def sql(self, *statements: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """Run statements, each by itself; the rows of the last."""
        import psycopg

        with psycopg.connect(self.url(database), autocommit=True) as connection:
            for statement in statements:
                cursor = connection.execute(statement)  # type: ignore[call-overload]
            return cursor.fetchall() if cursor.description else []

    def database(self, template: str = "template0") -> str:
        """The address of a new database."""
        self._made += 1
        name = f"{template.replace('template0', 't')}{self._made}"
        self.sql(f"CREATE DATABASE {name} TEMPLATE {template}")
        return self.url(name)

    def empty(self, url: str) -> None:
        """Take every row of a store and of its plugins' tables, but for their revisions."""
        name, wanted = url.rpartition("/")[2], "schemaname = 'public' AND tablename NOT LIKE '%version'"
        tables = self.sql(f"SELECT string_agg(tablename, ', ') FROM pg_tables WHERE {wanted}", database=name)  # noqa: S608
        self.sql(f"TRUNCATE {tables[0][0]}", database=name)

    def drop(self, url: str) -> None:
        """Remove a database, whoever is connected to it."""
        self.sql(f"DROP DATABASE IF EXISTS {url.rpartition('/')[2]} WITH (FORCE)")


def _free_port() -> int:
    """A port below those that the system hands out: one that is still free when a server starts again."""
    while True:
        port = random.randrange(15000, 32000)  # noqa: S311 - no secret
        with socket.socket() as trial, suppress(OSError):
            trial.bind(("127.0.0.1", port))
            return port


@pytest.fixture(scope="session")
def clusters() -> Iterator[object]:
    """Make servers: ``clusters(*settings)`` gives one that is not started yet. They go with the test session."""
    made: list[Cluster] = []

    def make(*settings: str, create: bool = True) -> Cluster:
        cluster = Cluster(Path(tempfile.mkdtemp(prefix="hermes-pg-")), *FAST, *settings)
        made.append(cluster)
        if create:
            cluster.create()
        return cluster

    yield make
    for cluster in made:
        cluster.stop()
        shutil.rmtree(cluster.folder, ignore_errors=True)


@pytest.fixture(scope="session")
def cluster(clusters) -> Cluster:  # type: ignore[no-untyped-def]
    """The server that most tests share, with a database ``hermes`` that holds the tables at head."""
    from hermes_backend_postgresql.driver import PostgreSQL
    from hermes_core.store.store import open_store

    made: Cluster = clusters()
    made.start()
    made.sql("CREATE DATABASE hermes TEMPLATE template0")
    open_store(Path("unused"), url=made.url("hermes"), driver=PostgreSQL()).close()
    return made


@pytest.fixture
def database_url(cluster: Cluster) -> Iterator[str]:
    """The address of a database with empty tables, for one test."""
    url = cluster.database("hermes")
    yield url
    cluster.drop(url)
