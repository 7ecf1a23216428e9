"""The promises of every tool, for delegate."""

from collections.abc import Mapping
from typing import Any, ClassVar

from hermes_core.testing import ToolContract


class TestDelegate(ToolContract):
    module = "hermes_tool_delegate"
    arguments: ClassVar[Mapping[str, Any]] = {"goal": "Count the words of README.md."}
    greedy_arguments: ClassVar[Mapping[str, Any]] = {"tasks": [{"goal": "x" * 100_000}] * 8}
    failing_arguments: ClassVar[Mapping[str, Any]] = {"goal": ""}
