"""The promises of every tool, for recall."""

from collections.abc import Mapping
from typing import Any, ClassVar

from hermes_core.testing import ToolContract


class TestRecall(ToolContract):
    module = "hermes_tool_recall"
    arguments: ClassVar[Mapping[str, Any]] = {"query": "cats"}
    greedy_arguments: ClassVar[Mapping[str, Any]] = {"query": "cats", "limit": 10, "window": 20}
    failing_arguments: ClassVar[Mapping[str, Any]] = {"session": "no such session"}
