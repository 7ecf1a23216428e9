"""The promises of every tool, for peer, and of every route, for rooms."""

from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from hermes_core.testing import RoutesContract, ToolContract


class TestPeer(ToolContract):
    module = "hermes_tool_peers"
    arguments: ClassVar[Mapping[str, Any]] = {"action": "list"}
    failing_arguments: ClassVar[Mapping[str, Any]] = {"name": "nobody", "text": "hello"}


class TestRooms(RoutesContract):
    module = "hermes_tool_peers"

    @pytest.fixture
    def route(self, contributed: Any) -> Any:
        return contributed["routes"][0]
