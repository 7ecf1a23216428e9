"""The promises of every memory, and of every tool, for this plugin."""

from collections.abc import Mapping
from typing import Any, ClassVar

from hermes_core.testing import MemoryContract, ToolContract


class TestFilesMemory(MemoryContract):
    module = "hermes_memory_files"


class TestMemoryTool(ToolContract):
    module = "hermes_memory_files"
    kind = "memory"
    arguments: ClassVar[Mapping[str, Any]] = {"action": "add", "text": "The build needs 4 GB."}
    failing_arguments: ClassVar[Mapping[str, Any]] = {"action": "remove", "old": "no such entry"}
