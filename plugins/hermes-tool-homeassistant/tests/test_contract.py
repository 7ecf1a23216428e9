"""The contracts of tools and of the setup step, kept with a small home."""

import asyncio
import threading
from typing import ClassVar

import pytest

from hermes_core.testing import SetupContract, ToolContract

from .small_home import TOKEN, small_home


@pytest.fixture(scope="module")
def beside():
    """The address of a small home in a thread of its own, as each of these tests has a loop of its own."""
    ready, done, found = threading.Event(), None, []

    async def serve():
        nonlocal done
        done = asyncio.Event()
        async with small_home() as home:
            found.extend((home.url, asyncio.get_running_loop()))
            ready.set()
            await done.wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    ready.wait()
    yield found[0]
    found[1].call_soon_threadsafe(done.set)
    thread.join()


class OfAHome(ToolContract):
    module = "hermes_tool_homeassistant"
    secrets: ClassVar = {"HASS_TOKEN": TOKEN}
    name = ""

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def _there(cls, beside):
        cls.settings = {"url": beside}

    @pytest.fixture
    def tool(self, contributed):
        return next(tool for tool in contributed["tools"] if tool.name == self.name)


class TestListEntities(OfAHome):
    name = "ha_list_entities"


class TestGetState(OfAHome):
    name = "ha_get_state"
    arguments: ClassVar = {"entity_id": "light.desk"}
    failing_arguments: ClassVar = {"entity_id": "light.nowhere"}


class TestHistory(OfAHome):
    name = "ha_history"
    arguments: ClassVar = {"entity_id": "light.desk"}
    failing_arguments: ClassVar = {"entity_id": "light.nowhere"}


class TestListServices(OfAHome):
    name = "ha_list_services"
    arguments: ClassVar = {"domain": "light"}
    greedy_arguments: ClassVar = {"domain": ""}
    failing_arguments: ClassVar = {"domain": "nowhere"}


class TestCallService(OfAHome):
    name = "ha_call_service"
    arguments: ClassVar = {"domain": "light", "service": "turn_on", "entity_id": ["light.desk"]}
    failing_arguments: ClassVar = {"domain": "lock", "service": "unlock"}


class TestSetup(SetupContract):
    module = "hermes_tool_homeassistant"

    @pytest.fixture
    def good(self, beside):
        return {"url": beside, "token": TOKEN}

    @pytest.fixture
    def wrong(self, beside):
        return {"url": beside, "token": "some-other-token"}
