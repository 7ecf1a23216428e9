"""A gate in a whole kernel: what it forbids is not run, and the model is told why."""

from hermes_core import hookimpl, tool
from hermes_core.testing import Call
from hermes_core.types import Verdict


@tool
async def ring() -> str:
    """Ring the bell."""
    return "It rang."


@hookimpl
async def pre_tool_call(call):
    return Verdict(outcome="deny", reason="it is late") if call.name == "ring" else None


async def test_what_a_gate_forbids_is_not_run(hermes, scripted):
    model = scripted(Call("ring"), "I may not.")
    hermes.tmp_plugin(model, ring)
    hermes.tmp_plugin(pre_tool_call)
    await hermes.run("Ring the bell.")
    (result,) = model.requests[1].messages[-1].parts
    assert result.failed
    assert "it is late" in result.parts[0].text
