"""The promises of every tool, for peer."""

from collections.abc import Mapping
from typing import Any, ClassVar

from hermes_core.testing import ToolContract


class TestPeer(ToolContract):
    module = "hermes_tool_peers"
    arguments: ClassVar[Mapping[str, Any]] = {"action": "list"}
    failing_arguments: ClassVar[Mapping[str, Any]] = {"name": "nobody", "text": "hello"}
