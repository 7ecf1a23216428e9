"""What of a command line a host has, what makes a terminal work by itself, and what it says where the host dies."""

import asyncio
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest

from hermes_core.testing import FakePlatform
from hermes_core.types import Envelope, Message, Principal, Text
from hermes_front.wire import frame
from hermes_platform_cli.console.elsewhere import Elsewhere
from hermes_platform_cli.console.line import Line
from hermes_platform_cli.console.through import by_itself


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--cli"],
        ["chat", "-c"],
        ["--tui", "-r", "20261128_101500_1a2b3c4d"],
        ["--resume=Trains", "--interface", "tui"],
        ["-p", "work", "--interface=cli"],
    ],
)
def test_a_host_has_it(words: list[str]) -> None:
    assert by_itself(words) == ""


@pytest.mark.parametrize(
    ("words", "first"),
    [
        (["--cli", "--yolo"], "--yolo"),
        (["-m", "custom:m"], "-m"),
        (["-r", "--yolo", "-w"], "-w"),
        (["--safe-mode", "chat"], "--safe-mode"),
        (["-ryolo"], "-ryolo"),
    ],
)
def test_a_host_may_not_have_it(words: list[str], first: str) -> None:
    assert by_itself(words) == first


class Typed(FakePlatform):
    """Two messages are typed there, and nothing after them."""

    name = "tui"

    async def receive(self) -> AsyncIterator[Envelope]:
        for event in ("first\x1b[2J", "second"):
            said = Message(role="user", parts=(Text(text=f"the {event}"),))
            yield Envelope(platform="tui", account="", event_id=event[:3], chat="main", sender="ada", message=said)
        await asyncio.Event().wait()


async def at_a_host(*frames: bytes) -> int:
    """Serve a screen at a host that hears both messages, says these frames, and dies; the exit status."""
    mine, host = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=mine)
    its, answers = await asyncio.open_connection(sock=host)

    def require(*_: str) -> None:
        """Refuse nothing."""

    who = "hermes", Principal(person="ada")
    known: dict[str, Any] = {"require": require, "facts": {"session": "s1"}}
    serving = asyncio.create_task(Elsewhere(who, Typed(), "s1", reader, Line(writer), **known).serve())
    while b"the second" not in await its.readline():
        pass
    answers.write(b"".join(frames))
    await answers.drain()
    if len(frames) == 1:
        answers.close()
    status = await serving
    answers.close()
    return status


async def test_what_a_host_did_not_take_before_it_died_is_said_again(capsys: pytest.CaptureFixture[str]) -> None:
    assert await at_a_host(frame(ack="sec")) == 1
    told = capsys.readouterr().err
    assert "say it again: the first" in told
    assert "\x1b" not in told
    assert "the second" not in told
    assert "hermes -r s1" in told


async def test_a_host_that_is_not_understood_ends_the_screen_with_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    assert await at_a_host(frame(ack="fir"), frame(status={"session": "s1"})) == 1, (
        "it does not wait for what comes next"
    )
    assert "of another version" in capsys.readouterr().err
