"""Where there is no wall, whatever a command starts can be told from a person, however it leaves everything behind."""

import os
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
MARKED = str((LOCKS, LOCKS)).encode()
CAPABILITIES = Path("/proc/self/status").read_text() if sys.platform == "linux" else "CapEff:\t0\n"
RAISES = int(CAPABILITIES.partition("CapEff:")[2].split()[0], 16) >> 24 & 1  # CAP_SYS_RESOURCE
UNPRIVILEGED = pytest.mark.skipif(bool(RAISES), reason="who may raise limits may do anything here")


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
    assert MARKED in result.output


async def test_a_program_without_a_shell_has_it_too(place: Here) -> None:
    slow = f"import time; time.sleep(0.05); {SAYS}"
    assert MARKED in (await place.run(ExecRequest(argv=(sys.executable, "-c", slow)))).output


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
