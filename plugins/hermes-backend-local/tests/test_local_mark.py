"""Where there is no wall, whatever a command starts can be told from a person, however it leaves everything behind."""

import os
import re
import signal
import sys
from pathlib import Path

import pytest

from hermes_backend_local.backend import Local
from hermes_backend_local.workspace import Here
from hermes_core.environment import LOCKS
from hermes_core.types import ExecRequest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the limit is one of Linux")
SAYS = "import resource; print(resource.getrlimit(10))"
LEFT = f"exec env -i {sys.executable} -c '{SAYS}'"
LIMITS = re.compile(r"\((\d+), (\d+)\)")
CAPABILITIES = Path("/proc/self/status").read_text() if sys.platform == "linux" else "CapEff:\t0\n"
RAISES = int(CAPABILITIES.partition("CapEff:")[2].split()[0], 16) >> 24 & 1  # CAP_SYS_RESOURCE
UNPRIVILEGED = pytest.mark.skipif(bool(RAISES), reason="who may raise limits may do anything here")


def marked(output: bytes) -> bool:
    """Whether a command said that it may have no more locks than a person's program never has."""
    said = LIMITS.search(output.decode())
    return said is not None and said[1] == said[2] and LOCKS - 2**32 <= int(said[1]) <= LOCKS


@pytest.fixture
async def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "environ", {"PATH": os.environ["PATH"], "HOME": str(tmp_path)})
    workspace = await Local().open(str(tmp_path))
    yield workspace
    await workspace.close()


@pytest.mark.parametrize(
    "script",
    [
        LEFT,
        f"(setsid sh -c '({LEFT.replace(chr(39), chr(34))}; true) &'); sleep 0.3",
        f"nohup {LEFT.removeprefix('exec ')}",
        pytest.param(f"ulimit -x 1000000000000000; {LEFT}", marks=UNPRIVILEGED),
    ],
    ids=["no environment", "two forks and a session of its own", "nohup", "raised again"],
)
async def test_what_a_command_starts_has_the_limit(place: Here, script: str) -> None:
    result = await place.run(ExecRequest(argv=("bash", "-c", script)))
    assert marked(result.output)


async def test_a_program_without_a_shell_has_it_too(place: Here) -> None:
    slow = f"import time; time.sleep(0.05); {SAYS}"
    assert marked((await place.run(ExecRequest(argv=(sys.executable, "-c", slow)))).output)


async def test_the_shell_tells_what_it_told_before(place: Here) -> None:
    result = await place.run(ExecRequest(argv=("bash", "-c", "echo $?:$LINENO; false; echo $?")))
    assert result.output.split() == [b"0:1", b"1"]
    folder = await place.run(ExecRequest(argv=("bash", "-c", "mkdir -p deep && cd deep && export X=1")))
    assert folder.status == 0
    assert (await place.run(ExecRequest(argv=("bash", "-c", 'printf "%s %s" "${PWD##*/}" "$X"')))).output == b"deep 1"


async def test_hermes_itself_is_not_marked(place: Here) -> None:
    import resource

    before = resource.getrlimit(10)
    await place.run(ExecRequest(argv=("bash", "-c", "true")))
    assert resource.getrlimit(10) == before


async def test_a_daemon_that_left_everything_behind_ends_with_its_command(place: Here, tmp_path: Path) -> None:
    daemon = "echo $$ >pid; exec sleep 300"
    script = (
        f"setsid -f env -i PATH=$PATH sh -c '{daemon}'; setsid -f env -i PATH=$PATH sh -c 'exec sleep 301'; sleep 60"
    )
    result = await place.run(ExecRequest(argv=("bash", "-c", script), seconds=1.0))
    assert result.status == 124
    pid = int((tmp_path / "pid").read_text())
    assert not _alive(pid)


async def test_a_daemon_of_another_command_is_left_alone(place: Here, tmp_path: Path) -> None:
    script = "setsid -f env -i PATH=$PATH sh -c 'echo $$ >pid; exec sleep 300'; until [ -s pid ]; do sleep 0.02; done"
    assert (await place.run(ExecRequest(argv=("bash", "-c", script)))).status == 0
    assert (await place.run(ExecRequest(argv=("bash", "-c", "sleep 60"), seconds=0.2))).status == 124
    pid = int((tmp_path / "pid").read_text())
    assert _alive(pid)
    os.kill(pid, signal.SIGKILL)


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
