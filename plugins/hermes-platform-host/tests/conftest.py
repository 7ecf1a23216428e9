"""A home, a model, a host of that home as a person starts it, and terminals."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from hermes_core.testing.model_service import ModelService, http, model_service
from hermes_core.testing.protocol_replies import Said, SaidCall, events_of, stream_of
from hermes_front.wire import connect

HEAD = b"HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\n\r\n"
CONFIG = "model: {{provider: custom, base_url: '{url}', api_key: x, default: m}}\nterminal: {{backend: local}}\n"


class Terminal:
    """A terminal that is attached; what it shows is read as it comes."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process, self.shown = process, ""
        self._reading = [asyncio.create_task(self._read(one)) for one in (process.stdout, process.stderr)]

    async def _read(self, stream: Any) -> None:
        while data := await stream.read(4096):
            self.shown += data.decode()

    async def until(self, words: str) -> None:
        """Wait until it shows something."""
        try:
            async with asyncio.timeout(30):
                while words not in self.shown:
                    await asyncio.sleep(0.02)
        except TimeoutError:
            raise AssertionError(f"{words!r} is not in {self.shown!r}") from None

    def write(self, line: str) -> None:
        """Type a line."""
        assert self.process.stdin
        self.process.stdin.write(f"{line}\n".encode())

    async def leave(self) -> int:
        """End the input, as Ctrl+D does; the exit status."""
        assert self.process.stdin
        self.process.stdin.close()
        with contextlib.suppress(ProcessLookupError):
            await asyncio.wait_for(self.process.wait(), 30)
        await asyncio.gather(*self._reading)
        return self.process.returncode if self.process.returncode is not None else -1


class House:
    """A home whose model is on this machine."""

    def __init__(self, folder: Path, model: ModelService) -> None:
        self.home, self.work, self.model = folder / "home", folder / "work", model
        self.home.mkdir()
        self.work.mkdir()
        self.configure()
        kept = {k: v for k, v in os.environ.items() if not k.startswith("HERMES_")}
        self.env = {**kept, "HERMES_HOME": str(self.home), "HOME": str(folder)}
        self.host: asyncio.subprocess.Process | None = None

    @staticmethod
    def says(text: str) -> bytes:
        """A reply of this text."""
        return HEAD + stream_of("chat", events_of("chat", Said(pieces=[text])))

    @staticmethod
    def calls(command: str) -> bytes:
        """A reply that runs a command."""
        call = SaidCall(name="terminal", arguments=json.dumps({"command": command}))
        return HEAD + stream_of("chat", events_of("chat", Said(calls=[call])))

    @staticmethod
    def begun(text: str) -> bytes:
        """The beginning of a reply, and what was said of it so far."""
        return HEAD + stream_of("chat", events_of("chat", Said(pieces=[text]))[:2]).removesuffix(b"data: [DONE]\n\n")

    @staticmethod
    def piece(text: str) -> bytes:
        """A piece of a reply that began."""
        return stream_of("chat", events_of("chat", Said(pieces=[text]))[1:2]).removesuffix(b"data: [DONE]\n\n")

    @staticmethod
    def ends(text: str) -> bytes:
        """The end of a reply that began."""
        return stream_of("chat", events_of("chat", Said(pieces=[text]))[1:])

    @property
    def socket(self) -> Path:
        """Where the host listens."""
        return self.home / "data" / "platform-host" / "host.sock"

    def configure(self, more: str = "") -> None:
        """Write the settings."""
        (self.home / "config.yaml").write_text(CONFIG.format(url=self.model.url) + more)

    async def start(self, *words: str, options: Sequence[str] = (), **more: Any) -> asyncio.subprocess.Process:
        """Start the command as a person does."""
        pipe = asyncio.subprocess.PIPE
        given = {"stdin": asyncio.subprocess.DEVNULL, "stdout": pipe, "stderr": pipe, "cwd": self.work, "env": self.env}
        return await asyncio.create_subprocess_exec(
            sys.executable, *options, "-m", "hermes_core", *words, **{**given, **more}
        )

    async def hermes(self, *words: str, stdin: bytes | None = None, **more: Any) -> tuple[int, str, str]:
        """Run the command to its end: its exit status and what it wrote."""
        if stdin is not None:
            more["stdin"] = asyncio.subprocess.PIPE
        process = await self.start(*words, **more)
        out, err = await asyncio.wait_for(process.communicate(stdin), 60)
        assert process.returncode is not None
        return process.returncode, out.decode(), err.decode()

    async def attach(self, *words: str) -> Terminal:
        """A terminal that is attached."""
        return Terminal(await self.start("attach", *words, stdin=asyncio.subprocess.PIPE))

    async def talk(self, *words: str, **more: Any) -> Terminal:
        """A conversation on a terminal, behind a pipe."""
        return Terminal(await self.start("--cli", *words, stdin=asyncio.subprocess.PIPE, **more))

    async def open(self, *words: str, **more: Any) -> None:
        """Start the host, and wait until it listens."""
        self.host = await self.start(*(words or ("host", "run")), **more)
        async with asyncio.timeout(60):
            while not self.listens():
                assert self.host.returncode is None, await self.host.communicate()
                await asyncio.sleep(0.05)

    def listens(self) -> bool:
        """Whether a host answers; one that was killed leaves its socket there."""
        found = connect(str(self.socket), 1.0)
        if found:
            found.close()
        return found is not None

    async def close(self, number: int = signal.SIGTERM) -> None:
        """End the host."""
        if self.host and self.host.returncode is None:
            self.host.send_signal(number)
            await asyncio.wait_for(self.host.communicate(), 30)

    def asked(self) -> Sequence[str]:
        """What the model was last told, as the person's words."""
        return [one.body["messages"][-1]["content"] for one in self.model.asked if one.method == "POST"]


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    """A home without a host yet."""
    async with model_service("/v1") as model:
        listed = {"object": "list", "data": [{"id": "m", "object": "model"}]}
        model.by_path["/v1/models"] = http(200, json.dumps(listed))
        model.always = House.says("Nine o'clock.")
        made = House(tmp_path, model)
        yield made
        await made.close()
