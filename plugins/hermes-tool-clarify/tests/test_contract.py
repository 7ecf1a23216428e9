"""The promises of every tool, for clarify."""

from collections.abc import Mapping
from typing import Any, ClassVar

from hermes_core.testing import ToolContract


class TestClarify(ToolContract):
    module = "hermes_tool_clarify"
    arguments: ClassVar[Mapping[str, Any]] = {"question": "Which color?", "choices": ["red", "blue"]}
    greedy_arguments: ClassVar[Mapping[str, Any]] = {"question": "?" * 4_000, "choices": ["x" * 200] * 4}
    failing_arguments: ClassVar[Mapping[str, Any]] = {"question": "   "}
