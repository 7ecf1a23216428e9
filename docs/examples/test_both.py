"""The tool without a kernel: what it calls, and what it makes of the answers."""

import both
import pytest

from hermes_core.errors import ToolError
from hermes_core.testing import FakeToolContext, FakeWorkspace


async def test_what_was_read_is_compared():
    context = FakeToolContext(FakeWorkspace(), answers={"read_file": "the same"})
    assert await both.compare.run(context, both.Two(one="a", other="b")) == "They are the same."
    assert [dict(call.arguments) for call in context.called] == [{"path": "a"}, {"path": "b"}]


async def test_what_cannot_be_read_is_said():
    context = FakeToolContext(FakeWorkspace(), answers={"read_file": ToolError("There is no file a.")})
    with pytest.raises(ToolError, match="a could not be read: There is no file a"):
        await both.compare.run(context, both.Two(one="a", other="b"))
