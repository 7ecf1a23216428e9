"""The same call made twice in one reply."""

from attrs import frozen

from hermes_core.kinds import tool
from hermes_core.testing import Call
from hermes_core.types import Returned, Text


@frozen
class Words:
    text: str = ""


async def test_what_only_looks_runs_once_for_the_same_call_of_one_reply(hermes, scripted) -> None:
    ran = []

    @tool(idempotent=True, touches=lambda _: ())
    async def look(words: Words) -> str:
        """Look."""
        ran.append(words.text)
        return f"saw {words.text}"

    same = [Call("look", {"text": "a"}), Call("look", {"text": "b"}), Call("look", {"text": "a"})]
    hermes.tmp_plugin(scripted(same, "done"))
    hermes.tmp_plugin(look)
    events = [event async for event in hermes.turn("go", session="s")]
    assert sorted(ran) == ["a", "b"]
    assert [
        "".join(p.text for p in e.result.parts if isinstance(p, Text)) for e in events if isinstance(e, Returned)
    ] == ["saw a", "saw b", "saw a"]
    history = await (await hermes.runtime.store()).history.tool_calls(hermes.runtime.owner)
    assert [(e.outcome, e.output) for e in history] == [("ok", "saw a"), ("ok", "saw b"), ("ok", "saw a")]
