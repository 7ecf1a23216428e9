"""The tool contract, kept with a real browser."""

from typing import ClassVar

import pytest

from hermes_core.testing import ToolContract

pytestmark = [pytest.mark.real, pytest.mark.timeout(180)]


class TestTabsOfABrowser(ToolContract):
    module = "hermes_tool_browser"
    arguments: ClassVar = {"action": "list"}
    greedy_arguments: ClassVar = {"action": "list"}
    failing_arguments: ClassVar = {"action": "select", "tab": 77}

    @pytest.fixture
    def tool(self, contributed):
        return next(tool for tool in contributed["tools"] if tool.name == "browser_tabs")
