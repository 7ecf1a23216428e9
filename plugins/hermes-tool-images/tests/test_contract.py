"""The promises of every tool, for ``draw``, and what it writes."""

from pathlib import Path

import pytest

import hermes_tool_images
from hermes_core.errors import ToolError
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import FakeToolContext, FakeWorkspace, ToolContract, plugin_context
from hermes_core.types import Blob, MediaResponse
from hermes_tool_images.tool import Draw, draw_tool

MADE = MediaResponse(model="brush", blobs=[Blob(media_type="image/png", data=b"\x89PNG")])


class TestDraw(ToolContract):
    module = "hermes_tool_images"
    arguments = {"prompt": "A cat, as a woodcut.", "begin_with": ["cat.png"]}
    failing_arguments = {"prompt": "A cat.", "begin_with": ["cat.txt"]}

    @pytest.fixture
    def context(self, manifest, tmp_path):
        return plugin_context(manifest, tmp_path / "home", replies=[MADE] * 9)

    @pytest.fixture(autouse=True)
    def picture(self, tmp_path, workspace):
        (tmp_path / "work" / "cat.png").write_bytes(b"\x89PNG")


async def test_a_picture_lies_where_it_says(tmp_path) -> None:
    manifest = read_manifest(Path(hermes_tool_images.__file__).with_name("hermes-plugin.toml"))
    draw = draw_tool(plugin_context(manifest, tmp_path / "home", replies=[MADE]))
    context = FakeToolContext(FakeWorkspace(folder=tmp_path))
    assert await draw.run(context, Draw(prompt="A cat.", path="art/cat")) == "Written: art/cat.png"
    assert (tmp_path / "art" / "cat.png").read_bytes() == b"\x89PNG"
    with pytest.raises(ToolError, match="Nobody could draw it"):
        await draw.run(context, Draw(prompt="A cat."))
    with pytest.raises(ToolError, match="Nothing says what to draw"):
        await draw.run(context, Draw(prompt=" "))
