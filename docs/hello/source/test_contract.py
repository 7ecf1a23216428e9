"""The folder of tools keeps the contract of sources, and a tool of it that of tools."""

import json
from typing import ClassVar

import pytest

from hermes_core.testing import ToolContract, ToolSourceContract

GREET = {
    "description": "Greet somebody by name.",
    "schema": {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]},
    "answer": "Hello, {to}!",
}


@pytest.fixture
def greet(context):
    context.paths.data.joinpath("greet.json").write_text(json.dumps(GREET))


@pytest.mark.usefixtures("greet")
class TestCanned(ToolSourceContract):
    module = "hermes_tool_canned"


class TestGreet(ToolContract):
    module = "hermes_tool_canned"
    arguments: ClassVar = {"to": "Ada"}

    @pytest.fixture
    def tool(self, greet, contributed, tool_context):
        (source,) = contributed["tool_sources"]
        return next(iter(source.tools(tool_context.session)))
