"""A program's test, without a model. Arguments: the model's URL and a folder, which it does not need."""

import sys

import pytest

TEST = '''
from hermes_core import tool
from hermes_core.testing import Call


@tool
async def weather() -> str:
    """Say what the weather is."""
    return "Rain."


async def test_the_model_is_told_what_the_tool_said(hermes, scripted):
    model = scripted(Call("weather"), "Take an umbrella.")
    hermes.tmp_plugin(model, weather)
    assert (await hermes.run("Do I need an umbrella?")).text == "Take an umbrella."
    (result,) = model.requests[1].messages[-1].parts
    assert result.parts[0].text == "Rain."
'''
file = f"{sys.argv[2]}/test_it.py"
with open(file, "w") as out:  # noqa: PTH123 - as short as the other one
    out.write(TEST)
raise SystemExit(
    pytest.main(["-q", "-p", "no:cacheprovider", "-o", "asyncio_mode=auto", "--rootdir", sys.argv[2], file])
)
