"""A turn that is sent on: the reason is the next thing that the model is told."""

from hermes_core import hookimpl
from hermes_core.types import Verdict


@hookimpl
async def may_end(answer):
    return None if "tested" in answer else Verdict(outcome="deny", reason="run the tests")


async def test_a_turn_does_not_end_before_its_tests_ran(hermes, scripted):
    model = scripted("It should work.", "It works, and is tested.")
    hermes.tmp_plugin(model)
    hermes.tmp_plugin(may_end, name="tests-first")
    said = await hermes.run("Mend it.")
    assert said.text == "It works, and is tested."
    assert "run the tests" in model.requests[1].messages[-1].parts[0].text
