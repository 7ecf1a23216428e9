"""Real language servers, in the open and behind the walls of this machine; and that a kill leaves none of them."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from hermes_backend_local.workspace import Here
from hermes_backend_wall import landlock
from hermes_backend_wall.plan import Plan
from hermes_backend_wall.walled import Walled

pytestmark = [pytest.mark.real, pytest.mark.timeout(180)]
HERE = Path(__file__).parent
SERVERS = {
    "ruff": ("a.py", "import os\n\nprint(os)\n", "print(os)\n", "error: Undefined name `os` (Ruff F821)"),
    "clangd": (
        "a.c",
        "int main(void) { return 0; }\n",
        "int main(void) { return zero; }\n",
        "undeclared identifier 'zero'",
    ),
}


def of_tree(folder: Path) -> list[int]:
    """The processes that run in a folder, except this one."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if (path / "cwd").readlink() == folder and int(path.name) != os.getpid():
                found.append(int(path.name))
        except OSError:
            continue
    return found


@pytest.fixture
def programs(tmp_path: Path) -> str:
    """A PATH with the servers of these tests, that of the environment and that of the machine, and no others."""
    folder = tmp_path / "work" / ".venv" / "bin"
    folder.mkdir(parents=True)
    ruff = Path(sys.executable).with_name("ruff")
    shutil.copy(ruff if ruff.exists() else shutil.which("ruff") or "ruff", folder / "ruff")
    return os.defpath


@pytest.fixture(params=["open", "bubblewrap", "landlock"])
async def place(
    request: pytest.FixtureRequest, tmp_path: Path, programs: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Here]:
    """A workspace with and without a wall."""
    monkeypatch.setenv("PATH", programs)
    work = str(tmp_path / "work")
    if request.param == "open":
        workspace = Here(work)
    else:
        if request.param == "landlock" and not landlock.version():
            pytest.skip("the kernel here does not claim Landlock")
        plan = Plan(kind=request.param, homes=tmp_path / "homes", hidden=[tmp_path / "home"])
        workspace = Here(work, walled=Walled(work, plan))
    yield workspace
    await workspace.close()


@pytest.mark.parametrize("server", SERVERS)
async def test_it_says_what_a_change_broke(make: Callable, place: Here, tmp_path: Path, server: str) -> None:
    name, before, after, said = SERVERS[server]
    walled = place.wall.name != "none"
    bench = make(place=place, servers="walled" if walled else "always", more={}, seconds=4.0)
    (tmp_path / "work" / name).write_text(before)
    told = await bench.write(name, after)
    for _ in range(200):  # a machine at work may have it come late
        if told:
            break
        await asyncio.sleep(0.1)
        told = await bench.other()
    assert f"in {name}:" in told
    assert said in told
    assert [one.found.row.name for one in bench.watch.servers.running("s")] == [server]
    await bench.watch.rest(bench.session)
    for _ in range(50):
        if not of_tree(tmp_path / "work"):
            break
        await asyncio.sleep(0.1)
    assert of_tree(tmp_path / "work") == []


@pytest.mark.parametrize("wall", ["none", "bubblewrap"])
def test_a_kill_leaves_no_server(tmp_path: Path, programs: str, wall: str) -> None:
    work = tmp_path / "work"
    environment = {**os.environ, "PATH": programs, "TMPDIR": str(tmp_path)}  # what a killed one leaves goes with it
    argv = [sys.executable, str(HERE / "killed.py"), str(work), wall, str(tmp_path / "homes")]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, env=environment, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "['clangd']"
        assert of_tree(work)
        process.send_signal(signal.SIGKILL)
    for _ in range(100):
        if not of_tree(work):
            break
        subprocess.run(["sleep", "0.1"], check=True)
    assert of_tree(work) == []
