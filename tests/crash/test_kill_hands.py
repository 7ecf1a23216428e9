"""kill -9 at any moment while processes, a Python, a browser and a language server are open: none of them lives on."""

import os
import random
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from hermes_core.testing.forks import Forks

pytestmark = [pytest.mark.real, pytest.mark.long, pytest.mark.timeout(230)]
PART = 5  # kills of one test
OPEN = {"bash", "sleep", "python3", "chrom", "clangd"}  # what is seen of them, when all are open
WALLS = ("bubblewrap", "landlock")


class Page(BaseHTTPRequestHandler):
    """A page that is never done with."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<title>A page</title><script>setInterval(() => fetch('/'), 50)</script><p>Words.")

    def log_message(self, *said: object) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """It expects that browsers go in the middle of an answer."""

    def handle_error(self, *request: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with Server(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    with Forks(Path(__file__).with_name("hands_worker.py")) as made:
        yield made


def family(parent: int) -> dict[int, str]:
    """What lives below a process, by its name; a zombie is dead."""
    found: dict[int, tuple[int, str, str]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = path.read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue
        state, above = rest.split()[:2]
        found[int(path.parent.name)] = int(above), state, name
    tree = {parent}
    while more := {pid for pid, (above, _, _) in found.items() if above in tree} - tree:
        tree |= more
    return {pid: found[pid][2] for pid in tree - {parent} if found[pid][1] not in "ZX"}


def none_left(parent: int) -> bool:
    """Wait until nothing lives below it."""
    until = time.monotonic() + 20
    while family(parent) and time.monotonic() < until:
        time.sleep(0.05)
    return not family(parent)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "part" in metafunc.fixturenames:  # --kills 200 are so many deaths
        kills = metafunc.config.getoption("kills")
        parts = [min(PART, kills - begun) for begun in range(0, kills, PART)]
        metafunc.parametrize(("part", "kills"), list(enumerate(parts)))


@pytest.fixture
def place() -> Iterator[Path]:
    """A temporary folder whose path is short, as that of a socket has to be."""
    made = Path(tempfile.mkdtemp(prefix="hk-", dir="/tmp"))
    yield made
    shutil.rmtree(made, ignore_errors=True)


def test_nothing_that_it_held_outlives_it(
    part: int, kills: int, forks: Forks, url: str, place: Path, tmp_path: Path
) -> None:
    dice = random.Random(f"{os.environ.get('HERMES_SEED', '16')} {part}")
    longest, at = 0.0, list[str]()
    for number in range(kills + 1):
        home, said = tmp_path / str(number) / "home", tmp_path / f"said{number}"
        said.touch()
        wall = WALLS[(part + number) % len(WALLS)]
        order = {"home": str(home), "url": url, "wall": wall, "stays": number > 0}
        began = time.monotonic()
        pid = forks.start(env={"TMPDIR": str(place), "HERMES_TESTING": "1"}, output=said, **order)
        server = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        if number == 0:  # how long one takes here, undisturbed
            assert forks.wait() == 0, said.read_text()
            longest = time.monotonic() - began
            assert said.read_text().split("\n")[-2] == "all"
            assert "failed" not in said.read_text(), said.read_text()
        elif number == 1:  # whole, at least once
            while "all" not in said.read_text().split():
                time.sleep(0.05)
            names = set(family(pid).values())
            assert {one for one in OPEN if not any(name.startswith(one) for name in names)} == set()
        else:
            time.sleep(dice.uniform(0.0, longest))
        if number:
            os.kill(pid, signal.SIGKILL)
            assert forks.wait() == -signal.SIGKILL
            at.append((said.read_text().split("\n") or [""])[-2:][0] or "nothing")
        assert none_left(server), f"{wall}, after {at[-1:]}: {family(server)}"
    print(f"killed {len(at)} times:", {word: at.count(word) for word in sorted(set(at))})
