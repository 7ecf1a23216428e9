import patience

from hermes_core.testing import Call


async def test_three_failures_are_enough(hermes, scripted):
    model = scripted(Call("open"), Call("opens"), Call("opened"))
    hermes.tmp_plugin(model)
    hermes.tmp_plugin(patience.next_step, patience.on_turn_end)
    answer = await hermes.run("Open the door.")
    assert answer.text == "I stopped. Three calls in a row failed."
    assert len(model.requests) == 3
