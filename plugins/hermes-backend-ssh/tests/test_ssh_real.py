"""The ssh backend against a real sshd on this machine."""

import asyncio
import os
from pathlib import Path

import pytest
from attrs import evolve

from hermes_backend_ssh.config import Config
from hermes_backend_ssh.workspace import Ssh
from hermes_core.errors import ToolError, UserError
from hermes_core.types import ExecRequest

pytestmark = pytest.mark.real


@pytest.fixture
async def place(server, tmp_path):
    return await Ssh(server).open(str(tmp_path))


async def sh(place, script, **more):
    return await place.run(ExecRequest(argv=("sh", "-c", script), **more))


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def test_a_command_may_end_with_255_itself(place):
    assert (await sh(place, "echo x; exit 255")).status == 255


async def test_every_byte_of_a_large_file_goes_both_ways(place):
    data = bytes(range(256)) * 40_000
    await place.write("deep/file", data)
    assert await place.read("deep/file") == data


async def test_a_written_file_keeps_mode_and_link(place, tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "real").chmod(0o751)
    (tmp_path / "link").symlink_to("real")
    await place.write("link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"
    assert (tmp_path / "real").stat().st_mode & 0o777 == 0o751
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "real"]


async def test_what_is_no_file_is_refused(place, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path, words in ((".", "folder"), ("/dev/zero", "device"), ("pipe", "pipe"), ("gone", "no such file")):
        with pytest.raises(ToolError, match=words):
            await place.read(path)
    with pytest.raises(ToolError, match="not a regular file"):
        await place.write("pipe", b"x")


async def test_names_are_never_read_by_a_shell(place, tmp_path):
    name = "a '$(touch oops)' \"b\"\n\\c"
    await place.write(name, b"x")
    assert await place.read(name) == b"x"
    assert [path.name for path in tmp_path.iterdir()] == [name]


async def test_a_time_out_ends_even_what_hides_over_there(place):
    script = "sleep 60 & echo $!; setsid sleep 60 & echo $!; (setsid sh -c 'echo $$; sleep 60' &); echo $$; wait"
    result = await sh(place, script, seconds=4.0)
    pids = [int(word) for word in result.output.split()]
    assert (result.status, len(pids)) == (124, 4)
    assert not [pid for pid in pids if alive(pid)]


async def test_cancelling_ends_the_tree_over_there(place):
    heard = asyncio.Event()
    output = []

    def listen(data):
        output.append(data)
        heard.set()

    task = asyncio.create_task(sh(place, "sleep 60 & echo $! $$; wait", on_output=listen))
    await heard.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not [pid for pid in map(int, b"".join(output).split()) if alive(pid)]
    assert (await sh(place, "echo fine")).output == b"fine\n"


async def test_what_outlives_the_command_does_not_hold_its_result(place):
    result = await sh(place, "sleep 60 & echo $!")
    os.kill(int(result.output), 9)
    assert result.status == 0


async def test_a_listener_that_fails_is_heard_as_it_is(place):
    def fail(_):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        await sh(place, "echo x; sleep 60", on_output=fail)


async def test_a_dozen_commands_run_at_once(place):
    results = await asyncio.gather(*(sh(place, f"echo {n}") for n in range(12)))
    assert [int(result.output) for result in results] == list(range(12))


async def test_a_lost_connection_is_no_status(place):
    with pytest.raises(ToolError, match="lost while the command ran"):
        await sh(place, "kill -9 $PPID")


async def test_a_missing_folder_is_told(place, server):
    with pytest.raises(ToolError, match="no folder /no/such"):
        await sh(place, "true", cwd="/no/such")
    with pytest.raises(UserError, match="no folder /no/such"):
        await Ssh(server).open("/no/such")


async def test_without_a_folder_it_is_the_home_over_there(server):
    place = await Ssh(server).open("")
    assert (await sh(place, "cd; pwd")).output.decode().strip() == place.cwd
    assert (await Ssh(evolve(server, folder="/usr")).open("/gone")).cwd == "/usr"


async def test_nothing_of_our_environment_goes_along(place, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    assert b"sk-secret" not in (await sh(place, "env")).output


async def test_an_unknown_host_is_taken_or_refused_as_configured(fresh):
    with pytest.raises(UserError, match="unknown hosts are refused"):
        await Ssh(evolve(fresh, known_hosts="refuse")).open("")
    assert await Ssh(fresh).open("")
    assert await Ssh(evolve(fresh, known_hosts="refuse")).open("")


async def test_a_changed_host_key_is_refused(fresh, tmp_path):
    await Ssh(fresh).open("")
    known = tmp_path / "known"
    place, kind, _ = known.read_text().splitlines()[0].split()[:3]
    other = Path(fresh.key + ".pub").read_text().split()[1]
    known.write_text(f"{place} {kind} {other}\n")
    with pytest.raises(UserError, match="not the one that is known") as refused:
        await Ssh(fresh).open("")
    assert "ssh-keygen -R" in refused.value.hint


async def test_a_wrong_key_is_told(fresh, tmp_path):
    words = ("-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "other"))
    await (await asyncio.create_subprocess_exec("ssh-keygen", *words)).wait()
    with pytest.raises(UserError, match="did not accept the login"):
        await Ssh(evolve(fresh, key=str(tmp_path / "other"))).open("")


async def test_a_closed_port_is_told(fresh):
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        options = [line for line in fresh.options if not line.startswith("ConnectionAttempts")]
        with pytest.raises(UserError, match="refused the connection"):
            await Ssh(evolve(fresh, port=taken.getsockname()[1], options=options)).open("")


async def test_a_name_that_leads_nowhere_is_told(fresh):
    with pytest.raises(UserError, match="no host named"):
        await Ssh(evolve(fresh, host="nowhere.invalid")).open("")


async def test_a_wrong_option_is_told(fresh):
    with pytest.raises(UserError, match="does not know an option"):
        await Ssh(evolve(fresh, options=["NoSuchOption=1"])).open("")


async def test_without_ssh_it_says_so(fresh, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="not installed"):
        await Ssh(fresh).open("")


async def test_without_a_host_it_says_so():
    with pytest.raises(UserError, match="host is not set"):
        await Ssh(Config()).open("")
    with pytest.raises(UserError, match="cannot be"):
        await Ssh(Config(host="-oProxyCommand=x")).open("")


async def test_a_command_line_too_long_is_told(place):
    with pytest.raises(ToolError, match="too long"):
        await place.run(ExecRequest(argv=("true", "x" * 200_000)))
