"""Scripts that mean harm or go wrong: a clear line each, nothing left running, memory bounded."""

import asyncio
import os
from pathlib import Path

import pytest

from hermes_core.testing.leftovers import Traces

pytestmark = pytest.mark.long

CASES = {
    "ends itself": ("import os\nos._exit(3)", "its process ended itself with status 3"),
    "is killed": ("import os\nos.kill(os.getpid(), 9)", "was ended by SIGKILL"),
    "kills its keeper": ("import os, time\nos.kill(os.getppid(), 9)\ntime.sleep(9)", "came to no end"),
    "crashes": ("import ctypes\nctypes.string_at(0)", "was ended by SIGSEGV"),
    "closes stdout": ("import sys\nsys.stdout.close()\nprint(1)", "ValueError: I/O operation on closed file"),
    "closes 1": ("import os\nos.close(1)\nos.close(2)\n'still there'", "still there"),
    "closes all": (
        "import os\nos.closerange(0, 400)\nfrom hermes_tools import read_file\nread_file('x')",
        "it closed the pipes by which it speaks with Hermes",
    ),
    "writes into the pipes": (
        "import os\nfor fd in range(3, 300):\n    try: os.write(fd, b'junk' * 5000)\n    except OSError: pass",
        "it wrote into the pipes by which it speaks with Hermes",
    ),
    "forges an end": (
        "import os\nos.write(101, b'w.{\"end\": {\"value\": \"forged\"}}\\n')\n'the true end'",
        "the true end",
    ),
    "swallows its end": (
        "import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True:\n    try: 1 / 0\n    except: pass",
        "did not end within 2 s",
    ),
    "recursion": ("def f(n): return f(n + 1)\nf(0)", "RecursionError"),
    "memory": ("x = b'x' * 10**11", "MemoryError"),
    "binary": ("import os\n_ = os.write(1, bytes(range(256)) * 9)", "ABCDEFG"),
    "no such tool": ("from hermes_tools import reed_file", "no tool named 'reed_file'. Did you mean read_file?"),
    "wrong kinds": ("from hermes_tools import read_file\nread_file({1, 2})", "arguments of tools are JSON"),
    "too many": ("from hermes_tools import read_file\nread_file(1, 2, 3)", "read_file takes 2 arguments: path, limit"),
    "odd calls": ("from hermes_tools import call_many\ncall_many(7)", "TypeError"),
    "sys.exit": ("import sys\nsys.exit('enough')", "SystemExit: enough"),
    "a copy of itself": ("import os\nif os.fork():\n    os.wait()\n    print('one')", "one"),
    "copies call": (
        "import os\nfrom hermes_tools import read_file\nif not os.fork():\n    read_file('x')\nelse:\n    os.wait()",
        "tools cannot be called from another process",
    ),
    "no repr": ("class A:\n    def __repr__(self): return 7\nA()", "TypeError"),
    "no error text": ("class E(Exception):\n    def __str__(self): raise E\nraise E", "E"),
    "deep values": (
        "x = []\nfor _ in range(100_000): x = [x]\nfrom hermes_tools import read_file\nread_file(x)",
        "RecursionError",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
async def test_it_is_told_in_a_line_and_nothing_is_left(make, name):
    code, wanted = CASES[name]
    bench = make(mode="full", seconds=2)
    before = Traces.now()
    said = await bench.call(code)
    assert wanted in said
    assert "Traceback" not in said
    left = await before.left()
    assert not left, left
    assert await make(mode="full").call("'the next one works'") == "→ the next one works"


async def test_what_it_left_behind_ends_with_it(full):
    code = "import subprocess, os\np = subprocess.Popen(['sleep', '300'], start_new_session=True)\nprint(p.pid)"
    pid = int(await full.call(code))
    assert not await alive(pid)
    code = """
import os, time
if not os.fork():
    os.setsid()
    if not os.fork():
        print(os.getpid(), flush=True)
        time.sleep(300)
    os._exit(0)
os.wait()
time.sleep(1)
"""
    assert not await alive(int((await full.call(code)).split()[0]))


async def test_what_becomes_too_many_is_ended(full):
    code = "import os, time\nfor _ in range(600):\n    if not os.fork(): time.sleep(60)\ntime.sleep(15)"
    before = Traces.now()
    assert "it started more than 512 processes, and was ended with all of them" in await full.call(code)
    assert not await before.left()


async def test_output_without_an_end_is_bounded(make):
    bench = make(mode="full", seconds=2)
    said = await bench.call("import os\nwhile True: os.write(1, b'x' * 100_000)")
    assert "bytes left out" in said
    assert len(said) < 60_000


async def test_kept_variables_are_gone_where_their_process_is(full):
    await full.call("x = 1", keep=True)
    assert "The variables that were kept are gone." in await full.call("import os\nos._exit(1)", keep=True)
    assert "NameError" in await full.call("x", keep=True)


async def test_kept_variables_stay_where_a_script_ran_late(make):
    bench = make(mode="full", seconds=1)
    await bench.call("x = 1", keep=True)
    assert "was stopped" in await bench.call("while True: pass", keep=True)
    assert await bench.call("x", keep=True) == "→ 1"


async def test_what_a_late_script_started_ends_and_its_variables_stay(make):
    bench = make(mode="full", seconds=1)
    code = "import subprocess\np = subprocess.Popen(['sleep', '300'], start_new_session=True)\nwhile True: pass"
    assert "was stopped" in await bench.call(code, keep=True)
    assert not await alive(int((await bench.call("p.pid", keep=True)).removeprefix("→ ")))


async def alive(pid: int) -> bool:
    for _ in range(100):
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return False
        except OSError:
            return False
        await asyncio.sleep(0.02)
    return True
