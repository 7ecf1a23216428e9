"""The promises of every tool, for ask_agent, with an agent that is there."""

import asyncio
import threading
from typing import ClassVar

import pytest

from hermes_core.testing import ToolContract

from .remote import remote


@pytest.fixture(scope="module")
def beside():
    """The address of an agent in a thread of its own, as each of these tests has a loop of its own."""
    ready, found = threading.Event(), []

    async def serve():
        done = asyncio.Event()
        async with remote() as there:
            found.extend((there.url, there.loop, done))
            ready.set()
            await done.wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    ready.wait()
    yield found[0]
    found[1].call_soon_threadsafe(found[2].set)
    thread.join()


class TestAskAgent(ToolContract):
    module = "hermes_tool_a2a"
    arguments: ClassVar = {"name": "travel", "text": "Hello."}
    failing_arguments: ClassVar = {"name": "nobody", "text": "Hello."}

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def _there(cls, beside):
        cls.settings = {"agents": {"travel": {"url": beside}}}
