"""A home with a scripted model, and editors that start an agent in it."""

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from hermes_core.testing.model_service import ModelService, http, model_service
from hermes_core.testing.protocol_replies import Said, SaidCall, events_of, stream_of

from .editor import Editor

HEAD = b"HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\n\r\n"
CONFIG = """\
model: {{provider: custom, base_url: '{url}', api_key: x, default: m}}
terminal: {{backend: local}}
"""


class House:
    """A home whose model is on this machine, and a folder that is worked in."""

    def __init__(self, folder: Path, model: ModelService) -> None:
        self.home, self.work, self.model = folder / "home", folder / "work", model
        self.home.mkdir()
        self.work.mkdir()
        self.configure()
        kept = {k: v for k, v in os.environ.items() if not k.startswith("HERMES_")}
        self.env = {**kept, "HERMES_HOME": str(self.home), "HOME": str(folder)}
        self.editors: list[Editor] = []

    def configure(self, more: str = "") -> None:
        """Write the settings."""
        (self.home / "config.yaml").write_text(CONFIG.format(url=self.model.url) + more)

    async def editor(self, version: int = 1, *words: str, **abilities: Any) -> Editor:
        """Start one."""
        made = Editor(self.env, self.work, version)
        self.editors.append(made)
        await made.start(*words, **abilities)
        return made

    def script(self, *replies: bytes) -> None:
        """Say what the model answers next."""
        self.model.script += replies


def says(*pieces: str, thinking: str = "") -> bytes:
    """A reply of this text."""
    events = events_of("chat", Said(pieces=pieces))
    if thinking:
        first = events[1]["choices"][0]
        delta = {**first, "delta": {"reasoning_content": thinking}}
        events.insert(1, {**events[1], "choices": [delta]})
    return HEAD + stream_of("chat", events)


def calls(tool: str, **arguments: Any) -> bytes:
    """A reply that calls a tool."""
    return HEAD + stream_of(
        "chat", events_of("chat", Said(calls=[SaidCall(name=tool, arguments=json.dumps(arguments))]))
    )


def begun(text: str) -> bytes:
    """The beginning of a reply that never ends."""
    return HEAD + stream_of("chat", events_of("chat", Said(pieces=[text]))[:2]).removesuffix(b"data: [DONE]\n\n")


async def hangs(writer: asyncio.StreamWriter) -> None:
    """A reply that begins and does not go on."""
    writer.write(begun("Well,"))
    await writer.drain()
    await asyncio.sleep(3600)


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    """A home without anybody in it yet."""
    async with model_service("/v1") as model:
        listed = {"object": "list", "data": [{"id": "m", "object": "model"}, {"id": "n", "object": "model"}]}
        model.by_path["/v1/models"] = http(200, json.dumps(listed))
        model.always = says("Nine", " o'clock.")
        made = House(tmp_path, model)
        yield made
        for one in made.editors:
            with contextlib.suppress(ProcessLookupError):
                await one.stop()


@pytest.fixture(params=[1, 2])
def version(request: pytest.FixtureRequest) -> int:
    """Each version of the protocol."""
    return int(request.param)
