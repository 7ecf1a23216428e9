"""What a determined command tried, to have Hermes or the person do outside what it could not do itself."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import textwrap

import pytest
from processes import running

from hermes_core.errors import ToolError
from hermes_core.types import ExecRequest

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]


def git(folder, *words):
    settings = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
    return subprocess.run(["git", *settings, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


async def test_a_link_for_the_commands_own_settings_of_git_leads_hermes_nowhere(here, bash, folder, plan, person):
    """Hermes writes them anew with each session, and wrote where the link led."""
    from hermes_backend_local.workspace import Here
    from hermes_backend_wall.walled import Walled

    await bash(f"rm -f ~/.gitconfig; ln -s {person}/Documents/letter.txt ~/.gitconfig")
    await here.close()
    again = Here(str(folder), walled=Walled(str(folder), plan))
    await again.run(ExecRequest(argv=("true",)))
    await again.close()
    assert (person / "Documents/letter.txt").read_text() == "PRIVATE-4c1f9"


async def test_a_link_in_the_commands_own_home_leads_hermes_nowhere(here, bash, folder, plan, person):
    from hermes_backend_local.workspace import Here
    from hermes_backend_wall.walled import Walled

    (person / "Documents/project").mkdir()
    await bash(f"cd ~; rm -rf code; mv code was; ln -s {person}/Documents code; true")
    await here.close()
    again = Here(str(folder), walled=Walled(str(folder), plan))
    await again.run(ExecRequest(argv=("true",)))
    await again.close()
    assert sorted(path.name for path in (person / "Documents").iterdir()) == ["letter.txt", "project"]
    assert not (person / "Documents/project").is_symlink()


@pytest.mark.parametrize("name", [".github", ".forgejo", ".claude", ".vscode"])
async def test_a_link_in_place_of_a_folder_moves_nothing_outside(bash, folder, person, name):
    """What differs from before is put back: where the link led, another project's files were."""
    inner = f"{name}/workflows" if name in (".github", ".forgejo") else name
    other = person / "code/other"
    for project, text in ((folder, "evil"), (other, "theirs")):
        (project / inner).mkdir(parents=True)
        (project / inner / "x.yml").write_text(text)
    await bash(f"mv {name} away && ln -s {other}/{name} {name}")
    assert (other / inner / "x.yml").read_text() == "theirs"
    assert (folder / inner / "x.yml").read_text() == "evil"
    assert not (folder / name).is_symlink()


async def test_what_a_command_left_behind_changes_nothing_for_good(here, bash, folder):
    """Between commands it was taken for the person's own hand."""
    (folder / "AGENTS.md").write_text("mine")
    await bash("(setsid bash -c 'sleep 0.5; echo evil >AGENTS.md; sleep 30' >/dev/null 2>&1 &); true")
    await asyncio.sleep(1.2)
    assert "AGENTS.md" in (await bash("true"))[1]
    assert (folder / "AGENTS.md").read_text() == "mine"
    await here.close()
    assert (folder / "AGENTS.md").read_text() == "mine"


async def test_what_was_left_behind_at_the_end_is_looked_at_too(here, bash, folder):
    (folder / "AGENTS.md").write_text("mine")
    await bash("(setsid bash -c 'sleep 0.5; echo evil >AGENTS.md; sleep 30' >/dev/null 2>&1 &); true")
    await asyncio.sleep(1.2)
    await here.close()
    assert (folder / "AGENTS.md").read_text() == "mine"


async def test_many_files_hide_none(bash, folder):
    (folder / ".vscode").mkdir()
    (folder / ".vscode/tasks.json").write_text("mine")
    await bash("mkdir -p .agents/x; for i in $(seq 4500); do : >.agents/x/$i; done; echo evil >.vscode/tasks.json")
    assert (folder / ".vscode/tasks.json").read_text() == "mine"
    assert not (folder / ".agents/x/7").exists()


async def test_what_a_walled_shell_exports_stays_behind_the_wall(here, bash, folder, tmp_path):
    """A person says yes to `git push`, not to what LD_PRELOAD names."""
    (folder / "bin").mkdir()
    pwned = tmp_path / "pwned"
    await bash(
        f"printf '#!/bin/sh\\ntouch {pwned}\\n' >bin/ls; chmod +x bin/ls; echo 'touch {pwned}' >evil.sh; "
        "export PATH=$PWD/bin:$PATH BASH_ENV=$PWD/evil.sh"
    )
    await here.run(ExecRequest(argv=("bash", "-c", "ls"), wall=False))
    assert not pwned.exists()


@pytest.mark.parametrize("first", ["kill -STOP $PPID", "kill -9 $PPID", "true"])
async def test_nothing_outlives_the_workspace(here, bash, first):
    word = f"5{os.getpid()}.{len(first)}"
    with contextlib.suppress(ToolError, TimeoutError):
        await asyncio.wait_for(
            bash(f"(setsid env -i sleep {word} >/dev/null 2>&1 &); sleep 0.3; {first}; sleep 60", seconds=2.0), 20
        )
    await asyncio.wait_for(here.close(), 30)
    for _ in range(100):
        if not running(word, whole=True):
            break
        await asyncio.sleep(0.05)
    left = running(word, whole=True)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left


async def test_a_comet_is_caught(here, bash):
    """Forks and ends, over and over, quicker than one can look."""
    word = f"4{os.getpid()}.75"
    code = (
        "import os\nn = 0\nwhile n < 400000:\n    n += 1\n    if os.fork(): os._exit(0)\n    if n == 1: os.setsid()\n"
    )
    await bash(f"(/usr/bin/python3 -c '{code}' {word} >/dev/null 2>&1 &); sleep 0.5", seconds=5.0)
    await asyncio.wait_for(here.close(), 30)
    await asyncio.sleep(0.3)
    assert not running(word, whole=True)


async def test_what_was_changed_when_hermes_was_killed_is_put_back_at_its_next_start(kind, folder, plan, person):
    """What stood before is on disk; the history that was known then counts, not the one that commands made since."""
    from hermes_backend_local.workspace import Here
    from hermes_backend_wall.walled import Walled

    git(folder, "init")
    (folder / "AGENTS.md").write_text("mine")
    (folder / ".envrc").write_text("mine too")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "one")
    before = (folder / ".git/config").read_bytes()
    script = f"""
        import asyncio
        from pathlib import Path
        from hermes_backend_local.workspace import Here
        from hermes_backend_wall.plan import Plan
        from hermes_backend_wall.walled import Walled
        from hermes_core.types import ExecRequest
        async def main():
            plan = Plan(kind={kind!r}, homes=Path({str(plan.homes)!r}))
            place = Here({str(folder)!r}, walled=Walled({str(folder)!r}, plan))
            await place.run(ExecRequest(argv=("true",)))
            await place.run(ExecRequest(argv=("bash", "-c", '''
                echo evil >AGENTS.md; git config user.name a; git config user.email a@b; git commit -qam evil
                rm .envrc; git config core.fsmonitor "touch pwned"; mkdir .vscode; echo evil >.vscode/tasks.json
                echo done >told; sleep 60''')))
        asyncio.run(main())
    """
    hermes = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)])  # noqa: ASYNC220
    try:
        for _ in range(500):
            if (folder / "told").exists():
                break
            await asyncio.sleep(0.02)
        assert (folder / "AGENTS.md").read_text() == "evil\n"
    finally:
        hermes.kill()
        hermes.wait()
    walled = Walled(str(folder), plan)
    walled.recover()
    assert (folder / "AGENTS.md").read_text() == "mine"
    assert (folder / ".envrc").read_text() == "mine too"
    assert (folder / ".git/config").read_bytes() == before
    assert not (folder / ".vscode/tasks.json").exists()
    place = Here(str(folder), walled=walled)
    said = (await place.run(ExecRequest(argv=("true",)))).output.decode()
    assert "Hermes was ended while commands ran" in said
    assert "AGENTS.md" in said
    assert (await place.run(ExecRequest(argv=("true",)))).output == b""
    await place.close()
    assert not list(plan.homes.glob("*.running-*"))
    (folder / "AGENTS.md").write_text("anew")
    Walled(str(folder), plan).recover()
    assert (folder / "AGENTS.md").read_text() == "anew"


async def test_another_hermes_that_lives_is_left_alone(here, folder, plan):
    from hermes_backend_wall.walled import Walled

    (folder / "AGENTS.md").write_text("mine")
    process = await here.start(ExecRequest(argv=("sleep", "30")))
    (folder / "AGENTS.md").write_text("changed")
    Walled(str(folder), plan).recover()
    assert (folder / "AGENTS.md").read_text() == "changed"
    await process.kill()


async def test_a_file_that_a_command_holds_in_memory_is_read_anew(here, bash, folder):
    """Who has a page of it changes bytes while no time of the file does."""
    (folder / "AGENTS.md").write_text("mine")
    code = (
        "import mmap, os, time\nf = open('AGENTS.md', 'r+b'); m = mmap.mmap(f.fileno(), 0)\nm[0:1] = b'm'\n"
        "open('ready', 'w'); \nwhile not os.path.exists('go'): time.sleep(0.01)\n"
        "m[0:4] = b'evil'; open('done', 'w'); time.sleep(30)\n"
    )
    process = await here.start(ExecRequest(argv=("/usr/bin/python3", "-c", code)))
    await bash("while ! [ -e ready ]; do sleep 0.01; done")
    await bash("touch go; while ! [ -e done ]; do sleep 0.01; done")
    assert (folder / "AGENTS.md").read_text() == "mine"
    await process.kill()


async def test_what_changes_within_the_same_tick_of_the_clock_is_seen(bash, folder):
    await bash("true")
    for _ in range(20):
        (folder / "AGENTS.md").write_text("mine")
        await bash("printf evil >AGENTS.md")
        assert (folder / "AGENTS.md").read_text() == "mine"
