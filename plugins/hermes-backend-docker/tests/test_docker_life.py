"""Containers over time: found again, shared, lost in the middle, ended, cleared away."""

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import suppress

import pytest
from attrs import evolve
from docker_steps import bash, container_of, processes, sh, until

from hermes_backend_docker.container import sweep
from hermes_core.errors import ToolError, UserError
from hermes_core.types import ExecRequest, Feature

pytestmark = pytest.mark.real

HERMES = """
import asyncio, logging, sys
from pathlib import Path
from hermes_backend_docker.backend import Docker
from hermes_backend_docker.config import Config
from hermes_core.types import ExecRequest

async def main(url, home, key):
    place = await Docker(Config(image="bash:test", host=url), Path(home), logging.getLogger("x")).open(key)
    await place.write("kept", b"kept")
    await place.start(ExecRequest(argv=("sh", "-c", "sleep 301 & env -i setsid sleep 302 & wait")))
    script = "sleep 303 & setsid sleep 304 & echo up; wait"
    await place.run(ExecRequest(argv=("sh", "-c", script), on_output=lambda data: print(data.decode(), flush=True)))

asyncio.run(main(*sys.argv[1:]))
"""


def started(words):
    return subprocess.Popen(words, stdout=subprocess.PIPE, start_new_session=True)


async def test_a_hermes_that_is_killed_leaves_its_container_and_no_process(make, daemon, tmp_path, folder):
    words = [sys.executable, "-c", HERMES, daemon.url, str(tmp_path / "home"), str(folder)]
    with started(words) as dying:
        assert await asyncio.to_thread(dying.stdout.readline) == b"up\n"
        (before,) = daemon.told("ps", "-q", "--filter", f"label=hermes.key={folder}").split()
        os.killpg(dying.pid, signal.SIGKILL)
    place = await make(lifetime_seconds=1800).open(str(folder))
    assert container_of(daemon, place)["Id"].startswith(before), "the container was not found again"
    assert await place.read("kept") == b"kept"
    await until(lambda: processes(place), [])
    await place.close()


async def test_a_hermes_that_dies_ends_nothing_of_another(make, daemon, tmp_path, folder):
    place = await make(lifetime_seconds=1800).open(str(folder))
    mine = await place.start(ExecRequest(argv=("sleep", "300")))
    words = [sys.executable, "-c", HERMES, daemon.url, str(tmp_path / "home"), str(folder)]
    with started(words) as dying:
        assert await asyncio.to_thread(dying.stdout.readline) == b"up\n"
        assert len(await processes(place)) > 3
        os.killpg(dying.pid, signal.SIGKILL)
    await until(lambda: processes(place), ["sleep 300"])
    assert await mine.poll() is None
    await place.close()


async def test_two_that_open_at_once_share_one_container(make, daemon, folder):
    places = await asyncio.gather(*(make().open(str(folder)) for _ in range(4)))
    assert len({container_of(daemon, place)["Id"] for place in places}) == 1
    await places[0].write("x", b"x")
    assert await places[1].read("x") == b"x"
    await asyncio.gather(*(place.close() for place in places))


async def test_an_idle_container_stops_and_is_started_when_needed(make, daemon, folder):
    place = await make(lifetime_seconds=1).open(str(folder))
    await bash(place, "echo kept >file; cd /etc; export KEPT=1")
    began = container_of(daemon, place)["State"]["StartedAt"]

    async def running():
        return container_of(daemon, place)["State"]["Running"]

    await until(running, False)
    after = await bash(place, 'echo "$KEPT"; cat ' + place.cwd + '/file; echo "$PWD"')
    assert after.output.split()[:2] == [b"1", b"kept"]
    assert after.output.split()[2] != place.cwd.encode(), "the folder of the shell was lost with the container"
    assert container_of(daemon, place)["State"]["StartedAt"] != began
    await place.close()


async def test_a_container_with_a_running_command_is_not_idle(make, daemon, folder):
    place = await make(lifetime_seconds=1).open(str(folder))
    process = await place.start(ExecRequest(argv=("sh", "-c", "sleep 4; exit 5")))

    async def status():
        return await process.poll()

    await until(status, 5)
    await place.close()


async def test_a_container_removed_in_the_middle_is_one_clear_error(make, daemon, folder):
    place = await make().open(str(folder))
    await place.write("kept", b"kept")
    running = asyncio.create_task(sh(place, "echo up; sleep 60"))
    await until(lambda: processes(place), ["sleep 60"])
    background = await place.start(ExecRequest(argv=("sleep", "60")))
    daemon.told("rm", "-f", place._lease.plan.name)
    with pytest.raises(ToolError, match="removed while the command ran"):
        await running
    assert await background.poll() == 137
    assert (await sh(place, "echo new; cat kept")).output == b"new\nkept"
    await place.close()


async def test_a_container_stopped_in_the_middle_is_one_clear_error(make, daemon, folder):
    place = await make().open(str(folder))
    running = asyncio.create_task(sh(place, "sleep 60"))
    await until(lambda: processes(place), ["sleep 60"])
    daemon.told("stop", "-t", "5", place._lease.plan.name)
    with pytest.raises(ToolError, match="stopped while the command ran"):
        await running
    assert (await sh(place, "echo up")).output == b"up\n"
    daemon.told("kill", place._lease.plan.name)
    assert (await sh(place, "echo between")).output == b"between\n"
    daemon.told("pause", place._lease.plan.name)
    daemon.told("unpause", place._lease.plan.name)
    await place.close()


async def test_a_daemon_that_stops_in_the_middle_and_comes_back(make, daemon, folder):
    place = await make().open(str(folder))
    running = asyncio.create_task(sh(place, "sleep 60"))
    await until(lambda: processes(place), ["sleep 60"])
    try:
        await asyncio.to_thread(daemon.stop)
        with pytest.raises(ToolError, match="while the command ran"):
            await running
        with pytest.raises(ToolError, match=r"no daemon|not running") as down:
            await sh(place, "true")
        assert down.value.hint
        with pytest.raises(UserError, match=r"no daemon|not running"):
            await make().open(str(folder))
        assert not await make().ready()
    finally:
        await asyncio.to_thread(daemon.start)
    assert await make().ready()
    assert (await sh(place, "echo back")).output == b"back\n"
    await place.close()


async def test_cancelling_leaves_nothing_running(make, folder):
    place = await make().open(str(folder))
    hidden = "sleep 61 & setsid sleep 62 & env -i setsid sh -c 'sleep 63 & sleep 64 &' & trap '' TERM; echo up; wait"
    for moment in (0.0, 0.01, 0.03, 0.05, 0.1, 0.3):
        running = asyncio.create_task(sh(place, hidden))
        await asyncio.sleep(moment)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert await processes(place) == [], f"after {moment} s"
    await place.close()


async def test_a_time_out_ends_what_ignores_and_hides(make, daemon, folder):
    place = await make().open(str(folder))
    began = container_of(daemon, place)["State"]["StartedAt"]
    stubborn = "trap '' TERM; env -i setsid sh -c \"trap '' TERM; sleep 61 & sleep 62 & wait\" & sleep 63"
    result = await sh(place, stubborn, seconds=1.0)
    assert result.status == 124
    assert await processes(place) == []
    assert container_of(daemon, place)["State"]["StartedAt"] == began, "the whole container had to go for it"
    await place.close()


async def test_where_nothing_adopts_orphans_they_are_found_by_their_age(make, daemon, folder):
    """As with Podman, whose init does not adopt: what hides has no parent, no session and no marker to go by."""
    place = await make().open(str(folder))
    other = await place.start(ExecRequest(argv=("sleep", "300")))
    await sh(place, "env -i setsid sh -c 'sleep 60 &'")
    place._lease.site = evolve(place._lease.site, init="")
    began = container_of(daemon, place)["State"]["StartedAt"]
    await asyncio.sleep(0.05)
    result = await sh(place, "env -i setsid sh -c 'sleep 61 &' ; sleep 62", seconds=1.0)
    assert result.status == 124
    assert sorted(await processes(place)) == ["sleep 300", "sleep 60"], "the older ones are not this command's"
    assert await other.poll() is None
    assert container_of(daemon, place)["State"]["StartedAt"] == began
    await place.close()


async def test_what_outlives_the_command_does_not_hold_its_result(make, folder):
    place = await make().open(str(folder))
    result = await sh(place, "echo first; sleep 60 & echo second")
    assert (result.status, result.output) == (0, b"first\nsecond\n")
    assert await processes(place) == ["sleep 60"]
    await place.close()


async def test_a_background_command_is_talked_to(make, folder):
    place = await make().open(str(folder))
    process = await place.start(ExecRequest(argv=("sh", "-c", "read a; echo got $a; read b; exit $b"), stdin=b"one\n"))
    heard = b""
    while b"got one" not in heard:
        heard += await process.read()
        await asyncio.sleep(0.01)
    assert place.busy
    await process.write(b"9\n")

    async def status():
        return await process.poll()

    await until(status, 9)
    assert not place.busy
    with pytest.raises(ToolError, match="no more input"):
        await process.write(b"x")
    await place.close()


async def test_a_listener_that_fails_is_heard_as_it_is(make, folder):
    place = await make().open(str(folder))

    def fail(_):
        raise OSError("mine")

    with pytest.raises(OSError, match="mine"):
        await sh(place, "echo x; sleep 60", on_output=fail)
    assert await processes(place) == []
    await place.close()


async def test_the_shell_keeps_folder_and_variables(make, folder):
    place = await make().open(str(folder))
    assert Feature.PERSISTENT_SHELL in place.features
    await bash(
        place, "mkdir -p 'a b'; cd 'a b'; export X=$'one\\ntwo \"q\" \\'s\\''; export Y=1; f() { :; }; export -f f"
    )
    assert place.shell_cwd == f"{place.cwd}/a b"
    assert (await bash(place, 'printf "%s|%s" "$PWD" "$X"')).output.decode() == f"{place.cwd}/a b|one\ntwo \"q\" 's'"
    await bash(place, "unset Y HOME; PATH=/nowhere")
    assert (await bash(place, 'echo "${Y-gone}${HOME-gone}$PATH"')).output == b"gonegone/nowhere\n"
    await bash(place, f"PATH=/bin; rm -rf '{place.cwd}/a b'")
    assert (await bash(place, "pwd")).output.decode() == f"{place.cwd}\n"
    assert (await bash(place, "exit 3")).status == 3
    with pytest.raises(ToolError, match="no folder /no/such"):
        await bash(place, "true", cwd="/no/such")
    await place.close()


async def test_an_image_that_is_not_to_be_had_is_told(make, folder):
    with pytest.raises(UserError, match="nowhere/none:1") as told:
        await make(image="127.0.0.1:9/nowhere/none:1").open(str(folder))
    assert "docker load" in told.value.hint


async def test_a_daemon_that_is_not_there_or_closed_is_told(make, daemon, tmp_path, folder, monkeypatch):
    with pytest.raises(UserError, match=r"no daemon listens at .*none\.sock") as none:
        await make(host=f"unix://{tmp_path}/none.sock").open(str(folder))
    assert "Install" in none.value.hint
    assert not await make(host=f"unix://{tmp_path}/none.sock").ready()
    monkeypatch.setenv("DOCKER_HOST", daemon.url)
    assert await make(host="").ready()


async def test_a_daemon_behind_tls(make, daemon, folder, monkeypatch):
    monkeypatch.setenv("DOCKER_TLS_VERIFY", "1")
    monkeypatch.setenv("DOCKER_CERT_PATH", str(daemon.folder))
    backend = make(host=daemon.tcp)
    for _ in range(100):  # it may listen there a little later than on its socket
        if await backend.ready():
            break
        await asyncio.sleep(0.1)
    assert await backend.ready()
    place = await backend.open(str(folder))
    data = bytes(range(256)) * 4_000
    await place.write("file", data)
    assert await place.read("file") == data
    assert (await sh(place, "sleep 60 & echo $!; wait", seconds=1.0)).status == 124
    process = await place.start(ExecRequest(argv=("cat",)))
    await process.write(b"hello\n")
    heard = b""
    while b"hello" not in heard:
        heard += await process.read()
        await asyncio.sleep(0.01)
    await place.close()
    with pytest.raises(UserError, match="does not see this machine's folders"):
        await make(host=daemon.tcp, mount=True).open(str(folder))
    monkeypatch.delenv("DOCKER_TLS_VERIFY")
    monkeypatch.delenv("DOCKER_CERT_PATH")
    with pytest.raises(UserError, match="daemon"):
        await make(host=daemon.tcp).open(str(folder))


async def test_other_settings_are_another_container_with_the_same_files(make, daemon, folder):
    one = await make().open(str(folder))
    await one.write("kept", b"kept")
    two = await make(pids=100).open(str(folder))
    assert await two.read("kept") == b"kept"
    assert container_of(daemon, one)["Id"] != container_of(daemon, two)["Id"]
    await one.close()
    await two.close()


async def test_old_containers_of_this_home_are_cleared_away(make, daemon, tmp_path, folder):
    from hermes_backend_docker.sdk import Client

    places = [await make(home).open(str(folder)) for home in ("home", "other")]
    names = [place._lease.plan.name for place in places]
    for place in places:
        await place.close()
    client = Client(base_url=daemon.url, version="auto")
    log = places[0]._lease._log
    assert sweep(client, tmp_path / "home", 0.0, "", log) == 0, "one that runs was removed"
    daemon.told("kill", *names)
    assert sweep(client, tmp_path / "home", 7.0, "", log) == 0
    assert sweep(client, tmp_path / "home", 0.0, names[0], log) == 0
    assert sweep(client, tmp_path / "home", 0.0, "", log) == 1
    client.close()
    assert names[1] in daemon.told("ps", "-a", "--format", "{{.Names}}")


async def test_a_container_broken_from_inside_is_made_anew(make, daemon, folder):
    place = await make().open(str(folder))
    await place.write("kept", b"kept")
    with suppress(ToolError):
        await sh(place, "rm -rf /bin /lib /lib64")
    await place.close()
    again = await make().open(str(folder))
    assert await again.read("kept") == b"kept"
    await again.close()


async def test_somebody_elses_container_is_left_alone(make, daemon, folder):
    place = await make().open(str(folder))
    name = place._lease.plan.name
    await place.close()
    daemon.told("rm", "-f", name)
    daemon.told("create", "--name", name, "plain:test", "true")
    with pytest.raises(UserError, match="not Hermes's"):
        await make().open(str(folder))


async def test_doctor_says_what_there_is(make, daemon, tmp_path, folder, snapshot):
    import re

    from hermes_backend_docker.checks import check_daemon

    place = await make().open(str(folder))
    config = place_config = make()._config
    findings = await check_daemon(place_config, tmp_path / "home").run()
    assert "1 containers of this home, 1 running" in findings[-1].text
    findings = [*findings, *await check_daemon(evolve(config, image="none:1"), tmp_path).run()]
    findings += await check_daemon(evolve(config, host="unix:///none.sock"), tmp_path).run()
    told = "\n".join(f"{f.level}: {f.text}{f' -> {f.fix}' if f.fix else ''}" for f in findings)
    assert re.sub(r"Docker \S+", "Docker VERSION", told).replace(daemon.url, "URL") == snapshot
    await place.close()
