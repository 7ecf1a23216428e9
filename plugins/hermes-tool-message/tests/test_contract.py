"""The promises of every tool, for message."""

from collections.abc import Mapping
from typing import Any, ClassVar

from hermes_core.testing import ToolContract


class TestMessage(ToolContract):
    module = "hermes_tool_message"
    arguments: ClassVar[Mapping[str, Any]] = {"action": "targets"}
    greedy_arguments: ClassVar[Mapping[str, Any]] = {"target": "local", "text": "x" * 20_000}
    failing_arguments: ClassVar[Mapping[str, Any]] = {"target": "telegram:42", "text": "hello"}
