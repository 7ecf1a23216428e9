"""A command that runs on, made of what a backend says of it."""

from hermes_backend_kit.background import Background
from hermes_backend_kit.output import Unread


class Command:
    """A command that echoes, until it is ended."""

    def __init__(self) -> None:
        self.unread = Unread(10)
        self.status: int | None = None
        self.process = Background(self.unread, over=self.over, status=self.told, write=self.write, end=self.end)

    def over(self) -> bool:
        return self.status is not None

    def told(self) -> int:
        assert self.status is not None
        return self.status

    async def write(self, data: bytes) -> None:
        self.unread.take(data)

    async def end(self) -> None:
        self.status = 137


async def test_it_is_written_to_read_and_ended() -> None:
    process = Command().process
    assert process.running
    assert await process.poll() is None
    await process.write(b"one")
    assert await process.read() == b"one"
    assert await process.read() == b""
    await process.kill()
    assert not process.running
    assert await process.poll() == 137


async def test_the_oldest_of_what_nobody_read_goes_first() -> None:
    process = Command().process
    for piece in (b"first", b"second", b"third"):
        await process.write(piece)
    assert await process.read() == b"[... 11 bytes left out ...]\nthird"


async def test_each_has_a_name_of_its_own() -> None:
    assert Command().process.id != Command().process.id
