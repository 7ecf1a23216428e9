"""The promises of every tool, for what is shared."""

from collections.abc import Mapping
from typing import Any, ClassVar

from hermes_core.testing import ToolContract


class TestShared(ToolContract):
    module = "hermes_tool_shared"
    arguments: ClassVar[Mapping[str, Any]] = {"memory": ""}
    failing_arguments: ClassVar[Mapping[str, Any]] = {"memory": "nowhere"}
