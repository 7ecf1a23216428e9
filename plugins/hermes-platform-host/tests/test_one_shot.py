"""``-z`` through a host prints, ends and is ended as it does without one; what would differ goes without it."""

import asyncio
import json
import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

SESSION = re.compile(r"\d{8}_\d{6}_[0-9a-f]{8}")
OWN = re.compile(r'(?<="turn_id": )"[0-9a-f]{8,}"|(?<="id": )"[0-9a-f]{8,}"|(?<="seconds": )[0-9.e-]+')


def plain(done: tuple[int, str, str]) -> tuple[int, str, str]:
    """The same without what is another one each time."""
    status, out, err = done
    out, err = (OWN.sub('"OWN"', SESSION.sub("SESSION", text)) for text in (out, err))
    return status, out, err


async def both(house: Any, *words: str, script: Any = (), **more: Any) -> tuple[int, str, str]:
    """Run it through the host and without it; what both came to, which is the same."""
    found = []
    for env in (house.env, {**house.env, "HERMES_ALONE": "1"}):  # a variable that the host has not: it goes without it
        house.model.script = list(script)
        found.append(plain(await house.hermes(*words, env=env, **more)))
    assert found[0] == found[1]
    return found[0]


async def goes_through(house: Any, *words: str, **more: Any) -> bool:
    """Whether the host answers this, and the command loads nothing of its own."""
    status, out, err = await house.hermes(*words, options=["-X", "importtime"], **more)
    assert (status, out) == (0, "Nine o'clock.\n")
    return "hermes_core.cli.main" not in err


async def test_what_is_printed_is_the_same(house: Any) -> None:
    await house.open()
    assert await both(house, "-z", "when?") == (0, "Nine o'clock.\n", "")
    status, out, _ = await both(house, "-z", "when?", "--json")
    assert status == 0
    assert [json.loads(line)["type"] for line in out.splitlines()][-1] == "ended"
    assert (await both(house, "-c", "-z", "and?"))[0] == 0
    assert (await both(house, "-r", "none such", "-z", "and?"))[0] == 2
    assert await both(house, "-z", "-", stdin=b"when?\nplease") == (0, "Nine o'clock.\n", "")
    assert house.asked()[-1] == "when?\nplease"
    assert (await both(house, "-z", " "))[0] == 2
    body = b'{"error": {"message": "no way"}}'
    refused = b"HTTP/1.1 400 X\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
    assert (await both(house, "-z", "when?", script=[refused]))[0] == 1


async def test_what_no_frame_holds_and_who_has_no_folder_goes_without(house: Any, tmp_path: Any) -> None:
    """A text longer than a frame, a text of nothing, and a folder that is gone: all is as without a host."""
    await house.open()
    assert (await both(house, "-z", "-", stdin=b"a word\n" * 300_000))[:2] == (0, "Nine o'clock.\n")
    assert len(house.asked()[-1]) > 2_000_000
    assert (await both(house, "-z", "-", stdin=b" \n"))[:2] == (2, "")
    gone = tmp_path / "gone"
    words = f'mkdir {gone}; cd {gone}; rmdir {gone}; exec "$0" "$@"'
    found = []
    for more in ({}, {"HERMES_ALONE": "1"}):
        shell = await asyncio.create_subprocess_exec(
            "sh", "-c", words, sys.executable, "-m", "hermes_core", "-z", "when?",
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            env={**house.env, **more},
        )  # fmt: skip
        out, err = await shell.communicate()
        found.append((shell.returncode, out, err))
    assert found[0] == found[1]
    assert found[0][0] == 2
    assert b"folder is gone" in found[0][2]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="does not claim: this system has no /dev/full")  # noqa: PTH110
async def test_a_full_disk_is_named_as_such(house: Any) -> None:
    await house.open()
    found = []
    with open("/dev/full", "wb") as full:  # noqa: ASYNC230, PTH123
        for more in ({}, {"HERMES_ALONE": "1"}):
            one = await house.start("-z", "when?", stdout=full, env={**house.env, **more})
            _, err = await one.communicate()
            found.append((one.returncode, err))
    assert found[0] == found[1]
    assert found[0][0] == 1
    assert b"No space left" in found[0][1]


async def test_folder_and_environment_are_the_callers(house: Any, tmp_path: Any) -> None:
    house.configure("policy: {mode: 'off'}\nbackends: {local: {wall: none}}\n")
    await house.open(cwd=tmp_path)
    house.env = {**house.env, "COLOUR": "green"}
    there = house.work / "there"
    there.mkdir()
    script = [house.calls('echo "$PWD $COLOUR"'), house.says("Done.")]
    status, out, _ = await both(house, "-z", "look", "--json", script=script, cwd=there)
    assert status == 0
    assert f"{there} green" in out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda one: one.name)
@pytest.mark.few(1)
async def test_being_ended_is_the_same(house: Any, number: int) -> None:
    await house.open()
    found = []
    for env in (house.env, {**house.env, "HERMES_ALONE": "1"}):
        talks = asyncio.Event()

        async def half(writer: asyncio.StreamWriter, talks: asyncio.Event = talks) -> None:
            writer.write(house.begun("The train "))
            for _ in range(40):
                writer.write(house.piece("to Oslo "))
                await writer.drain()
                talks.set()
                await asyncio.sleep(0.1)
            writer.write(house.ends("leaves at nine."))
            await writer.drain()

        house.model.script = [half]
        process = await house.start("-z", "when?", env=env)
        await asyncio.wait_for(talks.wait(), 40)
        await asyncio.sleep(2)  # until some of it is shown
        process.send_signal(number)
        out, err = await asyncio.wait_for(process.communicate(), 20)
        assert process.returncode is not None
        status, shown, told = plain((process.returncode, out.decode(), err.decode()))
        assert shown.startswith("The train to Oslo")
        found.append((status, told, shown[-1]))
    assert found[0] == found[1]
    assert found[0][0] == 130
    if number != signal.SIGINT:
        _, _, told = await house.hermes("-c", "-z", "and?")
        assert "finished now" in told


async def test_a_session_that_another_process_has_is_busy_as_ever(house: Any) -> None:
    await house.open()
    heard = asyncio.Event()

    async def slow(writer: asyncio.StreamWriter) -> None:
        heard.set()
        await asyncio.sleep(20)

    house.model.script = [slow]
    alone = await house.start("-z", "when?", env={**house.env, "HERMES_ALONE": "1"})
    try:
        await asyncio.wait_for(heard.wait(), 40)
        status, _, told = await both(house, "-c", "-z", "-", stdin=b"and?")
        assert status == 2
        assert "is busy" in told
    finally:
        alone.kill()
        await alone.wait()


async def test_a_gateway_is_a_host_too(house: Any) -> None:
    house.configure("platforms: {api: {port: 0}}\n")
    await house.open("gateway", "run")
    assert await goes_through(house, "-z", "when?")
    _, told, _ = await house.hermes("gateway", "status")
    assert "host: terminals are served" in told


@pytest.mark.parametrize("point", ["journaled", "requested", "replied", "tool_started", "tool_done", "answered"])
@pytest.mark.few(3)
async def test_wherever_the_host_dies_nothing_is_done_twice(house: Any, point: str) -> None:
    house.configure("policy: {mode: 'off'}\nbackends: {local: {wall: none}}\n")
    env = {**house.env, "HERMES_TESTING": "1", "HERMES_DIE_AT": point}
    await house.open(env=env)
    house.model.script = [house.calls("echo once >> there"), house.says("Done.")]
    status, _, told = await house.hermes("-z", "go", env=env)
    assert house.host.returncode is not None or await asyncio.wait_for(house.host.wait(), 20)
    assert (status, "The host ended" in told) == (1, True)
    if session := SESSION.search(told):
        await house.hermes("-r", session[0], "-z", "and?")
        _, rows, _ = await house.hermes("sessions", "export")
        assert rows.count('"go"') == 1
    there = house.work / "there"
    assert not there.exists() or there.read_text() == "once\n"


async def test_a_host_begins_by_itself_and_leaves(house: Any) -> None:
    house.configure("host: {auto: true, idle_seconds: 3}\n")
    assert not await goes_through(house, "-z", "when?")
    async with asyncio.timeout(40):
        while not house.socket.exists():
            await asyncio.sleep(0.1)
    assert await goes_through(house, "-z", "when?")
    async with asyncio.timeout(40):
        while house.socket.exists():
            await asyncio.sleep(0.1)
    house.configure("host: {auto: false}\n")
    assert not await goes_through(house, "-z", "when?")


async def test_a_host_that_began_by_itself_makes_way_where_settings_changed(house: Any) -> None:
    house.configure("host: {auto: true}\n")
    await house.open("host", "run", "--auto")
    house.configure("host: {auto: true}\npolicy: {mode: 'off'}\n")
    assert not await goes_through(house, "-z", "when?")
    assert await asyncio.wait_for(house.host.wait(), 20) == 0


async def test_a_terminal_that_goes_away_ends_nothing(house: Any) -> None:
    await house.open()
    heard, go = asyncio.Event(), asyncio.Event()

    async def slow(writer: asyncio.StreamWriter) -> None:
        heard.set()
        await go.wait()
        writer.write(house.says("At nine."))
        await writer.drain()

    house.model.script = [slow]
    process = await house.start("-z", "when?")
    await asyncio.wait_for(heard.wait(), 40)
    process.kill()
    await process.wait()
    go.set()
    async with asyncio.timeout(20):
        while "At nine." not in (await house.hermes("sessions", "show", "latest"))[1]:
            await asyncio.sleep(0.2)


async def test_the_death_of_the_host_is_told_and_its_turn_can_be_finished(house: Any) -> None:
    await house.open()
    heard = asyncio.Event()

    async def never(writer: asyncio.StreamWriter) -> None:
        heard.set()
        await asyncio.sleep(60)

    house.model.script = [never]
    process = await house.start("-z", "when?")
    await asyncio.wait_for(heard.wait(), 40)
    await asyncio.sleep(0.5)
    await house.close(signal.SIGKILL)
    out, err = await asyncio.wait_for(process.communicate(), 20)
    assert (process.returncode, out) == (1, b"")
    session = SESSION.search(err.decode())
    assert session
    assert f"finish it: hermes -r {session[0]}" in err.decode()
    status, out_, told = await house.hermes("-r", session[0], "-z", "and?")
    assert (status, out_) == (0, "Nine o'clock.\n")
    assert "finished now" in told
    status, out_, _ = await house.hermes("-z", "when?")
    assert (status, out_) == (0, "Nine o'clock.\n"), "nobody listens at the socket"


@pytest.mark.parametrize(
    ("words", "env"),
    [
        (["-m", "m"], {}),
        (["--safe-mode"], {}),
        (["--yolo"], {}),
        ([], {"HERMES_YOLO": "1"}),
        ([], {"OTHER_API_KEY": "not the host's"}),
        ([], {"HTTPS_PROXY": "http://127.0.0.1:9"}),
        ([], {"TZ": "Asia/Tokyo"}),
    ],
)
async def test_what_would_be_another_turn_goes_without_the_host(
    house: Any, words: list[str], env: dict[str, str]
) -> None:
    await house.open()
    assert await goes_through(house, "-z", "when?")
    assert not await goes_through(house, *words, "-z", "when?", env={**house.env, **env})


async def test_settings_that_changed_are_heeded(house: Any) -> None:
    await house.open()
    assert await goes_through(house, "-z", "when?")
    house.configure("policy: {mode: 'off'}\n")
    assert not await goes_through(house, "-z", "when?")
    status, told, _ = await house.hermes("host", "status")
    assert status == 1
    assert "settings changed" in told


async def test_a_host_that_may_more_than_its_callers_serves_none(house: Any) -> None:
    await house.open(env={**house.env, "HERMES_YOLO": "1"})
    status, told, _ = await house.hermes("host", "status")
    assert status == 1
    assert "HERMES_YOLO" in told


async def test_a_host_that_does_not_answer_is_left_alone(house: Any) -> None:
    await house.open()
    assert house.host
    os.kill(house.host.pid, signal.SIGSTOP)
    try:
        assert (await house.hermes("-z", "when?"))[:2] == (0, "Nine o'clock.\n")
    finally:
        os.kill(house.host.pid, signal.SIGCONT)
    await asyncio.sleep(1)
    assert len(house.asked()) == 1, "it does nothing later"


def test_what_python_compiles_beside_the_packages_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hermes_core.plugins.manifest import read_manifest
    from hermes_core.testing import plugin_context
    from hermes_core.testing.contract_base import manifest_path
    from hermes_platform_host import callers

    site = tmp_path / "site-packages"
    (site / "one.dist-info").mkdir(parents=True)
    monkeypatch.setattr(callers, "_site", lambda: site)
    made = callers.Callers(plugin_context(read_manifest(manifest_path("hermes_platform_host")), tmp_path / "home"))
    assert not made._changed()
    (site / "__pycache__").mkdir()
    assert not made._changed()
    (site / "two.dist-info").mkdir()
    assert made._changed()
