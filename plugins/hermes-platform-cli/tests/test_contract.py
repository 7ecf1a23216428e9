"""The contract of platforms, kept with a pipe at the far end and with a terminal."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from hermes_core.testing import FakeService, PlatformContract
from hermes_platform_cli.config import Config
from hermes_platform_cli.platform import Cli
from hermes_platform_cli.streams import Streams

CODES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\r")


class Written(StringIO):
    """A stream that remembers each write."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[str] = []

    def write(self, text: str) -> int:
        self.writes.append(text)
        return len(text)


class Pipe(FakeService):
    def __init__(self) -> None:
        read, self._write = os.pipe()
        self.stdin = os.fdopen(read)
        self.out = Written()
        self.streams = Streams(stdin=self.stdin, stdout=self.out, stderr=self.out, environ={"TERM": "dumb"})

    async def say(self, text: str, *, sender: str = "someone") -> None:
        os.write(self._write, f"{text}\n".encode())

    async def seen(self) -> Sequence[str]:
        return [text.rstrip("\n") for text in self.out.writes if text.strip()]

    def close(self) -> None:
        os.close(self._write)
        self.stdin.close()


class Person(FakeService):
    def __init__(self, keys: PipeInput) -> None:
        self.keys = keys
        self.out = Written()
        self.streams = Streams(stdin=StringIO(), stdout=self.out, stderr=self.out, environ={"TERM": "xterm"})

    async def say(self, text: str, *, sender: str = "someone") -> None:
        self.keys.send_text(f"{text}\r")

    async def seen(self) -> Sequence[str]:
        shown = [CODES.sub("", text).strip("\n") for text in self.out.writes]
        return [text for text in shown if text and not re.match(r"\s*[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]", text)]


class TestPiped(PlatformContract):
    module = "hermes_platform_cli"

    @pytest.fixture
    def service(self) -> Iterator[Pipe]:
        pipe = Pipe()
        yield pipe
        pipe.close()

    @pytest.fixture
    def platform(self, contributed: Mapping[str, list[Any]], service: Pipe, tmp_path: Path) -> Cli:
        return Cli(Config(), tmp_path, streams=service.streams)


class TestTyped(PlatformContract):
    module = "hermes_platform_cli"

    @pytest.fixture
    def service(self) -> Iterator[Person]:
        with create_pipe_input() as keys:
            yield Person(keys)

    @pytest.fixture
    def platform(self, contributed: Mapping[str, list[Any]], service: Person, tmp_path: Path) -> Cli:
        config = Config(banner=False)
        return Cli(config, tmp_path, streams=service.streams, source=service.keys, sink=DummyOutput())
