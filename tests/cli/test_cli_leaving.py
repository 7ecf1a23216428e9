"""A one-shot that is ended from outside: nothing of what it started runs on, and its turn is there to be finished."""

import asyncio
import contextlib
import fcntl
import json
import os
import pty
import signal
import struct
import sys
import termios
from pathlib import Path

import pytest

from hermes_core.testing.model_service import http, model_service

pytestmark = pytest.mark.long

TREE = """
setsid -f env -i PATH=$PATH sh -c 'exec sleep 7771'
(setsid sleep 7772 &)
nohup sleep 7773 >/dev/null 2>&1 &
trap '' HUP TERM
touch began
sleep 7774
"""


class House:
    """``hermes`` in a home and a folder of its own, without a wall around its commands."""

    def __init__(self, folder: Path, url: str = "") -> None:
        self.home, self.work = folder / "home", folder / "work"
        for made in (self.home, self.work):
            made.mkdir()
        model = (
            {"provider": "custom", "base_url": url, "api_key": "x", "default": "m"} if url else {"provider": "offline"}
        )
        (self.home / "config.yaml").write_text(json.dumps({"model": model, "backends": {"local": {"wall": "none"}}}))
        keep = {k: v for k, v in os.environ.items() if not k.startswith("HERMES_") and not k.endswith("_BASE_URL")}
        self.env = {**keep, "HERMES_HOME": str(self.home), "HOME": str(folder), "TMPDIR": str(folder)}

    async def start(self, *words: str, **more: object) -> asyncio.subprocess.Process:
        command, pipe = [sys.executable, "-m", "hermes_core", *words], asyncio.subprocess.PIPE
        given = {"stdin": asyncio.subprocess.DEVNULL, "stdout": pipe, "stderr": pipe, **more}
        return await asyncio.create_subprocess_exec(*command, env=self.env, cwd=self.work, **given)

    async def hermes(self, *words: str) -> tuple[int, str, str]:
        process = await self.start(*words)
        out, err = await asyncio.wait_for(process.communicate(), 60)
        return process.returncode or 0, out.decode(), err.decode()

    async def until(self, name: str) -> None:
        async with asyncio.timeout(40):
            while not (self.work / name).exists():
                await asyncio.sleep(0.02)

    def alive(self) -> list[str]:
        """Commands that work in the folder."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if (process / "cwd").readlink() == self.work:
                    found.append((process / "cmdline").read_text().replace("\0", " "))
        return found


HEAD = b"HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\n\r\n"
END = b"data: [DONE]\n\n"


def piece(said: str) -> bytes:
    """A piece of a streamed reply in OpenAI's protocol; the last where nothing is said."""
    chunk = {"index": 0, "delta": {"content": said} if said else {}, "finish_reason": None if said else "stop"}
    known = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [chunk]}
    return f"data: {json.dumps(known)}\n\n".encode()


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=lambda one: one.name)
async def test_it_ends_the_tree_of_its_command_and_the_next_finishes_the_turn(house: House, number: int) -> None:
    (house.work / "tree.sh").write_text(TREE)
    process = await house.start("--yolo", "-z", "run `sh tree.sh`")
    await house.until("began")
    process.send_signal(number)
    _, err = await asyncio.wait_for(process.communicate(), 20)
    assert process.returncode == 130
    assert house.alive() == []
    assert "Not finished. Finish it: hermes -c, or hermes -r 2" in err.decode()
    assert "Traceback" not in err.decode()
    _, out, err = await house.hermes("sessions", "list", "--json")
    assert json.loads(out)["state"] == "interrupted"
    status, _, err = await house.hermes("--yolo", "-c", "-z", "hello")
    assert status == 0
    assert "The turn that was interrupted is finished now" in err
    _, out, _ = await house.hermes("sessions", "export")
    assert "Hermes was ended while this command ran, and ended it with all that it had started." in out


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT], ids=lambda one: one.name)
async def test_what_was_said_so_far_is_shown_and_kept(tmp_path: Path, number: int) -> None:
    talks = asyncio.Event()

    async def half(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + piece("The train "))
        for _ in range(200):
            writer.write(piece("to Oslo "))
            await writer.drain()
            talks.set()
            await asyncio.sleep(0.1)

    async def whole(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + piece("It leaves at nine.") + piece("") + END)
        await writer.drain()

    async with model_service("/v1") as service:
        house = House(tmp_path, service.url)
        service.by_path["/v1/models"] = http(
            200, json.dumps({"object": "list", "data": [{"id": "m", "object": "model"}]})
        )
        service.script, service.always = [half], whole
        process = await house.start("-z", "when?")
        await asyncio.wait_for(talks.wait(), 40)
        await asyncio.sleep(2)  # until some of it is shown
        process.send_signal(number)
        out, err = await asyncio.wait_for(process.communicate(), 20)
        shown = out.decode().rstrip("\n")
        assert (process.returncode, shown[:18]) == (130, "The train to Oslo ")
        way = "Go on: hermes -c" if number == signal.SIGINT else "Not finished. Finish it: hermes -c"
        assert way in err.decode()
        _, seen, _ = await house.hermes("sessions", "show", "latest")
        assert shown in seen
        assert seen.count("… (This answer was cut off.)") == 1
        assert ("\nnote\nHermes was ended" in seen) == (number != signal.SIGINT)
        _, out, err = await house.hermes("-c", "-z", "and?")
        assert out == "It leaves at nine.\n"
        _, told, _ = await house.hermes("sessions", "export")
        said = [json.loads(line)["content"] for line in told.splitlines() if '"assistant"' in line]
    kept, *after = said
    assert kept.startswith(shown), "a piece may have come when it was printed already"
    assert kept.endswith(" … (This answer was cut off.)")
    assert "The train" not in err, "what was shown is not shown again"
    left = number != signal.SIGINT
    assert after == ["It leaves at nine."] * (2 if left else 1), "the turn that was left is finished first"
    asked = [one.body["messages"] for one in service.asked if one.method == "POST"]
    words = [(one["role"], str(one["content"])) for one in asked[1]]
    assert [role for role, _ in words] == ["system", "user", "assistant", "user"]
    assert words[2][1] == kept
    assert ("whole answer anew" in words[3][1]) == left


async def half_said(writer: asyncio.StreamWriter) -> None:
    """A reply that never comes to its end."""
    writer.write(HEAD + piece("The train to Oslo leaves "))
    await writer.drain()
    await asyncio.sleep(60)


@pytest.mark.parametrize("screen", [["--cli"], []], ids=["lines", "full"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=lambda one: one.name)
async def test_so_it_is_where_a_person_types(tmp_path: Path, number: int, screen: list[str]) -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    os.set_blocking(ours, False)
    shown = b""

    async def until(words: bytes) -> None:
        nonlocal shown
        async with asyncio.timeout(40):
            while words not in shown:
                with contextlib.suppress(OSError):  # nothing yet, or it is gone
                    shown += os.read(ours, 65_536)
                await asyncio.sleep(0.02)

    async with model_service("/v1") as service:
        house = House(tmp_path, service.url)
        service.by_path["/v1/models"] = http(
            200, json.dumps({"object": "list", "data": [{"id": "m", "object": "model"}]})
        )
        service.always = half_said
        house.env["TERM"] = "xterm-256color"
        process = await house.start(*screen, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
        os.close(theirs)
        try:
            await until("❯".encode() if screen else b"sk anything.")
            os.write(ours, b"when?\r")
            await until(b"Oslo")
            process.send_signal(number)
            await until(b"Not finished. Finish it: hermes -c")
            await asyncio.wait_for(process.wait(), 20)
        finally:
            if process.returncode is None:
                process.kill()
            os.close(ours)
        _, seen, err = await house.hermes("sessions", "show", "latest")
        assert "The train to Oslo leaves … (This answer was cut off.)" in " ".join(seen.split()), err
        _, out, _ = await house.hermes("sessions", "list", "--json")
        assert json.loads(out)["state"] == "interrupted"


async def test_below_nohup_the_end_of_the_terminal_ends_nothing(house: House) -> None:
    script = "touch began; until [ -e over ]; do sleep 0.05; done; echo made"
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process = await house.start("--yolo", "-z", f"run `{script}`")
    finally:
        signal.signal(signal.SIGHUP, before)
    await house.until("began")
    process.send_signal(signal.SIGHUP)
    await asyncio.sleep(0.5)
    (house.work / "over").touch()
    out, _ = await asyncio.wait_for(process.communicate(), 30)
    assert (process.returncode, "made" in out.decode()) == (0, True)
