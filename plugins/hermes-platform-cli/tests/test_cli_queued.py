"""The whole program at a terminal: what is typed while it answers has its turn, and its answer is shown by itself."""

import asyncio
import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.long
PATIENCE = 60.0


class Model:
    """A service of OpenAI's protocol whose answer to what is slow comes word by word, and goes on when it may."""

    def __init__(self) -> None:
        self.url, self.go = "", asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        size = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-len"))
        asked = json.loads(await reader.readexactly(size))["messages"][-1]["content"]
        asked = asked if isinstance(asked, str) else "".join(part.get("text", "") for part in asked)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
        slow = asked.rstrip().endswith("slow")
        for word in ("answer ", "to ", "slow." if slow else "quick."):
            writer.write(piece({"content": word}))
            await writer.drain()
            if slow and word == "answer ":
                await self.go.wait()
        writer.write(piece({}, "stop") + b"data: [DONE]\n\n")
        await writer.drain()
        writer.close()


def piece(delta: dict[str, str], reason: str | None = None) -> bytes:
    event = {"id": "1", "object": "chat.completion.chunk"}
    choices = [{"index": 0, "delta": delta, "finish_reason": reason}]
    return f"data: {json.dumps({**event, 'choices': choices})}\n\n".encode()


@pytest.fixture
async def model() -> AsyncIterator[Model]:
    made = Model()
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    yield made
    server.close()


class Terminal:
    """A terminal in which the program runs."""

    def __init__(self, words: list[str], environ: dict[str, str], folder: Path) -> None:
        self._end, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        ends = {"stdin": other, "stdout": other, "stderr": other}
        self._process = subprocess.Popen(words, env=environ, cwd=folder, start_new_session=True, **ends)
        os.close(other)
        os.set_blocking(self._end, False)
        self._shown = b""

    async def until(self, wanted: str) -> None:
        """Wait until it shows something behind what was waited for before."""
        async with asyncio.timeout(PATIENCE):
            while wanted.encode() not in self._shown:
                try:
                    self._shown += os.read(self._end, 65_536)
                except BlockingIOError:
                    await asyncio.sleep(0.02)
        self._shown = self._shown.partition(wanted.encode())[2]

    def type(self, text: str) -> None:
        os.write(self._end, text.encode())

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._end)


@pytest.fixture
def terminal(model: Model, tmp_path: Path) -> Iterator[Terminal]:
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    (home / "config.yaml").write_text(
        f"model: {{provider: here, default: any}}\nproviders: {{here: {{base_url: '{model.url}', key_env: KEY}}}}\n"
    )
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "HERMES_HOME": str(home), "KEY": "k"}
    environ |= {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "PROMPT_TOOLKIT_NO_CPR": "1"}
    made = Terminal([sys.executable, "-m", "hermes_core", "--cli"], environ, work)
    yield made
    made.close()


async def test_what_is_typed_while_it_answers_is_answered_without_another_word(
    model: Model, terminal: Terminal
) -> None:
    await terminal.until("❯")
    terminal.type("slow\r")
    await terminal.until("answer")
    terminal.type("quick\r")
    await terminal.until("Queued")
    model.go.set()
    await terminal.until("slow.")
    await terminal.until("answer to quick.")
    await terminal.until("❯")
