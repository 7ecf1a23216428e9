"""The promises of every tool, for ``look``."""

import pytest

from hermes_core.testing import ToolContract, plugin_context
from hermes_core.types import MediaResponse
from hermes_tool_vision.config import Config


class TestLook(ToolContract):
    module = "hermes_tool_vision"
    arguments = {"path": "cat.png", "question": "Which animal?"}
    failing_arguments = {"path": "notes.txt"}

    @pytest.fixture
    def context(self, manifest, tmp_path):
        replies = [MediaResponse(model="eyes", texts=["A cat."])] * 9
        return plugin_context(manifest, tmp_path / "home", config=Config(), replies=replies)

    @pytest.fixture(autouse=True)
    def picture(self, tmp_path, workspace):
        (tmp_path / "work" / "cat.png").write_bytes(b"\x89PNG")
