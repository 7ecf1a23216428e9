"""The promises of every tool, for todo."""

from collections.abc import Mapping
from typing import Any, ClassVar

from hermes_core.testing import ToolContract

LONG = [{"id": str(number), "content": "x" * 4_000} for number in range(256)]


class TestTodo(ToolContract):
    module = "hermes_tool_todo"
    arguments: ClassVar[Mapping[str, Any]] = {"todos": [{"id": "1", "content": "Look", "status": "in_progress"}]}
    greedy_arguments: ClassVar[Mapping[str, Any]] = {"todos": LONG}
    failing_arguments: ClassVar[Mapping[str, Any]] = {
        "todos": [{"id": "nowhere", "status": "completed"}],
        "merge": True,
    }
