"""What a terminal said before it left is heard, however it leaves."""

import asyncio
import socket

from hermes_platform_host.serving import _Heard


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
