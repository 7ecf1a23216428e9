"""The promises of every memory, and of every tool, for this plugin."""

from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from hermes_core.kinds import Tool
from hermes_core.testing import MemoryContract, ToolContract


class TestVectorMemory(MemoryContract):
    module = "hermes_memory_vector"


class TestVectorSearch(ToolContract):
    module = "hermes_memory_vector"
    kind = "memory"
    arguments: ClassVar[Mapping[str, Any]] = {"query": "ticket"}


class TestVectorChange(ToolContract):
    module = "hermes_memory_vector"
    kind = "memory"
    arguments: ClassVar[Mapping[str, Any]] = {"action": "add", "text": "The build needs 4 GB."}
    failing_arguments: ClassVar[Mapping[str, Any]] = {"action": "add", "text": ""}

    @pytest.fixture
    def tool(self, contributed: Mapping[str, list[Any]]) -> Tool:
        return contributed["tools"][1]
