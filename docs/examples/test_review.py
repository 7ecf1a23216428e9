"""The tool without a kernel: what it orders, and what it makes of the answer."""

import review

from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import FakeToolContext, FakeWorkspace, plugin_context


async def test_the_reviewer_only_looks(tmp_path):
    ctx = plugin_context(read_manifest(review.__file__), tmp_path)
    ctx.turns.answers.append("Line 3 is wrong.")
    [tool] = review.register_tools(ctx)
    call = FakeToolContext(FakeWorkspace(folder=tmp_path))
    assert await tool.run(call, review.Review(path="a.py")) == "Line 3 is wrong."
    [turn] = ctx.turns.ordered
    assert turn.call is call
    assert turn.order.bounds.tools == ["files"]
