"""Code that does what it did not declare, that breaks, or that tries to outlive its call. It is run here, really."""

import asyncio
import os
import socket
import sys
import textwrap
import threading
from pathlib import Path
from uuid import uuid4

import pytest
from processes import running

from hermes_core.errors import ToolError

READ = "import os\n"
ESCAPES = {
    "a file of the system": ("return open('/etc/passwd').read()", "may not read /etc/passwd"),
    "its environment through /proc": ("return open('/proc/self/environ').read()", "may not read /proc/"),
    "the environment of who started it": ("import os\nreturn open(f'/proc/{os.getppid()}/environ').read()", "may not read"),  # noqa: E501
    "its own memory": ("return open('/proc/self/mem', 'r+b')", "may not change /proc/"),
    "the output of who started it": ("import os\nreturn os.open(f'/proc/{os.getppid()}/fd/1', os.O_WRONLY)", "may not change"),  # noqa: E501
    "a path that leads up": ("return open('../' * 40 + 'etc/passwd').read()", "may not read /etc/passwd"),
    "a path in bytes": ("return str(open(b'/etc/passwd').read())", "may not read /etc/passwd"),
    "a low-level open": ("import os\nreturn os.open('/etc/passwd', os.O_RDONLY)", "may not read /etc/passwd"),
    "a path object": ("import pathlib\nreturn pathlib.Path('/etc/passwd').read_text()", "may not read /etc/passwd"),
    "the listing of a folder": ("import os\nreturn os.listdir('/')", "may not read /"),
    "the listing of where it is": ("import os\nreturn os.listdir()", "may not read"),
    "a move to another folder": ("import os\nos.chdir('/etc')\nreturn open('passwd').read()", "may not read /etc"),
    "a link to a file": ("import os\nos.link('/etc/passwd', os.environ['HOME'] + '/x')", "may not change /etc/passwd"),
    "a database": ("import sqlite3\nsqlite3.connect('/tmp/x.db')", "may not change /tmp/x.db"),
    "a new file": ("open('x', 'w')", "may not change"),
    "a removed file": ("import os\nos.remove('there')", "may not change"),
    "a rename": ("import os\nos.rename('there', 'gone')", "may not change"),
    "a folder": ("import os\nos.mkdir('x')", "may not change"),
    "a mode": ("import os\nos.chmod('there', 0o777)", "may not change"),
    "a program": ("import subprocess\nsubprocess.run(['id'])", "may not import _posixsubprocess"),
    "a shell": ("import os\nos.system('id')", "may not start"),
    "a pipe to a shell": ("import os\nos.popen('id').read()", "_posixsubprocess"),
    "another program in its place": ("import os\nos.execv('/bin/sh', ['sh', '-c', 'id'])", "may not start"),
    "a spawned program": ("import os\nos.posix_spawn('/bin/sh', ['sh', '-c', 'id'], {})", "may not start /bin/sh"),
    "a fork": ("import os\nos.fork()", "may not use os.fork"),
    "a terminal": ("import pty\npty.fork()", "may not import pty"),
    "a signal to who started it": ("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)", "may not use os.kill"),
    "foreign functions": ("import ctypes\nctypes.CDLL(None)", "may not import ctypes"),
    "foreign functions by the back door": ("__import__('_ctypes')", "may not import _ctypes"),
    "all objects": ("import gc\nreturn len(gc.get_objects())", "may not import gc"),
    "more memory": ("import resource\nresource.setrlimit(resource.RLIMIT_AS, (-1, -1))", "may not use resource.setrlimit"),  # noqa: E501
    "a socket": ("import socket\nsocket.socket()", "may not use the network"),
    "a name": ("import socket\nsocket.getaddrinfo('example.org', 80)", "may not reach the host example.org"),
    "a page": ("import urllib.request\nurllib.request.urlopen('http://127.0.0.1:9/')", "may not"),
    "a forged code object": ("f.__code__ = f.__code__.replace(co_name='x')", "may not"),
    "the hook of its own": ("import sys\nsys.addaudithook(print)", "use sys.addaudithook"),
}  # fmt: skip


ATTEMPTS = """
import sys
told = []
def tried():
    refused = []
    sys.audit("hermes.refused", refused)
    return refused
for attempt in [{names}]:
    before = len(tried())
    try:
        said = f"it was let through: {{attempt()!r}}"
    except BaseException as error:
        said = str(error)
    told.append([said, tried()[before:]])
return told
"""


@pytest.mark.parametrize("part", range(4))  # no more than so many refusals of one call are kept
async def test_what_was_not_declared_is_refused_and_told(bench, part):
    """A tool tries a lot, one thing after the other."""
    (bench.work / "there").write_text("still here")
    escapes = list(ESCAPES.items())[part::4]
    attempts = ""
    for number, (_, (body, _)) in enumerate(escapes):
        attempts += f"def attempt_{number}():\n" + textwrap.indent(body, "    ") + "\n"
    names = ", ".join(f"attempt_{number}" for number in range(len(escapes)))
    outcome = await bench.do(attempts + ATTEMPTS.format(names=names))
    assert outcome.value, outcome
    for (what, (_, refusal)), (said, refused) in zip(escapes, outcome.value, strict=True):
        assert refusal in said + " ".join(refused), (what, said)
        assert refused, f"{what}: what was tried is kept, also when the tool says nothing of it"
    assert [p.name for p in bench.work.iterdir()] == ["there"]
    assert (bench.work / "there").read_text() == "still here"


async def test_what_was_tried_is_told_also_when_the_tool_swallows_it(bench):
    outcome = await bench.do("try:\n    open('/etc/shadow')\nexcept OSError:\n    pass\nreturn 'nothing to see'")
    assert outcome.value == "nothing to see"
    assert outcome.refused == ["read /etc/shadow"]


@pytest.mark.parametrize(
    "patch",
    [
        "import posixpath, os\nposixpath.realpath = os.path.abspath = lambda *a, **k: '/tmp'",
        "import os\nos.readlink = os.getcwd = lambda *a, **k: '/tmp'",
        "import builtins\nbuiltins.str = builtins.type = builtins.any = builtins.isinstance = lambda *a: True",
        "import sys\nm = sys.modules['__main__']\nfor n in list(vars(m)):\n    setattr(m, n, None)",
        "import sys\nfor m in list(sys.modules):\n    if m not in ('sys', 'builtins'):\n        sys.modules[m] = None",
        "import sys\nsys.settrace = sys.setprofile = None\nimport io\nio.open = io.open_code",
        "class S(str):\n    def split(self, *a): return []\n    def startswith(self, *a): return True\n",
        "import errno, json\nerrno.EACCES = json.dumps = None",
    ],
)
@pytest.mark.few(3)
async def test_nothing_the_tool_exchanges_opens_a_file(bench, patch):
    path = "S('/etc/passwd')" if "class S" in patch else "'/etc/passwd'"
    outcome = await bench.do(f"o = open\n{patch}\nreturn o({path}).read(5)")
    assert outcome.value is None, outcome
    assert outcome.crash


FRAMES = """
def behind(error):
    found, todo, seen = [], [error], 0
    while todo and seen < 5000:
        thing, seen = todo.pop(), seen + 1
        for name in ("__traceback__", "__context__", "__cause__", "tb_frame", "tb_next", "f_locals", "f_back",
                     "__closure__", "cell_contents", "__defaults__", "__self__", "__func__"):
            inner = getattr(thing, name, None)
            if inner is None:
                continue
            if name == "cell_contents":
                found.append(thing)
            todo += list(inner.values()) if name == "f_locals" else list(inner) if isinstance(inner, tuple) else [inner]
    return found
def dive(n):
    try:
        return dive(n + 1)
    except RecursionError:
        return reach()
def reach():
    try:
        return open("/etc/passwd").read(5)
    except BaseException as error:
        for cell in behind(error):
            content = cell.cell_contents
            if isinstance(content, (dict, list, set)):
                content.clear()
            elif isinstance(content, tuple):
                cell.cell_contents = ("", "/etc", "/")
            elif callable(content):
                cell.cell_contents = lambda *a, **k: True
        return open("/etc/passwd").read(5)
"""


@pytest.mark.parametrize("how", ["reach()", "dive(0)"])
async def test_the_frames_of_a_refusal_do_not_lead_to_what_refuses(bench, how):
    outcome = await bench.do(f"{FRAMES}\nreturn {how}")
    assert "root" not in str(outcome.value)
    assert "may not read /etc/passwd" in outcome.crash or "could not be judged" in outcome.crash


async def test_what_was_tried_cannot_be_unsaid(bench):
    body = "import sys\ntry:\n    open('/etc/passwd')\nexcept OSError:\n    pass\n"
    body += "told = []\nsys.audit('hermes.refused', told)\ntold.clear()\nframe = sys._getframe()\n"
    body += "while frame:\n    [v.clear() for v in list(frame.f_locals.values()) if isinstance(v, list)]\n    frame = frame.f_back\nreturn 1"  # noqa: E501
    assert (await bench.do(body)).refused == ["read /etc/passwd"]


async def test_a_path_that_changes_its_mind_opens_nothing(bench):
    outcome = await bench.do(
        "import os, io\n"
        "class P:\n"
        "    said = 0\n"
        "    def __fspath__(self):\n"
        "        self.said += 1\n"
        "        return os.environ['HOME'] + '/x' if self.said == 1 else '/etc/passwd'\n"
        "open(os.environ['HOME'] + '/x', 'w').write('mine')\n"
        "found = []\n"
        "for way in (open, io.FileIO, lambda p: os.fdopen(os.open(p, os.O_RDONLY))):\n"
        "    try:\n"
        "        found.append(str(way(P()).read()))\n"
        "    except OSError as error:\n"
        "        found.append(type(error).__name__)\n"
        "return found"
    )
    assert "root:" not in str(outcome.value), outcome
    assert outcome.value, outcome


async def test_links_that_lead_out_are_followed_before_they_are_judged(bench):
    (bench.work / "out").symlink_to("/etc")
    (bench.work / "loop").symlink_to("loop")
    may = {"reads": (".",), "writes": (".",)}
    for body in (
        "return open('out/passwd').read()",
        "import os\nreturn os.listdir('out')",
        "return open('out/x', 'w')",
    ):
        outcome = await bench.do(body, **may)
        assert "/etc" in outcome.crash, outcome
        assert "may not" in outcome.crash
    made = "import os\nos.symlink('/etc/passwd', 'mine')\nreturn open('mine').read()"
    assert "may not read /etc/passwd" in (await bench.do(made, **may)).crash
    looped = await bench.do("return open('loop').read()", **may)
    assert looped.crash


async def test_a_folder_that_is_open_is_no_way_round(bench):
    (bench.work / "in").mkdir()
    (bench.work / "in" / "up").symlink_to("/etc")
    body = "import os\nfd = os.open('in', os.O_RDONLY)\n"
    may = {"reads": (".",), "writes": (".",)}
    removed = await bench.do(f"{body}os.remove('../../outside', dir_fd=fd)", **may)
    assert "may not change" in removed.crash, removed
    renamed = await bench.do(f"{body}os.rename('up', '../../x', src_dir_fd=fd, dst_dir_fd=fd)", **may)
    assert "may not change" in renamed.crash, renamed


async def test_what_was_declared_works(bench):
    (bench.work / "there").write_text("hello")
    assert (await bench.do("return open('there').read()", reads=(".",))).value == "hello"
    wrote = await bench.do(
        "import os\nos.makedirs('a/b')\nopen('a/b/c', 'w').write('x')\nreturn os.listdir('a/b')", writes=(".",)
    )
    assert wrote.value == ["c"]
    assert "may not change" in (await bench.do("open('there', 'w')", reads=(".",))).crash
    echo = "import subprocess\nreturn subprocess.run(['echo', 'hi'], capture_output=True, text=True).stdout"
    assert (await bench.do(echo, programs=("echo",))).value == "hi\n"
    other = "import subprocess\nreturn subprocess.run(['id'], capture_output=True, text=True).stdout"
    assert "may not start id" in (await bench.do(other, programs=("echo",))).crash
    shell = "import subprocess\nreturn subprocess.run('id', shell=True, capture_output=True).returncode"
    assert "may not start /bin/sh" in (await bench.do(shell, programs=("echo",))).crash


async def test_it_has_a_folder_of_its_own_that_is_gone_afterwards(bench):
    body = (
        "import os, tempfile\n"
        "with tempfile.TemporaryDirectory() as place:\n"
        "    os.makedirs(place + '/deep/er')\n"
        "    open(place + '/deep/er/x', 'w').write('1')\n"
        "open(os.path.expanduser('~/left'), 'w').write('2')\n"
        "return os.path.expanduser('~')"
    )
    outcome = await bench.do(body)
    assert "hermes-tool-" in outcome.value, outcome
    assert not Path(outcome.value).exists()


async def test_its_environment_is_empty(bench, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    monkeypatch.setenv("HARMLESS", "canary")
    outcome = await bench.do("import os\nreturn dict(os.environ)")
    assert "canary" not in str(outcome.value)
    assert set(outcome.value) <= {"HOME", "TMPDIR", "LANG", "LC_CTYPE", "HERMES_RUN"}


class Page:
    """A server on this machine, that says hello to whoever asks."""

    def __init__(self) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port, self.seen = self.socket.getsockname()[1], 0
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                one, _ = self.socket.accept()
            except OSError:
                return
            self.seen += 1
            with one:
                one.recv(4096)
                one.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello")


@pytest.fixture
def page():
    made = Page()
    yield made
    made.socket.close()


async def test_only_declared_hosts_are_reached(bench, page):
    get = f"import urllib.request\nreturn urllib.request.urlopen('http://HOST:{page.port}/', timeout=5).read().decode()"
    for host in ("127.0.0.1", "localhost"):
        good = await bench.do(get.replace("HOST", host), hosts=(host,))
        assert good.value == "hello", good
    for host, declared in (("127.0.0.1", "example.org"), ("127.1", "127.0.0.1"), ("localhost", "example.org")):
        closed = await bench.do(get.replace("HOST", host), hosts=(declared,))
        assert closed.crash, closed
    assert any("reach the host localhost" in one for one in closed.refused)
    own = f"import socket\nsocket.create_connection(('127.0.0.1', {page.port}), 5)"
    assert "may not connect" in (await bench.do(own, hosts=("127.0.0.1",))).crash  # there is one way out
    udp = f"import socket\nsocket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', {page.port}))"
    assert (await bench.do(udp, hosts=("example.org",))).crash
    unix = "import socket\nsocket.socket(socket.AF_UNIX).connect('/run/docker.sock')"
    assert "may not connect" in (await bench.do(unix, hosts=("example.org",))).crash
    bound = "import socket\nsocket.socket().bind(('127.0.0.1', 0))"
    assert "may not use socket.bind" in (await bench.do(bound, hosts=("127.0.0.1",))).crash
    assert page.seen == 2


async def test_a_declared_name_that_turns_out_to_be_this_machine_is_refused(bench, page):
    body = f"import urllib.request\nurllib.request.urlopen('http://{socket.gethostname()}:{page.port}/', timeout=5)"
    outcome = await bench.do(body, hosts=(socket.gethostname().lower(),))
    assert outcome.crash
    assert page.seen == 0


BROKEN = {
    "an exception": ("return 1 / 0", "ZeroDivisionError: division by zero (line 2)"),
    "an end": ("import os\nos._exit(7)", "ended with status 7, without a result"),
    "a quiet end": ("import os\nos._exit(0)", "ended with status 0, without a result"),
    "sys.exit": ("import sys\nsys.exit(0)", "sys.exit(0)"),
    "a crash of the interpreter": ("import faulthandler\nfaulthandler._sigsegv()", "ended by SIGSEGV"),
    "an abort": ("import os\nos.abort()", "ended by SIGABRT"),
    "no end": ("while True: pass", "did not end within 0.5 s"),
    "a nap": ("import time\ntime.sleep(60)", "did not end within 0.5 s"),
    "a nap that ignores signals": ("import signal, time\nsignal.signal(15, signal.SIG_IGN)\ntime.sleep(60)", "did not end"),  # noqa: E501
    "all memory": ("x = bytearray(10**11)", "used up its memory"),
    "memory piece by piece": ("x = []\nwhile True: x.append(bytearray(10**7))", "used up its memory"),
    "a flood": ("while True: print('x' * 100_000)", "printed more than 4 MB"),
    "a flood below Python": ("import os\nwhile True: os.write(2, b'x' * 100_000)", "printed more than 4 MB"),
    "a bomb": ("return 'x' * 10**7", "larger than 1 MB"),
    "a zip bomb": ("import zlib\nreturn zlib.decompress(zlib.compress(b'0' * 10**7)).decode()", "larger than 1 MB"),
    "a huge file": ("f = open(__import__('os').environ['HOME'] + '/x', 'wb')\nwhile True: f.write(bytes(10**7))", "File too large"),  # noqa: E501
    "an object": ("return object()", "is no JSON"),
    "bytes": ("return b'x'", "is no JSON"),
    "a set": ("return {1, 2}", "is no JSON"),
    "a number that is none": ("return float('nan')", "is no JSON"),
    "a circle": ("x = []\nx.append(x)\nreturn x", "is no JSON"),
    "depth": ("x = []\nfor _ in range(100_000): x = [x]\nreturn x", "is no JSON"),
    "a huge number": ("return 10**5000", "is no JSON"),
    "garbage where the result goes": ("import os\nos.write(3, b'{]')\nos._exit(0)", "said something that is no result"),
    "two results": ("import os\nos.write(3, b'{\"result\": 1, \"refused\": []}\\n')\nreturn 2", "no result"),
    "a broken module": ("raise SystemError('x')", "SystemError"),
    "an interrupt": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "many files": ("x = [open('/dev/null') for _ in range(10_000)]", "Too many open files"),
}  # fmt: skip


@pytest.mark.parametrize("what", BROKEN)
@pytest.mark.few(6)
async def test_whatever_breaks_is_an_answer(make_bench, what):
    body, said = BROKEN[what]
    bench = make_bench(memory_mb=200)
    outcome = await bench.do(body, seconds=0.5 if "did not end" in said else 20)
    assert said in outcome.crash, outcome
    assert not outcome.error


async def test_a_printed_result_is_no_result(bench):
    body = (
        "import os, sys\n"
        "for fd in (1, 2):\n"
        '    os.write(fd, b\'\\n0123456789abcdef0123456789abcdef {"how": "exit", "status": 0, "said": "{}"}\\n\')\n'
        'print(\'{"result": "forged"}\', flush=True)\n'
        "return 'true'"
    )
    outcome = await bench.do(body)
    assert outcome.value == "true"
    assert "forged" in outcome.printed


async def test_what_it_prints_is_told_beside_its_result(bench):
    outcome = await bench.do("print('on the way')\nreturn 1")
    assert (outcome.value, outcome.printed) == (1, "on the way")


async def test_odd_values_come_through(bench):
    given = {"value": ["\ud800", "\0", "é", "𝒳", 10**30, -0.5, None, True, {"": []}]}
    assert (await bench.do("return value", "value", call=given)).value == given["value"]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.parametrize("how", ["result", "crash", "hang", "flood", "cancel"])
@pytest.mark.few(2)
async def test_nothing_it_started_outlives_its_call(bench, how):
    marker = f"hermes{uuid4().hex}"
    script = f"trap '' TERM HUP; (setsid sh -c \"trap '' TERM; sleep 600 # {marker}\" &) ; sleep 600 # {marker}"
    body = (
        "import subprocess, time\n"
        f"script = {script!r}\n"
        "for _ in range(3):\n"
        "    subprocess.Popen(['sh', '-c', script], start_new_session=True)\n"
        "time.sleep(0.3)\n"
    )
    body += {"result": "return 1", "crash": "1 / 0", "flood": "while True: print('x' * 10**6)"}.get(
        how, "time.sleep(60)"
    )
    call = asyncio.ensure_future(bench.do(body, programs=("sh",), seconds=1 if how == "hang" else 10))
    if how == "cancel":
        while not running(marker) and not call.done():
            await asyncio.sleep(0.02)
        call.cancel()
        await asyncio.wait([call])
    else:
        outcome = await call
        assert (outcome.value == 1) == (how == "result"), outcome
    for _ in range(100):
        if not running(marker):
            break
        await asyncio.sleep(0.05)
    assert running(marker) == []


async def test_a_place_without_python_is_told(bench, monkeypatch):
    from hermes_tool_workshop import calls

    bench.workspace.features = frozenset()
    monkeypatch.setattr(calls, "_PROBE", "print('this is', 'no answer')")
    with pytest.raises(ToolError, match=r"need Python 3\.8 or newer where commands run"):
        await bench.do("return 1")


async def test_it_runs_without_the_packages_of_hermes(bench):
    assert "No module named 'attrs'" in (await bench.do("import attrs")).crash
    found = await bench.do("import attrs\nreturn attrs.__name__", packages=("attrs",))
    assert found.value == "attrs", found
    assert "may not import hermes_core" in (await bench.do("import hermes_core", packages=("attrs",))).crash


async def test_a_virtual_environment_is_found_through_every_link_to_its_python(bench, monkeypatch, tmp_path):
    """As uv makes one with a Python that it found by a link, ``~/.local/bin/python3`` for example."""
    environment, elsewhere = tmp_path / "environment", tmp_path / "elsewhere"
    for folder in (environment / "bin", elsewhere):
        folder.mkdir(parents=True)
    (environment / "pyvenv.cfg").write_text(f"home = {elsewhere}\n")
    (elsewhere / "python3").symlink_to(os.path.realpath(sys.executable))
    (environment / "bin" / "python3").symlink_to(os.path.relpath(elsewhere / "python3", environment / "bin"))
    monkeypatch.setattr(sys, "executable", str(environment / "bin" / "python3"))
    monkeypatch.setattr(sys, "prefix", str(environment))
    found = await bench.do("import sys\nreturn sys.prefix", packages=("attrs",))
    assert found.value == str(environment), found
