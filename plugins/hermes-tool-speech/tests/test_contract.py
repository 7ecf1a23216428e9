"""The promises of every tool, for ``speak``."""

import pytest

from hermes_core.testing import ToolContract, plugin_context
from hermes_core.types import Blob, MediaResponse
from hermes_tool_speech.config import Config


class TestSpeak(ToolContract):
    module = "hermes_tool_speech"
    arguments = {"text": "Good morning."}
    failing_arguments = {"text": " "}

    @pytest.fixture
    def context(self, manifest, tmp_path):
        replies = [MediaResponse(model="voice", blobs=[Blob(media_type="audio/mpeg", data=b"ID3")])] * 9
        return plugin_context(manifest, tmp_path / "home", config=Config(), replies=replies)
