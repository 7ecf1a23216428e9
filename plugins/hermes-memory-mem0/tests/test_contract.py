"""The promises of every memory, and of every tool, for mem0 as it is, with models that stand in."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest
from attrs import evolve

from hermes_core.kinds import Memory, Tool
from hermes_core.testing import MemoryContract, ToolContract
from hermes_memory_kit.tool import memory_tools
from hermes_memory_mem0.memory import Mem0Memory

sys.path.insert(0, str(Path(__file__).parent))  # pytest does not do it in this import mode

from stand_in import StandIn


def made(context) -> Mem0Memory:
    return Mem0Memory(evolve(context, llm=StandIn()))


@pytest.mark.long  # half a second each: its library, its index and its model, made anew
class TestMem0Memory(MemoryContract):
    module = "hermes_memory_mem0"

    @pytest.fixture
    def memory(self, context) -> Memory:
        return made(context)


class TestMem0Search(ToolContract):
    module = "hermes_memory_mem0"
    kind = "memory"
    arguments: ClassVar[Mapping[str, Any]] = {"query": "ticket"}

    @pytest.fixture
    def tool(self, context) -> Tool:
        return memory_tools(made(context))[0]


class TestMem0Change(ToolContract):
    module = "hermes_memory_mem0"
    kind = "memory"
    arguments: ClassVar[Mapping[str, Any]] = {"action": "add", "text": "The build needs 4 GB."}
    failing_arguments: ClassVar[Mapping[str, Any]] = {"action": "add", "text": ""}

    @pytest.fixture
    def tool(self, context) -> Tool:
        return memory_tools(made(context))[1]
