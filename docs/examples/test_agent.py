"""A program that embeds Hermes, tested without a model: the script says what the model would."""

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
