"""The notebook keeps the contract of tools; its tables are its own."""

from typing import ClassVar

from hermes_core.testing import ToolContract


class TestNotebook(ToolContract):
    module = "hermes_tool_notebook"
    arguments: ClassVar = {"text": "milk"}
