"""What ends with what."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap

import pytest
from processes import running

from hermes_backend_wall.plan import Plan
from hermes_backend_wall.walled import Walled
from hermes_core.errors import ToolError
from hermes_core.types import ExecRequest

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]


async def there(word):
    """Whether it comes to run: who starts it in the background does not wait until it has begun."""
    for _ in range(500):
        if running(word, whole=True):
            return True
        await asyncio.sleep(0.02)
    return False


async def gone(word):
    for _ in range(500):
        if not running(word, whole=True):
            return True
        await asyncio.sleep(0.02)
    return False


async def test_what_was_daemonised_ends_with_the_workspace(here, bash):
    word = f"8{os.getpid()}.25"
    await bash(f"(setsid env -i /bin/sleep {word} >/dev/null 2>&1 &) ; true")
    assert await there(word)
    await here.close()
    assert await gone(word)


async def test_a_time_out_ends_all_that_was_started(here):
    word = f"7{os.getpid()}.25"
    result = await here.run(ExecRequest(argv=("bash", "-c", f"(setsid sleep {word} &); sleep 100"), seconds=1.0))
    assert result.status == 124
    assert await gone(word)


async def test_one_in_which_nothing_runs_ends_and_comes_again(here, bash, monkeypatch):
    monkeypatch.setattr("hermes_backend_wall.walled._IDLE", 0.3)
    word, walled = f"9{os.getpid()}.25", here._walled
    await bash(f"export KEPT=1; echo a > $TMPDIR/kept; cd /; sleep {word} >/dev/null 2>&1 & echo $! > $TMPDIR/number")
    first = walled._sandbox
    await asyncio.sleep(1.0)
    assert walled._sandbox is first  # something lives in it
    await bash("kill $(cat $TMPDIR/number)")
    async with asyncio.timeout(20):
        while walled._sandbox is not None:
            await asyncio.sleep(0.05)
    assert not first.alive
    assert await bash("echo $KEPT; cat $TMPDIR/kept; pwd") == (0, "1\na\n/\n")
    assert walled._sandbox is not first


async def test_all_ends_when_hermes_is_killed(kind, folder, tmp_path):
    word = f"6{os.getpid()}.{len(kind)}"  # its own per wall: what one test leaves is not seen by the next
    script = f"""
        import asyncio
        from pathlib import Path
        from hermes_backend_local.workspace import Here
        from hermes_backend_wall.plan import Plan
        from hermes_backend_wall.walled import Walled
        from hermes_core.types import ExecRequest
        async def main():
            plan = Plan(kind={kind!r}, homes=Path({str(tmp_path / "homes")!r}))
            place = Here({str(folder)!r}, walled=Walled({str(folder)!r}, plan))
            await place.start(ExecRequest(argv=("bash", "-c", "setsid sleep {word} & sleep {word}")))
            print((await place.run(ExecRequest(argv=("echo", "up")))).output.decode(), flush=True)
            await asyncio.sleep(100)
        asyncio.run(main())
    """
    hermes = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE)  # noqa: ASYNC220
    try:
        assert (await asyncio.to_thread(hermes.stdout.readline)) == b"up\n"
        assert await there(word)
    finally:
        hermes.send_signal(signal.SIGKILL)
        hermes.wait()
    assert await gone(word)


@pytest.mark.parametrize("kind", ["landlock"], indirect=True)  # process 1 of a namespace cannot be ended from inside
async def test_the_next_command_gets_a_new_wall_when_one_ended_its_own(here, bash):
    with pytest.raises(ToolError, match="ended while the command ran"):
        await bash("kill -9 $PPID; sleep 5")
    assert await bash("echo again; cat /etc/shadow 2>/dev/null") == (1, "again\n")


async def test_a_fork_bomb_is_bounded(folder, plan):
    from attrs import evolve

    from hermes_backend_local.workspace import Here
    from hermes_backend_wall.limits import Limits

    place = Here(str(folder), walled=Walled(str(folder), evolve(plan, limits=Limits(processes=60))))
    word = f"bomb-{os.getpid()}"
    try:
        bomb = asyncio.create_task(
            place.run(ExecRequest(argv=("bash", "-c", "b() { b | b & }; b; sleep 30", word), seconds=3.0))
        )
        most = 0
        while not bomb.done():
            most = max(most, len(running(word, whole=True)))
            await asyncio.sleep(0.02)
        await asyncio.gather(bomb, return_exceptions=True)
        assert 0 < most < 200
        assert (await place.run(ExecRequest(argv=("echo", "fine")))).output == b"fine\n"
    finally:
        await place.close()
    assert await gone(word)


async def test_a_wide_folder_is_no_place_for_commands(person, plan):
    """`cd ~ && hermes` deleted what was there."""
    from hermes_backend_local.workspace import Here

    place = Here(str(person), walled=Walled(str(person), plan))
    with pytest.raises(ToolError, match="too wide"):
        await place.run(ExecRequest(argv=("bash", "-c", "rm -rf ~/Documents")))
    assert (person / "Documents/letter.txt").exists()
    await place.close()


async def test_hermes_keeps_its_environment_to_itself(kind, folder, tmp_path):
    script = f"""
        import asyncio, os
        from pathlib import Path
        from hermes_backend_local.workspace import Here
        from hermes_backend_wall.plan import Plan
        from hermes_backend_wall.walled import Walled
        from hermes_core.types import ExecRequest
        async def main():
            plan = Plan(kind={kind!r}, homes=Path({str(tmp_path / "homes")!r}))
            place = Here({str(folder)!r}, walled=Walled({str(folder)!r}, plan))
            look = f"cat /proc/*/environ /proc/{{os.getpid()}}/environ 2>/dev/null | grep -a PLANTED"
            print((await place.run(ExecRequest(argv=("bash", "-c", look)))).status)
            await place.close()
        asyncio.run(main())
    """
    env = {**os.environ, "PLANTED_API_KEY": "planted"}
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], env=env, capture_output=True, check=False)  # noqa: ASYNC221
    assert done.stdout == b"1\n", done.stderr


async def test_a_wall_that_was_chosen_and_cannot_be_made_runs_nothing(folder, tmp_path, monkeypatch, person):
    from hermes_backend_local.workspace import Here

    monkeypatch.setenv("PATH", str(tmp_path))
    place = Here(str(folder), walled=Walled(str(folder), Plan(kind="bubblewrap", homes=tmp_path / "homes")))
    with pytest.raises(ToolError, match="bwrap"):
        await place.run(ExecRequest(argv=("/bin/echo", "x")))
    await place.close()


async def test_folders_that_may_be_read_may_be_watched(here):
    """Tools that build anew with each change do; and a thread is put on a processor by its number."""
    code = (
        "import ctypes, os, threading\nlibc = ctypes.CDLL(None)\nf = libc.inotify_init1(0)\nos.mkdir('d')\n"
        "print([libc.inotify_add_watch(f, p, 0x100) for p in (b'd', b'/usr/lib', b'.')])\n"
        "open('d/x', 'w'); data = os.read(f, 100); print(data[16:17])\n"
        "def work(): os.sched_setaffinity(threading.get_native_id(), {min(os.sched_getaffinity(0))}); print('set')\n"
        "t = threading.Thread(target=work); t.start(); t.join()\nos.setpriority(os.PRIO_PROCESS, os.getpid(), 19)\n"
        "print(os.getpriority(os.PRIO_PROCESS, 0))"
    )
    result = await here.run(ExecRequest(argv=("/usr/bin/python3", "-c", code)))
    assert result.output.decode() == "[1, 2, 3]\nb'x'\nset\n19\n"


async def test_a_word_that_no_system_can_take_ends_nothing_else(here, bash):
    """Half of a sign, as a model may write it: the launcher gave up, and with it all that ran."""
    process = await here.start(ExecRequest(argv=("sleep", "60")))
    for words in ({"argv": ("echo", "\ud800")}, {"argv": ("env",), "env": {"A=B\ud800": "x"}}):
        with pytest.raises(ToolError, match="Cannot run"):
            await here.run(ExecRequest(**words))
    with pytest.raises(ToolError, match="Cannot run"):
        await here.run(ExecRequest(argv=("true",), cwd="/" + "\u4e00" * 1200))
    assert await process.poll() is None
    await process.kill()


async def test_a_wall_that_is_not_there_in_time_says_that_and_no_other_reason(here, monkeypatch):
    monkeypatch.setattr("hermes_backend_wall.sandbox.START", 0.0)
    with pytest.raises(ToolError, match=r"did not stand within 0 seconds: this machine is very busy") as caught:
        await here.run(ExecRequest(argv=("true",)))
    assert caught.value.hint == "Run it again when less is going on."
    monkeypatch.undo()
    assert (await here.run(ExecRequest(argv=("true",)))).status == 0


async def test_a_sandbox_that_is_closed_again_ends_nobody_elses_processes(folder, plan, monkeypatch):
    """Once it is buried its number may be that of another's sandbox."""
    walled = Walled(str(folder), plan)
    sandbox = await walled.sandbox()
    await sandbox.close()
    killed = []
    monkeypatch.setattr(os, "killpg", lambda *words: killed.append(words))
    await sandbox.close()
    await walled.close()
    assert not killed


async def test_a_sandbox_that_is_full_of_processes_goes_on(folder, plan, kind):
    """Who asks for a connection then was answered by nobody: what stands guard outside ended, and all with it."""
    from attrs import evolve

    from hermes_backend_local.workspace import Here
    from hermes_backend_wall.limits import Limits

    place = Here(str(folder), walled=Walled(str(folder), evolve(plan, limits=Limits(processes=16))))
    code = (
        "import os, socket, time\n"
        "try:\n    for _ in range(60):\n        os.fork() or (time.sleep(60), os._exit(0))\n"
        "except OSError: pass\n"
        "try: socket.create_connection(('127.0.0.1', 9), 3)\nexcept OSError: print('still here', flush=True)\n"
    )
    try:
        result = await place.run(ExecRequest(argv=("/usr/bin/python3", "-c", code), seconds=20.0))
        assert b"still here" in result.output
        assert (await place.run(ExecRequest(argv=("true",)))).status == 0
    finally:
        await place.close()
