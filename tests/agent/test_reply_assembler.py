"""Replies that are no answer yet: asked for again, gone on with, never half run."""

from attrs import frozen

from hermes_core.kinds import tool
from hermes_core.testing import Say
from hermes_core.types import (
    CallDelta,
    Done,
    Ended,
    Failed,
    Returned,
    Text,
    TextDelta,
    Usage,
    UsageDelta,
)


@frozen
class Words:
    text: str = ""


@tool(touches=lambda _words: ())
async def shout(words: Words) -> str:
    """Shout."""
    return words.text.upper()


async def play(hermes):
    return [event async for event in hermes.turn("go", session="s")]


def roles(request) -> list[str]:
    return [m.role for m in request.messages]


async def test_an_empty_reply_is_nudged_and_roles_alternate(hermes, scripted) -> None:
    provider = scripted("", "", "here")
    hermes.tmp_plugin(provider)
    assert (await play(hermes))[-1].answer == "here"
    assert [roles(r) for r in provider.requests] == [["system", "user"]] * 3
    assert "was empty" in provider.requests[2].messages[-1].parts[-1].text
    stored = await (await hermes.runtime.store()).history.load("s")
    assert [m.parts for m in stored] == [(Text(text="go"),), (Text(text="here"),)]


async def test_mere_thoughts_are_asked_for_their_answer(hermes, scripted) -> None:
    provider = scripted(Say("", thinking="hm"), Say("", thinking="hm"), "so")
    hermes.tmp_plugin(provider)
    assert (await play(hermes))[-1].answer == "so"
    assert "said nothing" in provider.requests[1].messages[-1].parts[-1].text


async def test_a_model_that_only_thinks_is_told(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted(*[Say("", thinking="hm")] * 3))
    assert "only thought" in next(e for e in await play(hermes) if isinstance(e, Failed)).text


async def test_a_cut_reply_is_gone_on_with_and_stored_as_one(hermes, scripted) -> None:
    provider = scripted([TextDelta(text="Once upon "), Done(reason="length")], "a time.")
    hermes.tmp_plugin(provider)
    ended = (await play(hermes))[-1]
    assert isinstance(ended, Ended)
    assert (ended.answer, ended.note) == ("Once upon a time.", "")
    assert roles(provider.requests[1]) == ["system", "user", "assistant", "user"]
    stored = await (await hermes.runtime.store()).history.load("s")
    assert stored[-1].parts == (Text(text="Once upon a time."),)


async def test_a_call_that_was_cut_is_never_run(hermes, scripted) -> None:
    whole = [CallDelta(index=0, id="a", name="shout", arguments='{"text": "a"}')]
    half = CallDelta(index=1, id="b", name="shout", arguments='{"text": "b')
    hermes.tmp_plugin(scripted([*whole, half, Done(reason="length")], "ok"))
    hermes.tmp_plugin(shout)
    first, second = [e.result for e in await play(hermes) if isinstance(e, Returned)]
    assert not first.failed
    assert second.failed
    assert "length limit" in second.parts[0].text


async def test_a_call_cut_before_its_arguments_is_never_run(hermes, scripted) -> None:
    cut = [CallDelta(index=0, id="b", name="shout"), Done(reason="length")]
    hermes.tmp_plugin(scripted(cut, "ok"))
    hermes.tmp_plugin(shout)
    [result] = [e.result for e in await play(hermes) if isinstance(e, Returned)]
    assert result.failed
    assert "length limit" in result.parts[0].text


async def test_what_a_model_means_to_do_is_an_answer(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted("I will now look at the file."))
    hermes.tmp_plugin(shout)
    assert (await play(hermes))[-1].answer == "I will now look at the file."


async def test_the_usage_of_all_tries_is_counted(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted([UsageDelta(usage=Usage(input=5, calls=1)), Done(reason="stop")], "x"))
    assert (await play(hermes))[-1].usage.calls == 2
