"""How long things live: state, background commands, sandboxes, and none longer than Hermes."""

# ruff: noqa: ASYNC220, ASYNC221 - what happens on this machine is waited for by looking at it

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from processes import running

from hermes_backend_bubblewrap.backend import Bubblewrap
from hermes_backend_bubblewrap.checks import findings
from hermes_backend_bubblewrap.config import Config
from hermes_backend_wall import bwrap
from hermes_core.errors import ToolError, UserError
from hermes_core.types import Feature

pytestmark = pytest.mark.real


async def seen(word, *, there):
    for _ in range(500):
        if bool(running(word)) == there:
            return True
        await asyncio.sleep(0.02)
    return False


async def gone(word):
    return await seen(word, there=False)


async def test_folder_and_variables_last(box):
    await box.bash("mkdir sub; cd sub; export A='a\nb' B=''; unset LANG")
    assert (await box.bash('printf "%s|%s|%s" "$PWD" "$A" "${B-unset}"')).output == f"{box.folder}/sub|a\nb|".encode()
    assert box.workspace.shell_cwd == f"{box.folder}/sub"
    await box.bash("rmdir ../sub")
    assert (await box.bash("pwd")).output == f"{box.folder}\n".encode()


async def test_a_state_that_is_too_large_or_false_is_not_taken_over(box):
    await box.bash("export HUGE=$(head -c 100000 /dev/zero | tr '\\0' x)$(true)")
    result = await box.bash(
        "trap - EXIT; printf 'no path\\0declare -x X=\"1\"\\n\\0=' >&100; head -c 3000000 /dev/zero >&100; exec true"
    )
    assert result.status == 0
    assert (await box.bash("pwd; echo $X")).output == f"{box.folder}\n\n".encode()


async def test_what_was_daemonised_dies_with_the_workspace(make):
    box = await make()
    word = f"8{os.getpid()}.125"
    await box.bash(f"(setsid env -i sleep {word} >/dev/null 2>&1 &) ; true")
    assert await seen(word, there=True)  # who starts it in the background does not wait until it has begun
    await box.workspace.close()
    assert await gone(word)


async def test_a_time_out_ends_even_what_hides(box):
    word = f"7{os.getpid()}.125"
    script = f"sleep {word} & setsid sleep {word} & (setsid sh -c 'sleep {word}; :' &); wait"
    assert (await box.bash(script, seconds=1.0)).status == 124
    assert await gone(word)


async def test_a_sandbox_that_was_killed_is_made_again(box):
    running = asyncio.create_task(box.bash("echo here; sleep 60"))
    while not (box.workspace._sandbox and box.workspace._sandbox.alive):
        await asyncio.sleep(0.01)
    await box.bash("true")
    os.killpg(box.workspace._sandbox._popen.pid, signal.SIGKILL)
    with pytest.raises(ToolError, match="sandbox ended"):
        await running
    assert (await box.bash("echo again")).output == b"again\n"


KILLED = """
import asyncio, os, sys
from pathlib import Path
from hermes_backend_bubblewrap.backend import Bubblewrap
from hermes_backend_bubblewrap.config import Config
from hermes_core.types import ExecRequest

async def main():
    workspace = await Bubblewrap(Config(), Path(sys.argv[1]) / "home").open(sys.argv[1])
    script = f"(setsid sleep {sys.argv[2]} &); nohup sleep {sys.argv[2]} & echo started; wait"
    process = await workspace.start(ExecRequest(argv=("bash", "-c", script)))
    while b"started" not in await process.read():
        await asyncio.sleep(0.01)
    print("started", flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


async def test_a_hermes_that_is_killed_leaves_no_process(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    word = f"9{os.getpid()}.125"
    folder = tmp_path / "work"
    folder.mkdir()
    hermes = subprocess.Popen([sys.executable, "-c", KILLED, folder, word], stdout=subprocess.PIPE)
    try:
        assert await asyncio.to_thread(hermes.stdout.readline) == b"started\n"
        assert running(word)
    finally:
        hermes.kill()
        hermes.wait()
        hermes.stdout.close()
    assert await gone(word)
    assert await gone(str(folder))


ORDINARY = '''
import asyncio, os, sys
os.setgroups([]); os.setgid(65534); os.setuid(65534); os.umask(0o022)
sys.path[:0] = sys.argv[3:]
from pathlib import Path
from hermes_backend_bubblewrap.backend import Bubblewrap
from hermes_backend_bubblewrap.config import Config
from hermes_core.types import ExecRequest

BOMB = """import os, time
n = 0
try:
    while n < 200 and (os.fork() or os._exit(time.sleep(5) or 0)):
        n += 1
except OSError:
    print("bounded" if n < 40 else n)"""

async def main():
    os.environ["HOME"] = sys.argv[2]
    backend = Bubblewrap(Config(processes=40, tmp_mb=8), Path(sys.argv[2]) / ".hermes")
    print(await backend.ready())
    workspace = await backend.open(sys.argv[1])
    async def sh(script, seconds=20.0):
        try:
            result = await workspace.run(ExecRequest(argv=("bash", "-c", script), seconds=seconds))
        except Exception as error:
            return str(error)
        return result.output.decode(errors="replace").strip()
    print(await sh("id -u"))
    print(await sh("cat /proc/self/status | grep CapEff"))
    print(await sh("cat ~/.ssh/key /etc/shadow 2>/dev/null; ls -A ~; echo x >file; cat file"))
    await workspace.write("made", b"inside")
    print((await workspace.read("made")).decode())
    print(await sh("python3 -c '" + BOMB + "'"))
    print(await sh("b() { b | b & }; b 2>/dev/null; sleep 30", 2.0) is not None)
    print(await sh("echo usable"))
    await workspace.close()

asyncio.run(main())
'''


async def test_an_ordinary_user_has_the_same_walls(tmp_path_factory):
    """As nobody, with the system's Python where this one lies in a folder that is closed to others."""
    if os.getuid() != 0:
        pytest.skip("does not claim to change users: not root, so every other test here ran as an ordinary user")
    import attr

    import hermes_backend_bubblewrap
    import hermes_backend_kit
    import hermes_backend_wall
    import hermes_core

    base = Path(f"/var/tmp/hermes-ordinary-{os.getpid()}")
    try:
        for name in ("work", "person/.ssh", "lib"):
            (base / name).mkdir(parents=True)
        (base / "person/.ssh/key").write_text("PRIVATE-4c1f9")
        for module in (hermes_core, hermes_backend_bubblewrap, hermes_backend_kit, hermes_backend_wall, attr):
            subprocess.run(["cp", "-r", Path(module.__file__).parent, base / "lib"], check=True)
        subprocess.run(["cp", "-r", Path(attr.__file__).parent.with_name("attrs"), base / "lib"], check=True)
        for name in ("pluggy", "click", "cattrs", "hermes_autorun", "hermes_shapes"):
            spec = __import__(name).__file__
            subprocess.run(["cp", "-r", Path(spec).parent, base / "lib"], check=True)
        subprocess.run(["chown", "-R", "65534:65534", base], check=True)
        program = "/usr/bin/python3"
        result = subprocess.run(
            [program, "-B", "-c", textwrap.dedent(ORDINARY), base / "work", base / "person", base / "lib"],
            capture_output=True,
            text=True,
            timeout=120,
            cwd="/",
            check=False,
        )
        assert result.stdout.splitlines() == [
            *("True", "65534", "CapEff:\t0000000000000000", "x", "inside", "bounded", "True", "usable"),
        ], result.stderr[-2000:]
    finally:
        subprocess.run(["rm", "-rf", base], check=True)


async def test_doctor_says_what_holds(tmp_path):
    found = await findings(Config(), tmp_path / "home")
    assert (found[0].level, "sandbox can be made" in found[0].text) == ("ok", True)
    shared = await findings(Config(network=True), tmp_path / "home")
    assert any("network is on" in finding.text for finding in shared)


async def test_folders_that_are_not_one_project_are_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    home = tmp_path / "person" / ".hermes"
    home.mkdir(parents=True)
    backend = Bubblewrap(Config(), home)
    (tmp_path / "link").symlink_to(tmp_path / "person")
    for key in ("/", "/etc", "/tmp", str(tmp_path), str(tmp_path / "person"), str(home), str(tmp_path / "link")):
        with pytest.raises(UserError):
            await backend.open(key)
    with pytest.raises(UserError, match="does not exist"):
        await backend.open(str(tmp_path / "gone"))


async def test_what_is_listed_and_not_there_is_told(make):
    with pytest.raises(UserError, match=r"backends.bubblewrap.readable: ~/gone does not exist"):
        await make(readable=["~/gone"])


async def test_features_follow_the_network(tmp_path):
    assert Feature.ISOLATED in Bubblewrap(Config(), tmp_path).features
    assert Feature.ISOLATED not in Bubblewrap(Config(network=True), tmp_path).features


async def test_a_missing_program_is_told_with_its_mend(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="apt install bubblewrap"):
        await Bubblewrap(Config(), tmp_path / "home").open(str(tmp_path))
    assert await Bubblewrap(Config(), tmp_path / "home").ready() is False


@pytest.mark.parametrize(
    ("settings", "said", "words"),
    [
        (
            {"kernel/apparmor_restrict_unprivileged_userns": "1"},
            "bwrap: setting up uid map: Permission denied",
            "AppArmor",
        ),
        (
            {"user/max_user_namespaces": "0"},
            "bwrap: Creating new namespace failed: No space left",
            "max_user_namespaces",
        ),
        ({"kernel/unprivileged_userns_clone": "0"}, "bwrap: No permissions to create a new namespace", "userns_clone"),
        ({}, "bwrap: No permissions to create new namespace", "container"),
        ({}, "bwrap: Can't find source path /nope", "/nope"),
    ],
)
def test_a_system_that_forbids_sandboxes_is_told_with_its_mend(tmp_path, monkeypatch, settings, said, words):
    for name, value in settings.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(value)
    monkeypatch.setattr(bwrap, "_SYSCTL", f"{tmp_path}/")
    problem = bwrap.explain(bwrap.program(), said, "doctor says more")
    assert words in f"{problem.text} {problem.hint}"
    assert problem.hint


async def test_commands_run_side_by_side(box):
    results = await asyncio.gather(*(box.bash(f"sleep 0.05; echo {n}") for n in range(20)))
    assert [r.output for r in results] == [f"{n}\n".encode() for n in range(20)]
