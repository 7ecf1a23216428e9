"""``hermes --cli`` where a host of its home runs: the host carries it, and it does what it does without one."""

import asyncio
import json
import signal
from pathlib import Path
from typing import Any

from hermes_core import __version__
from hermes_front.one_shot import hello
from hermes_front.wire import Lines, connect, frame
from hermes_platform_kit.spoken import PROTOCOL, pieces

ASK = "policy: {mode: ask}\nbackends: {local: {wall: none}}\n"


async def test_what_is_said_is_carried_by_the_host(house: Any) -> None:
    await house.open()
    status, out, err = await house.hermes("--cli", stdin=b"when?\n/sessions\n/nonsense\n")
    assert (status, out.splitlines()[0]) == (0, "Nine o'clock."), err
    assert "when?" in out, "/sessions lists it"
    assert "There is no command /nonsense" in out + err
    assert "works by itself" not in err


async def test_commands_see_the_folder_and_the_environment_of_the_terminal(house: Any) -> None:
    house.configure("policy: {mode: 'off'}\nbackends: {local: {wall: none}}\n")
    await house.open()
    place = house.work / "below"
    place.mkdir()
    house.model.script = [house.calls("echo $GREETING > said"), house.says("Done.")]
    status, out, err = await house.hermes(
        "--cli", stdin=b"do it\n", cwd=place, env={**house.env, "GREETING": "good day"}
    )
    assert (status, out) == (0, "Done.\n"), err
    assert (place / "said").read_text() == "good day\n"


async def test_another_screen_sees_it_and_answers(house: Any) -> None:
    house.configure(ASK)
    await house.open()
    one = await house.talk()
    one.write("when?")
    await one.until("Nine o'clock.")
    two = await house.attach()
    await two.until("Nine o'clock.")
    house.model.script = [house.calls("sudo true"), house.says("It is gone.")]
    one.write("do it")
    await two.until("› do it")
    await two.until("May this run?")
    two.write("once")
    for terminal in (one, two):
        await terminal.until("It is gone.")
    house.model.script = [house.says("To Oslo.")]
    two.write("and where to?")
    await one.until("› and where to?")
    await one.until("To Oslo.")
    assert (await one.leave(), await two.leave()) == (0, 0)


async def test_a_model_is_chosen_for_one_conversation_alone(house: Any) -> None:
    await house.open()
    one, two = await house.talk(), await house.talk()
    one.write("/model custom:m")
    await one.until("m")
    one.write("when?")
    two.write("when?")
    await one.until("Nine o'clock.")
    await two.until("Nine o'clock.")
    assert (await one.leave(), await two.leave()) == (0, 0)


async def test_other_options_work_by_themselves_and_say_so_once(house: Any) -> None:
    house.configure(ASK)
    await house.open()
    house.model.script = [house.calls("sudo -n true; echo ran > there"), house.says("Done.")]
    status, _, err = await house.hermes("--cli", "--yolo", stdin=b"do it\n")
    assert status == 0
    assert err.count("works by itself: --yolo is not among what the host has.") == 1
    assert (house.work / "there").exists()
    one = await house.talk()
    house.model.script = [house.calls("sudo -n true; echo ran > other"), house.says("I leave it.")]
    one.write("do it")
    await one.until("I leave it.")
    assert not (house.work / "other").exists(), "who asked for less is asked, whatever another terminal asked for"
    assert await one.leave() == 0


async def test_a_conversation_begins_a_host_for_those_after_it(house: Any) -> None:
    house.configure("host: {auto: true, idle_seconds: 1.0}\n")
    assert (await house.hermes("--cli", stdin=b"when?\n"))[:2] == (0, "Nine o'clock.\n")
    async with asyncio.timeout(60):
        while not house.listens():
            await asyncio.sleep(0.05)
    status, out, err = await house.hermes("--cli", stdin=b"when?\n")
    assert (status, out, "works by itself" in err) == (0, "Nine o'clock.\n", False)
    async with asyncio.timeout(60):
        while house.socket.exists():  # to connect would be to use it
            await asyncio.sleep(0.1)


async def test_another_version_at_the_host_is_said_once(house: Any, tmp_path: Path) -> None:
    (tmp_path / "newer").mkdir()
    (tmp_path / "newer" / "sitecustomize.py").write_text("import hermes_core; hermes_core.__version__ = '99.1'\n")
    house.host = await house.start("host", "run", env={**house.env, "PYTHONPATH": str(tmp_path / "newer")})
    async with asyncio.timeout(60):
        while not house.listens():
            await asyncio.sleep(0.05)
    status, out, err = await house.hermes("--cli", stdin=b"when?\nand now?\n")
    assert (status, out) == (0, "Nine o'clock.\nNine o'clock.\n")
    assert err.count("it runs 99.1, not") == 1
    anew = f"End it where it runs (process {house.host.pid}), then begin it anew: hermes host run"
    assert anew in err
    status, out, err = await house.hermes("-z", "when?")
    assert (status, out) == (0, "Nine o'clock.\n")
    assert err.count("The host of this home runs 99.1, not") == 1
    assert anew in err
    status, _, err = await house.hermes("attach")
    assert (status, "version" in err) == (2, True)


async def test_what_another_terminal_may_loosens_nothing_here(house: Any) -> None:
    house.configure(ASK)
    await house.open()
    one = await house.attach()
    await one.until("session ")
    one.write("/yolo")
    await one.until("YOLO")
    two = await house.talk()
    house.model.script = [house.calls("sudo -n true; echo ran > there"), house.says("I leave it.")]
    two.write("do it")
    await two.until("I leave it.")
    assert not (house.work / "there").exists()
    house.model.script = [house.calls("sudo -n true; echo ran > here"), house.says("Done.")]
    one.write("do it")
    await one.until("Done.")
    assert (house.work / "here").exists(), "in its own session it holds"
    three = await house.attach(one.shown.split()[1])
    await one.until("asked again")
    house.model.script = [house.calls("sudo -n true; echo ran > third"), house.says("I leave it, too.")]
    three.write("do it")
    await three.until("May this run?")
    three.write("deny")
    await one.until("I leave it, too.")
    assert not (house.work / "third").exists(), "another screen in its session is asked"
    before = one.shown.count("YOLO")
    one.write("/yolo")
    await one.until("Another screen is in this conversation, too")
    assert one.shown.count("YOLO") == before, "it is not said that nothing is asked where it is"
    assert (await one.leave(), await two.leave(), await three.leave()) == (0, 0, 0)


async def test_what_was_chosen_goes_with_its_screen(house: Any) -> None:
    house.configure(ASK)
    await house.open()
    one = await house.attach()
    one.write("/yolo")
    await one.until("YOLO")
    one.write("when?")
    await one.until("Nine o'clock.")
    assert await one.leave() == 0
    house.model.script = [house.calls("sudo -n true; echo ran > there"), house.says("I leave it.")]
    assert (await house.hermes("-c", "-z", "do it"))[:2] == (0, "I leave it.\n")
    assert not (house.work / "there").exists()


async def test_a_turn_outlives_its_terminal(house: Any) -> None:
    await house.open()
    heard, go = asyncio.Event(), asyncio.Event()

    async def slow(writer: asyncio.StreamWriter) -> None:
        heard.set()
        await go.wait()
        writer.write(house.says("At nine."))
        await writer.drain()

    house.model.script = [slow]
    one = await house.talk()
    one.write("when?")
    await asyncio.wait_for(heard.wait(), 40)
    one.process.kill()
    two = await house.attach()
    await two.until("session ")
    go.set()
    await two.until("At nine.")
    assert await two.leave() == 0


async def test_what_was_said_last_is_not_lost(house: Any) -> None:
    await house.open()
    made = connect(str(house.socket), 5.0)
    assert made
    with made:
        told = {**hello(__version__, str(house.home), do="console"), "env": house.env, "cwd": str(house.work)}
        made.sendall(frame(**told))
        assert "ok" in next(iter(Lines(made)))
        said = {"role": "user", "parts": [{"type": "text", "text": "when?"}]}
        made.sendall(pieces({"console": PROTOCOL, "platform": "tui", "session": "", "stays": False, "commands": []}))
        made.sendall(pieces({"id": 1, "do": "status", "chat": "main"}))
        made.sendall(pieces({"said": said, "chat": "main", "event": "e1", "sender": "ada"}))
    async with asyncio.timeout(30):
        while "when?" not in house.asked():
            await asyncio.sleep(0.05)


async def test_two_screens_are_told_when_the_host_is_killed(house: Any) -> None:
    await house.open()
    heard = asyncio.Event()

    async def slow(_writer: asyncio.StreamWriter) -> None:
        heard.set()
        await asyncio.sleep(60)

    house.model.script = [slow]
    one = await house.talk()
    one.write("when?")
    await asyncio.wait_for(heard.wait(), 40)
    two = await house.attach()
    await two.until("session ")
    await house.close(signal.SIGKILL)
    assert (await one.leave(), await two.leave()) == (1, 1)
    for terminal in (one, two):
        assert "The host ended." in terminal.shown
    told = await house.hermes("sessions", "list", "--json")
    session = json.loads(told[1].splitlines()[0])["id"]
    assert f"-r {session}" in one.shown
    status, out, _ = await house.hermes("resume", session)
    assert (status, out) == (0, "Nine o'clock.\n")
