"""An answer of a type: what does not fit is asked for anew, and is no part of the conversation."""

from dataclasses import dataclass

from hermes_agent import typed


@dataclass
class City:
    name: str
    people: int


async def test_the_answer_is_a_city(hermes, scripted):
    hermes.tmp_plugin(scripted("Oslo!", '{"name": "Oslo", "people": 717710}'))
    answer = await typed.run(hermes, "Which city has the Munch museum?", session="trip", returns=City)
    assert answer.value == City("Oslo", 717710)
    assert answer.usage
    assert answer.usage.calls == 2
    past = await hermes.sessions.past(hermes.owner, "trip")
    assert [len(message.parts) for message in past] == [1, 1]
