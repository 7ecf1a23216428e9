"""The promises of every memory, and of every tool, by Honcho's SDK and a server that answers as Honcho does."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest
from attrs import evolve

from hermes_core.kinds import Memory, Tool
from hermes_core.testing import MemoryContract, ToolContract
from hermes_core.types import Effect
from hermes_memory_honcho.config import Config
from hermes_memory_honcho.memory import HonchoMemory
from hermes_memory_kit.tool import memory_tools

sys.path.insert(0, str(Path(__file__).parent))  # pytest does not do it in this import mode

from honcho_server import Server


@pytest.fixture
def server():
    made = Server(key="")
    yield made
    made.close()


@pytest.fixture
def memory(context, server) -> HonchoMemory:
    return HonchoMemory(evolve(context, config=Config(base_url=server.url, near=0.15)))


class TestHonchoMemory(MemoryContract):
    module = "hermes_memory_honcho"

    @pytest.fixture
    def memory(self, context, server) -> Memory:
        return HonchoMemory(evolve(context, config=Config(base_url=server.url, near=0.0)))


class TestHonchoSearch(ToolContract):
    module = "hermes_memory_honcho"
    kind = "memory"
    arguments: ClassVar[Mapping[str, Any]] = {"query": "ticket"}

    @pytest.fixture
    def tool(self, memory) -> Tool:
        return memory_tools(memory, Effect.NETWORK)[0]


class TestHonchoChange(ToolContract):
    module = "hermes_memory_honcho"
    kind = "memory"
    arguments: ClassVar[Mapping[str, Any]] = {"action": "add", "text": "The build needs 4 GB."}
    failing_arguments: ClassVar[Mapping[str, Any]] = {"action": "add", "text": ""}

    @pytest.fixture
    def tool(self, memory) -> Tool:
        return memory_tools(memory, Effect.NETWORK)[1]
