"""The promises of every tool, every provider that is a plugin's and every route, for schedules."""

from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from hermes_core.testing import RoutesContract, ToolContract


class TestCron(ToolContract):
    module = "hermes_tool_cron"
    arguments: ClassVar[Mapping[str, Any]] = {"action": "list"}
    failing_arguments: ClassVar[Mapping[str, Any]] = {"action": "pause", "job": "nothing"}


class TestJobs(RoutesContract):
    module = "hermes_tool_cron"

    @pytest.fixture
    def route(self, contributed):
        return contributed["routes"][0]
