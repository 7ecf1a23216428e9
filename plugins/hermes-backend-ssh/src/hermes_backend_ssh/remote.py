"""One command over ssh: its output, and the lines about it that come back beside the output."""

import asyncio
import contextlib
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Sequence

from hermes_backend_ssh.connection import Problem
from hermes_core.errors import ToolError

LINGER = 0.4  # how long output may still come after the command over there ended
HEARD = 20_000  # bytes kept of what ssh itself says
CHUNK = 262_144


class Remote:
    """A running ssh. ``leader`` is the process over there, 0 until it is known; ``status`` what it came to.

    ``began`` is set once that, or that nothing will run, is known; ``state`` is what its shell said at its end.
    """

    def __init__(self, argv: Sequence[str], token: str, sink: Callable[[bytes], None]) -> None:
        self._argv = argv
        self._token = token.encode()
        self._sink = sink
        self._ended = asyncio.Event()
        self._process: Process | None = None
        self.began = asyncio.Event()
        self.state = b""
        self.leader = 0
        self.status: int | None = None
        self.no_folder = False
        self.said = b""

    async def run(self, stdin: bytes | None) -> None:
        """Run to the end; afterwards ``status`` is None if ssh failed before the command ended. Raises Problem.

        ``stdin`` None leaves the input open for ``write``.
        """
        given = DEVNULL if stdin == b"" else PIPE
        try:
            process = await asyncio.create_subprocess_exec(
                *self._argv, stdin=given, stdout=PIPE, stderr=PIPE, start_new_session=True
            )
        except FileNotFoundError as error:
            raise Problem("ssh is not installed.", "Install the OpenSSH client.") from error
        except OSError as error:
            raise Problem(f"ssh cannot be started: {error}.") from error
        self._process = process
        try:
            await self._talk(process, stdin)
        finally:
            self.began.set()
            # The shared connection holds our pipes as long as the command over there lives, and asyncio's wait() waits
            # for pipes as well: so they are closed first, which also kills ssh.
            process._transport.close()  # type: ignore[attr-defined]
            await process.wait()

    async def write(self, data: bytes) -> None:
        """Send to its input, which was left open. Raises ToolError once it takes no more."""
        stdin = self._process.stdin if self._process else None
        if stdin is None or stdin.is_closing() or self._ended.is_set():
            raise ToolError("The process takes no more input.")
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            stdin.write(data)
            await stdin.drain()

    async def _talk(self, process: Process, stdin: bytes | None) -> None:
        async with asyncio.TaskGroup() as group:
            output = group.create_task(self._output(process))
            beside = group.create_task(self._beside(process))
            feeding = group.create_task(self._feed(process, stdin))
            leaving = group.create_task(process.wait())
            ended = group.create_task(self._ended.wait())
            await asyncio.wait({leaving, ended}, return_when=asyncio.FIRST_COMPLETED)
            # What outlives the command keeps the channel open; its output is not worth waiting for.
            await asyncio.wait({output, beside, leaving}, timeout=LINGER)
            for task in (output, beside, feeding, leaving, ended):
                task.cancel()

    async def _output(self, process: Process) -> None:
        assert process.stdout
        while data := await process.stdout.read(CHUNK):
            self._sink(data)

    async def _beside(self, process: Process) -> None:
        assert process.stderr
        while line := await _line(process.stderr):
            if line.startswith(self._token + b" "):
                self._note(words := line[len(self._token) + 1 :].split())
                if words[:1] == [b"state"] and len(words) == 2 and words[1].isdigit() and len(words[1]) < 7:
                    self.state = await process.stderr.readexactly(int(words[1]))
            elif len(self.said) < HEARD:
                self.said += line

    def _note(self, words: Sequence[bytes]) -> None:
        match words:  # the command can find out the token, and write anything beside its output
            case [b"start", leader] if leader.isdigit() and len(leader) < 20:
                self.leader = int(leader)
            case [b"nofolder"]:
                self.no_folder = True
                self.began.set()
            case [b"ready"]:
                self.began.set()
            case [b"end", status] if status.isdigit() and len(status) < 4:
                self.status = int(status)
                self._ended.set()

    @staticmethod
    async def _feed(process: Process, stdin: bytes | None) -> None:
        if not process.stdin or stdin is None:
            return
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            process.stdin.write(stdin)
            await process.stdin.drain()
        process.stdin.close()


async def _line(stream: asyncio.StreamReader) -> bytes:
    try:
        return await stream.readline()
    except ValueError:  # a line longer than the reader's buffer: nothing we wrote
        return b"\n"
