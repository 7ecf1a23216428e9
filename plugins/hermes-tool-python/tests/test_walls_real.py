"""Scripts behind the walls of this machine, and inside a kernel: what they cannot reach, whatever they try."""

import os
import shutil
import socket
import textwrap
from pathlib import Path

import pytest

from hermes_backend_local.workspace import Here
from hermes_backend_wall import landlock
from hermes_backend_wall.limits import Limits
from hermes_backend_wall.plan import Plan
from hermes_backend_wall.walled import Walled
from hermes_core.testing.leftovers import Traces
from hermes_core.types import Feature

pytestmark = [pytest.mark.real, pytest.mark.timeout(180)]
KEY = "PRIVATE-7d20e"


@pytest.fixture(params=["bubblewrap", "landlock"])
async def walled(request, make, tmp_path, monkeypatch):
    """The tool behind a wall, in a person's home with secrets in it."""
    if request.param == "landlock" and not landlock.version():
        pytest.skip("no Landlock here")
    if request.param == "bubblewrap" and not shutil.which("bwrap"):
        pytest.skip("no bwrap here")
    person = tmp_path / "person"
    (person / ".ssh").mkdir(parents=True)
    (person / ".ssh" / "id_ed25519").write_text(KEY)
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    bench = make(mode="full", seconds=5)
    limits = Limits(processes=64)
    plan = Plan(kind=request.param, homes=tmp_path / "homes", hidden=[tmp_path / "home"], limits=limits)
    place = Here(str(tmp_path / "work"), walled=Walled(str(tmp_path / "work"), plan))
    assert Feature.WALLED in place.features
    bench.context.workspace = place
    bench.person = person
    yield bench
    await bench.context.close()
    await place.close()


SHUT = {
    "a key": "open('PERSON/.ssh/id_ed25519').read()",
    "the settings of Hermes": "open('OUT/home/.env').read()",
    "the environment": "import os\n[v for v in os.environ.values() if 'PRIVATE' in v][0]",
    "the environment of others": """
        import glob
        found = [p for p in glob.glob('/proc/[0-9]*/environ') if b'PRIVATE' in open(p, 'rb').read()]
        found[0]
        """,
    "the network": "import socket\nsocket.create_connection(('127.0.0.1', PORT), 5)",
    "the network by a program": """
        import subprocess, sys
        code = "import socket; socket.create_connection(('127.0.0.1', PORT), 5)"
        subprocess.run([sys.executable, '-c', code], check=True)
        """,
    "a datagram": "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
    "a file outside": "open('OUT/escaped', 'w').write('x')",
    "what runs by itself": "import os\nos.makedirs('.git/hooks')\nopen('.git/hooks/pre-commit', 'w').write('x')\n1 / 0",
}  # fmt: skip


@pytest.mark.parametrize("what", SHUT)
async def test_it_does_not_reach(walled, tmp_path, what):
    (tmp_path / "home" / ".env").write_text(KEY)
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = textwrap.dedent(SHUT[what]).strip()
        code = code.replace("PERSON", str(walled.person)).replace("OUT", str(tmp_path))
        said = await walled.call(code.replace("PORT", str(server.getsockname()[1])))
    assert walled.failed or what == "a file outside", said  # bubblewrap's own /tmp takes it, and goes with it
    assert KEY not in said
    assert not (tmp_path / "escaped").exists()
    assert not (tmp_path / "work" / ".git" / "hooks" / "pre-commit").exists()


async def test_what_it_gives_is_not_from_outside_as_it_reaches_nothing(walled):
    code = "import asyncio, subprocess\nprint(asyncio.run(asyncio.sleep(0, 'a loop')))\nopen('made', 'w').write('x')"
    assert await walled.call(code) == "a loop\n→ 1"
    assert not walled.context.untrusted
    assert Path(walled.context.workspace.cwd, "made").read_text() == "x"


async def test_a_fork_bomb_ends_and_the_next_script_works(walled):
    assert await walled.call("'the wall stands'") == "→ the wall stands"
    before = Traces.now()
    code = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"
    said = await walled.call(code)
    assert "came to no end" in said or "was stopped" in said
    assert await walled.call("1 + 1") == "→ 2"
    assert not await before.left()


async def test_a_script_calls_tools_from_behind_it(walled):
    assert await walled.call("from hermes_tools import read_file\nread_file('x')", keep=True) == "→ text of it"
    assert await walled.call("1 + 1", keep=True) == "→ 2"


async def test_the_small_python_knows_no_secret_either(make, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    bench = make(mode="fast")
    running = await bench.context.resource("interpreter")
    family = [Path(f"/proc/{pid}/environ") for pid in below(os.getpid())]
    assert family
    assert not [path for path in family if KEY.encode() in path.read_bytes()]
    assert running.alive


def below(pid: int) -> list[int]:
    """The processes that descend from one."""
    found = [int(child) for path in Path(f"/proc/{pid}/task").glob("*/children") for child in path.read_text().split()]
    return [*found, *(one for child in found for one in below(child))]
