"""Plugins may change an answer: every way out shows what they made of it, and nothing of it before it is whole."""

import asyncio

from hermes_core.agent.turn_origin import TurnOrigin
from hermes_core.hooks import hookimpl
from hermes_core.kinds import tool
from hermes_core.types import Blob, CallDelta, Called, Done, Ended, Message, Noticed, Said, Text, TextDelta, Verdict


def signed(hermes, *steps, scripted, change=lambda text: f"{text} (signed)"):
    @hookimpl
    async def transform_outgoing(session, message):
        if session.id != "s":
            raise AssertionError(session)
        return Message(role="assistant", parts=(Text(text=change(message.parts[0].text)),))

    @tool
    async def look() -> str:
        """Look."""
        return "seen"

    provider = scripted(*steps)
    hermes.tmp_plugin(provider, look)
    hermes.tmp_plugin(transform_outgoing, name="seal")
    hermes.configure({"policy.mode": "off"})
    hermes._options["strict"] = False
    return provider


async def play(hermes):
    return [event async for event in hermes.turn("go", session="s")]


async def test_what_is_shown_is_what_the_plugin_made_and_what_was_said_stays(hermes, scripted) -> None:
    signed(hermes, "one two three", scripted=scripted)
    events = await play(hermes)
    assert [e.text for e in events if isinstance(e, Said)] == ["one two three (signed)"]
    assert isinstance(events[-1], Ended)
    assert events[-1].answer == "one two three (signed)"
    stored = await (await hermes.runtime.store()).history.load("s")
    assert stored[-1].parts == (Text(text="one two three"),)


async def test_words_before_a_call_are_no_answer(hermes, scripted) -> None:
    words = [
        TextDelta(text="let me look"),
        CallDelta(index=0, id="1", name="look", arguments="{}"),
        Done(reason="tools"),
    ]
    signed(hermes, words, "seen it", scripted=scripted)
    events = [e for e in await play(hermes) if isinstance(e, Said | Called)]
    assert "".join(e.text for e in events[: [type(e) for e in events].index(Called)]) == "let me look"
    assert events[-1] == Said(text="seen it (signed)")


async def test_one_that_falls_changes_nothing(hermes, scripted) -> None:
    signed(hermes, "whole", "again", scripted=scripted, change=lambda _: 1 / 0)
    events = await play(hermes)
    assert [e.text for e in events if isinstance(e, Said)] == ["whole"]
    assert events[-1].answer == "whole"
    assert "tool/seal" in {fault.plugin for fault in hermes.runtime.dispatch.faults}
    (notice,) = [e.text for e in events if isinstance(e, Noticed)]
    assert notice == "tool/seal did not change the answer: ZeroDivisionError: division by zero"
    assert not [e for e in [event async for event in hermes.turn("again", session="s")] if isinstance(e, Noticed)]


async def test_an_answer_that_breaks_off_is_not_shown_in_part(hermes, scripted) -> None:
    signed(hermes, "one two three four five six", scripted=scripted, change=str.upper)
    seen = []
    turn = hermes.turn("go", session="s")
    async for event in turn:
        seen.append(event)
        if type(event).__name__ == "Started":
            asyncio.get_running_loop().call_soon(hermes.runtime.turns.interrupt, "s")
    assert [e for e in seen if isinstance(e, Said)] == []
    assert seen[-1].reason == "interrupted"


async def test_without_such_a_plugin_words_come_as_they_come(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted("one two three"))
    hermes.configure({"policy.mode": "off"})
    said = [e.text for e in await play(hermes) if isinstance(e, Said)]
    assert len(said) > 1
    assert "".join(said) == "one two three"


def adding(hermes, *steps, scripted=None, outcome="allow", text=" (more)", parts=()):
    """A plugin that says whether words may be shown as they come, and adds to the answer."""

    @hookimpl
    async def may_stream(session):
        return outcome(session) if callable(outcome) else Verdict(outcome=outcome)

    @hookimpl
    async def transform_outgoing(message):
        said = message.parts[0].text
        return Message(role="assistant", parts=(Text(text=text(said) if callable(text) else said + text), *parts))

    if scripted:
        hermes.tmp_plugin(scripted(*steps))
    hermes.tmp_plugin(may_stream, transform_outgoing, name="adder")
    hermes.configure({"policy.mode": "off"})
    hermes._options["strict"] = False


async def test_who_only_adds_lets_words_come_as_they_come(hermes, scripted) -> None:
    adding(hermes, "one two three", scripted=scripted)
    events = await play(hermes)
    said = [e.text for e in events if isinstance(e, Said)]
    assert len(said) > 2
    assert said[-1] == " (more)"
    assert "".join(said) == events[-1].answer == "one two three (more)"


async def test_what_was_shown_is_not_changed_any_more(hermes, scripted) -> None:
    adding(hermes, "one two three", scripted=scripted, text=str.upper)
    events = await play(hermes)
    assert "".join(e.text for e in events if isinstance(e, Said)) == events[-1].answer == "one two three"
    (notice,) = [e.text for e in events if isinstance(e, Noticed)]
    assert "shown as it came, so it can only be added to" in notice


async def test_it_is_said_for_each_conversation(hermes, scripted) -> None:
    def outcome(session):
        return Verdict(outcome="deny" if session.id == "s" else "allow")

    adding(hermes, "one two three", "one two three", scripted=scripted, outcome=outcome)
    assert [e.text for e in await play(hermes) if isinstance(e, Said)] == ["one two three (more)"]
    other = [e.text async for e in hermes.turn("go", session="other") if isinstance(e, Said)]
    assert len(other) > 2


async def test_one_that_does_not_say_keeps_words_back_whatever_others_say(hermes, scripted) -> None:
    signed(hermes, "one two three", scripted=scripted)
    adding(hermes)
    assert [e.text for e in await play(hermes) if isinstance(e, Said)] == ["one two three (more) (signed)"]


async def test_one_that_cannot_say_keeps_words_back(hermes, scripted) -> None:
    adding(hermes, "one two three", scripted=scripted, outcome=lambda _: 1 / 0)
    events = await play(hermes)
    assert [e.text for e in events if isinstance(e, Said)] == ["one two three (more)"]
    assert "tool/adder" in {fault.plugin for fault in hermes.runtime.dispatch.faults}


async def test_other_parts_go_with_the_end_of_a_turn_also_in_place_of_its_text(hermes, scripted) -> None:
    note = Blob(media_type="audio/ogg", data=b"OggS", words="whole")
    adding(hermes, "whole", scripted=scripted, outcome="deny", text=lambda _: "", parts=(note,))
    ended = []

    async def ends(result) -> None:
        ended.append((result.answer, tuple(result.parts)))

    async with hermes:
        turn = hermes.runtime.turns.run("go", session="s", turn_origin=TurnOrigin(ends=ends))
        shown = [event async for event in turn]
    assert ended == [("", (note,))]
    assert shown[-1].answer == ""
    assert not [e for e in shown if isinstance(e, Said)]


async def test_what_the_end_of_a_turn_sends_to_a_chat_is_the_same(hermes, scripted) -> None:
    signed(hermes, "whole", scripted=scripted)
    sent = []

    async def ends(result) -> None:
        sent.append((result.state, result.answer))

    async with hermes:
        turn = hermes.runtime.turns.run("go", session="s", turn_origin=TurnOrigin(ends=ends))
        shown = [event async for event in turn]
    assert sent == [("done", "whole (signed)")]
    assert shown[-1].answer == "whole (signed)"
