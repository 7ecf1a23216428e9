"""The promises of every tool, for other agents."""

import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest

from hermes_core.testing import ToolContract

from .place import Place

AGENT = str(Path(__file__).with_name("fake_agent.py"))


class TestAgent(ToolContract):
    module = "hermes_tool_agents"
    settings: ClassVar[Any] = {"known": {"fake": {"command": sys.executable, "args": [AGENT]}}}
    arguments: ClassVar[Any] = {"agent": "fake", "task": "hello"}
    greedy_arguments: ClassVar[Any] = {"agent": "fake", "task": "x" * 500_000}
    failing_arguments: ClassVar[Any] = {"agent": "nobody", "task": "hello"}

    @pytest.fixture
    def workspace(self, tmp_path: Path) -> Place:
        (tmp_path / "place").mkdir()
        return Place(tmp_path / "place")
