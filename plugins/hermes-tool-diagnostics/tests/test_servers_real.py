"""Real language servers, in the open and behind the walls of this machine; and that a kill leaves none of them."""

import asyncio
import os
import pwd
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from hermes_backend_local.workspace import Here
from hermes_backend_wall import landlock
from hermes_backend_wall.plan import Plan
from hermes_backend_wall.walled import Walled

pytestmark = [pytest.mark.real, pytest.mark.timeout(180)]
HERE = Path(__file__).parent
KILLS = 5  # of each part
SERVERS = {
    "ruff": ("a.py", "import os\n\nprint(os)\n", "print(os)\n", "error: Undefined name `os` (Ruff F821)"),
    "clangd": (
        "a.c",
        "int main(void) { return 0; }\n",
        "int main(void) { return zero; }\n",
        "undeclared identifier 'zero'",
    ),
    "gopls": (
        "a.go",
        "package main\n\nfunc main() {\n\tprintln(1)\n}\n",
        "package main\n\nfunc main() {\n\tprintln(zero)\n}\n",
        "zero",
    ),
    "pyright": ("b.py", "x: int = 1\n", 'x: int = "a"\n', "is not assignable to"),
    "typescript": (
        "a.ts",
        "const x: number = 1;\nconsole.log(x);\n",
        'const x: number = "a";\nconsole.log(x);\n',
        "not assignable to type",
    ),
}
PROJECT = {"go.mod": "module a\n\ngo 1.19\n", "tsconfig.json": '{"compilerOptions": {"strict": true}}\n'}
CACHE = Path(pwd.getpwuid(os.getuid()).pw_dir, ".cache", "hermes-tests", "servers")
NODE = Path(os.environ.get("HERMES_SERVERS", CACHE)) / "node_modules"  # as .ci/run installs them


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
    # Without a wall they keep what they found out in the home, and in the temporary folder, that they are given.
    for name in ("HOME", "TMPDIR"):
        (tmp_path / name.lower()).mkdir()
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
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
    others = [] if server in ("gopls", "clangd") else [one for one in ("pyright", "typescript") if one != server]
    bench = make(place=place, servers="walled" if walled else "always", more={}, seconds=4.0, off=others)
    for path, text in {**PROJECT, name: before}.items():
        (tmp_path / "work" / path).write_text(text)
    if server in ("pyright", "typescript"):
        if not NODE.is_dir():
            pytest.skip(f"{NODE} is not there: see .ci/run")
        shutil.copytree(NODE, tmp_path / "work" / "node_modules", symlinks=True, copy_function=os.link)
    told = await bench.write(name, after)
    for _ in range(600):  # a machine at work may have it come late
        if said in told:
            break
        await asyncio.sleep(0.1)
        told += await bench.other()
    assert f"in {name}:" in told
    assert said in told
    assert server in [one.found.row.name for one in bench.watch.servers.running("s")]
    await bench.watch.rest(bench.session)
    for _ in range(50):
        if not of_tree(tmp_path / "work"):
            break
        await asyncio.sleep(0.1)
    assert of_tree(tmp_path / "work") == []


@pytest.mark.long
def test_kills_at_any_moment_leave_no_server(tmp_path: Path, programs: str, part: int) -> None:
    chance = random.Random(part)
    for number in range(KILLS):
        folder, wall = tmp_path / str(number), chance.choice(("none", "bubblewrap"))
        work = folder / "work"
        work.mkdir(parents=True)
        environment = {**os.environ, "PATH": programs, "TMPDIR": str(tmp_path)}  # what a killed one leaves goes with it
        argv = [sys.executable, str(HERE / "killed.py"), str(work), wall, str(folder / "homes")]
        with subprocess.Popen(argv, stdout=subprocess.PIPE, env=environment, text=True) as process:
            assert process.stdout is not None
            if number == 0:  # whole, at least once: it is open, and known as that
                assert process.stdout.readline().strip() == "['clangd']"
                assert of_tree(work)
            else:
                time.sleep(chance.uniform(0.2, 3.0))
            process.send_signal(signal.SIGKILL)
        deadline = time.monotonic() + 20
        while of_tree(work) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert of_tree(work) == [], f"kill {number} of part {part}, {wall}"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "part" in metafunc.fixturenames:  # --kills 40 are 200 deaths
        metafunc.parametrize("part", range(metafunc.config.getoption("kills")))
