"""What a terminal said before it left is heard, however it leaves; and it says so where the host does."""

import asyncio
import os
import socket

import pytest

from hermes_front.wire import Lines
from hermes_platform_host.serving import _Heard
from hermes_platform_host.terminal import Terminal


async def test_a_connection_that_breaks_loses_nothing_that_came_before() -> None:
    theirs, ours = socket.socketpair()
    ours.setblocking(False)
    reader = _Heard()
    made, _ = await asyncio.get_running_loop().create_connection(
        lambda: asyncio.StreamReaderProtocol(reader), sock=ours
    )
    made.write(b"an answer that is never read")  # so that leaving breaks the connection
    await asyncio.sleep(0)
    theirs.sendall(b"one\ntwo\nthree\n")
    theirs.close()
    heard = []
    while line := await reader.readline():
        heard.append(line)
        await asyncio.sleep(0.01)  # the break is seen meanwhile
    assert heard == [b"one\n", b"two\n", b"three\n"]
    made.close()


@pytest.mark.parametrize("last", [b"", b'{"o":"half', b"nonsense\n"])
def test_a_terminal_says_how_to_go_on_however_the_host_ends(
    last: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reads, writes = os.pipe()
    ours, host = socket.socketpair()
    with os.fdopen(reads) as keys, ours:
        monkeypatch.setattr("sys.stdin", keys)
        host.sendall(last)
        ours.sendall(b"a line that is never read")  # so that its end breaks the connection
        host.close()
        assert Terminal("hermes", "s1", ours, Lines(ours)).talk() == 1
    os.close(writes)
    assert "go on: hermes -r s1" in capsys.readouterr().err
