"""Code that has shed the audit hook: what it did not declare is held by the system, behind either wall."""

# ruff: noqa: E501 - attempts are lines of code

import os
import shutil
import sys
import textwrap
from pathlib import Path

import pytest

from hermes_backend_wall import landlock
from hermes_tool_workshop import calls

pytestmark = [pytest.mark.real, pytest.mark.timeout(180)]
KEY = "PRIVATE-4c1f9"


@pytest.fixture(params=["bubblewrap", "landlock"])
def bare(request, bench, tmp_path, monkeypatch):
    """A bench in a person's home, whose calls run without the hook: what holds is the wall."""
    if request.param == "landlock" and not landlock.version():
        pytest.skip("no Landlock here")
    if request.param == "bubblewrap" and not shutil.which("bwrap"):
        pytest.skip("no bwrap here")
    person = tmp_path / "person"
    for name in (".ssh/id_ed25519", ".netrc", "Documents/letter.txt"):
        (person / name).parent.mkdir(parents=True, exist_ok=True)
        (person / name).write_text(KEY)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".env").write_text(KEY)
    (bench.work / "there").write_text(KEY)
    (bench.work / ".git").mkdir()
    (bench.work / ".git" / "config").write_text("[core]\n\tbare = false\n")
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    shown = calls._script

    def script(name: str) -> str:
        return shown(name).replace("    sys.addaudithook(hook)\n", "    pass\n")

    monkeypatch.setattr(calls, "_script", script)
    bench.shop._walls._wall = request.param
    bench.person = person
    return bench


def every_file(folder: Path) -> dict[str, bytes]:
    found = sorted(p for p in folder.rglob("*") if p.is_file() and "own-tools-kept" not in p.parts)
    return {str(p.relative_to(folder)): p.read_bytes() for p in found}


HERE = "/proc/self"
ATTEMPTS = {
    "readline": "import readline\nreadline.write_history_file('WORK/ESC')\nreadline.write_history_file('OUT/ESC')",
    "attach": "import sqlite3\nsqlite3.connect(':memory:').execute(\"attach 'OUT/db' as o\")\n"
    "sqlite3.connect(':memory:').execute(\"vacuum into 'OUT/db'\")",
    "ctypes write": "import ctypes\nlibc = ctypes.CDLL(None)\nlibc.creat(b'WORK/ESC', 0o600)\nlibc.creat(b'OUT/ESC', 0o600)",
    "ctypes system": "import ctypes\nassert ctypes.CDLL(None).system(b'true') == 0\nreturn KEY",
    "subprocess": "import subprocess\nsubprocess.run(['/bin/true'], check=True)\nreturn KEY",
    "fork": "import os\nif os.fork() == 0: os._exit(0)\nreturn KEY",
    "posix_spawn": "import os\nos.posix_spawn('/bin/true', ['true'], {})\nreturn KEY",
    "exec": "import os\nos.execv(PYTHON, ['python', '-c', 'import os; os.write(3, b\\'{\"result\": \"' + KEY + '\", \"refused\": []}\\')'])",
    "socket": "import socket\nsocket.socket()\nreturn KEY",
    "unix socket": "import socket\nsocket.socketpair()\nreturn KEY",
    "keys": "import os\nreturn os.read(os.open('PERSON/.ssh/id_ed25519', os.O_RDONLY), 99).decode()",
    "letters": "return open('PERSON/Documents/letter.txt').read()",
    "hermes": "return open('OUT/home/.env').read()",
    "the working folder": "return open('WORK/there').read()",
    "by way of where it is": "return open('there').read()",
    "by way of a process": "import os\nreturn ''.join(open(f'/proc/{p}/environ').read() for p in os.listdir('/proc') if p.isdigit() and p != str(os.getpid()) and read(p))",
    "by way of a root": "import os\nfor p in os.listdir('/proc'):\n    try: return open(f'/proc/{p}/root/PERSON/.netrc').read()\n    except OSError: pass",
    "memory of Hermes": "return open(f'/proc/HERMES/mem', 'rb').read(1)\n",
    "environment of Hermes": "return open(f'/proc/HERMES/environ').read()",
    "end Hermes": "import os\nos.kill(HERMES, 0)\nreturn KEY",
    "shared memory": "open('/dev/shm/hermes-esc-HERMES', 'w').write('x')",
    "another's temporary files": "open('/tmp/hermes-esc-HERMES', 'w').write('x')\nopen('/var/tmp/hermes-esc-HERMES', 'w').write('x')",
    "io_uring": "import ctypes\nassert ctypes.CDLL(None).syscall(425, 8, ctypes.create_string_buffer(120)) >= 0\nreturn KEY",
}


def code_of(name: str, bare, outside: Path) -> str:
    """An attempt as the body of a tool, with the places of this test."""
    body = ATTEMPTS[name]
    for word, text in (
        ("WORK", str(bare.work)),
        ("OUT", str(outside)),
        ("PERSON", str(bare.person)),
        ("HERMES", str(os.getpid())),
        ("PYTHON", repr(sys.executable)),
        ("KEY", repr(KEY)),
    ):
        body = body.replace(word, text)
    imports = [line for line in body.splitlines() if line.startswith("import")]
    rest = "\n".join(line for line in body.splitlines() if not line.startswith("import"))
    read = "def read(p):\n    try: return open(f'/proc/{p}/environ').read()\n    except OSError: return ''\n"
    return "\n".join((*imports, read, "def attempt():", textwrap.indent(rest, "    "), "return str(attempt())"))


@pytest.mark.parametrize(
    "name", ["readline", "ctypes system", "fork", "socket", "keys", "letters", "the working folder"]
)
async def test_without_a_wall_they_would_succeed(bare, name, tmp_path, monkeypatch):
    """So what stops them otherwise is the wall."""
    monkeypatch.setattr("hermes_tool_workshop.made.own_wall", lambda *_: False)
    before = every_file(tmp_path)
    outcome = await bare.do(code_of(name, bare, tmp_path))
    assert KEY in str(outcome.value) or every_file(tmp_path) != before, outcome


@pytest.mark.parametrize("name", ATTEMPTS)
async def test_what_was_not_declared_is_closed_without_the_hook(bare, name, tmp_path):
    before = every_file(tmp_path)
    outcome = await bare.do(code_of(name, bare, tmp_path))
    assert KEY not in str(outcome), outcome
    assert "OPENAI_API_KEY" not in str(outcome.value)
    assert every_file(tmp_path) == before
    for place in ("/dev/shm", "/tmp", "/var/tmp"):
        assert not Path(f"{place}/hermes-esc-{os.getpid()}").exists()


async def test_what_was_declared_is_open_and_no_more(bare, tmp_path):
    (bare.work / "data").mkdir()
    (bare.work / "data" / "a").write_text("1")
    kept = "open('data/b', 'w').write('2')\nreturn open('data/a').read()"
    assert (await bare.do(kept, writes=("data",))).value == "1"
    assert (bare.work / "data" / "b").read_text() == "2"
    assert (await bare.do("return open('data/a').read()", reads=("data",))).value == "1"
    for body, may in (
        ("open('data/c', 'w')", {"reads": ("data",)}),
        ("return open('there').read()", {"reads": ("data",), "writes": ("data",)}),
        ("import os\nos.rename('data/b', '../b')", {"writes": ("data",)}),
        ("import os\nos.symlink('/etc/passwd', 'data/l')\nos.chmod('data/../there', 0o777)", {"writes": ("data",)}),
    ):
        assert (await bare.do(body, **may)).crash, body
    assert (bare.work / "there").read_text() == KEY
    made = await bare.do("open('report.txt', 'w').write('x')", writes=("report.txt",))
    assert not made.crash, made
    assert (bare.work / "report.txt").read_text() == "x"
    await bare.do("return 1", writes=("unused.txt", "unused"))
    assert not (bare.work / "unused.txt").exists()
    assert not (bare.work / "unused").exists()


async def test_a_link_that_leads_out_of_the_folder_is_no_way_out(bare):
    (bare.work / "mine").symlink_to(bare.person / "Documents")
    (bare.work / "keys").symlink_to(bare.person / ".ssh")
    for name in ("mine", "keys"):
        with pytest.raises(calls.ToolError, match="was not run"):
            await bare.do(f"import os\nreturn os.listdir('{name}')", reads=(name,))


async def test_files_that_run_by_themselves_are_put_back(bare, tmp_path):
    body = "open('.git/config', 'a').write('[core]\\n\\tfsmonitor = sh x\\n')\nopen('AGENTS.md', 'w').write('x')\nopen('ok', 'w').write('y')"
    outcome = await bare.do(body, writes=(".",))
    assert not outcome.crash, outcome
    assert "fsmonitor" not in (bare.work / ".git" / "config").read_text()
    assert not (bare.work / "AGENTS.md").exists()
    assert (bare.work / "ok").read_text() == "y"


async def test_packages_work_behind_it(bare):
    assert (await bare.do("import attrs\nreturn attrs.__name__", packages=("attrs",))).value == "attrs"
    assert (
        await bare.do("import threading\nt = threading.Thread(target=int)\nt.start()\nt.join()\nreturn 1")
    ).value == 1
