"""What lasts over there from one command to the next, and what runs on in the background."""

import asyncio
from pathlib import Path

import pytest

from hermes_backend_ssh.workspace import BESIDE, Ssh
from hermes_core.environment import MARK
from hermes_core.errors import ToolError
from hermes_core.types import ExecRequest, Feature

pytestmark = pytest.mark.real


@pytest.fixture
async def place(server, tmp_path):
    opened = await Ssh(server).open(str(tmp_path))
    yield opened
    await opened.close()


async def bash(place, script, **more):
    return (await place.run(ExecRequest(argv=("bash", "-c", script), **more))).output.decode()


def marked(mark):
    found = []
    for one in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (one / "environ").read_bytes().split(b"\0"):
                found.append(one.name)
        except OSError:
            continue
    return found


async def test_folder_and_exports_last(place):
    assert Feature.PERSISTENT_SHELL in place.features
    await bash(place, "cd /usr; export COLOR='a \"b\"\n$c'; LOCAL=1")
    assert place.shell_cwd == "/usr"
    assert await bash(place, 'printf "%s|%s|%s" "$PWD" "$COLOR" "$LOCAL"') == '/usr|a "b"\n$c|'


async def test_what_was_removed_stays_removed(place):
    assert await bash(place, "echo ${SHELL:+there}") == "there\n"
    await bash(place, "unset SHELL")
    assert await bash(place, "echo ${SHELL:-gone}") == "gone\n"


async def test_a_broken_path_leads_to_bash_all_the_same(place):
    await bash(place, "export PATH=/nowhere")
    said = await bash(place, 'builtin echo "$PATH"; export PATH=/usr/bin:/bin')  # what a profile adds comes before
    assert said.endswith("/nowhere\n")
    assert "\nvar\n" in await bash(place, "ls /")


async def test_a_folder_that_is_gone_is_left(place, tmp_path):
    await bash(place, "mkdir away; cd away")
    (tmp_path / "away").rmdir()
    assert await bash(place, "pwd") == f"{tmp_path}\n"


async def test_nothing_is_left_of_what_carried_it(place):
    before = {*Path("/tmp").glob(".hermes-*")}
    await bash(place, "export A=1; cd /")
    await place.run(ExecRequest(argv=("bash", "-c", "sleep 60"), seconds=3.0))
    assert {*Path("/tmp").glob(".hermes-*")} <= before


async def test_commands_beside_each_other_do_not_undo_each_other(place):
    await asyncio.gather(*(bash(place, f"sleep 0.{number}; export N{number}={number}") for number in range(4)))
    assert await bash(place, 'echo "$N0$N1$N2$N3"') == "0123\n"


async def test_the_background_begins_where_the_shell_is_and_takes_input(place):
    await bash(place, "cd /usr; export A=5")
    heard = bytearray()
    request = ExecRequest(argv=("bash", "-c", 'echo "$PWD $A"; cat; exit 3'), on_output=heard.extend)
    process = await place.start(request)
    assert place.busy
    await process.write(b"typed\n")
    async with asyncio.timeout(20):
        while b"typed" not in heard:
            await asyncio.sleep(0.02)
    assert heard == b"/usr 5\ntyped\n"
    await process.kill()
    assert await process.poll() is not None
    assert not marked(request.env[MARK])
    with pytest.raises(ToolError, match="no more input"):
        await process.write(b"x")
    assert not place.busy


async def test_no_more_run_beside_each_other_than_the_connection_carries(place):
    for _ in range(BESIDE):
        await place.start(ExecRequest(argv=("sleep", "60")))
    with pytest.raises(ToolError, match="background"):
        await place.start(ExecRequest(argv=("sleep", "60")))
    said = await asyncio.gather(*(bash(place, "echo yes") for _ in range(8)))
    assert said == ["yes\n"] * 8


async def test_a_folder_that_is_not_there_is_told_at_once(place):
    with pytest.raises(ToolError, match="no folder"):
        await place.start(ExecRequest(argv=("sleep", "60"), cwd="nowhere"))
