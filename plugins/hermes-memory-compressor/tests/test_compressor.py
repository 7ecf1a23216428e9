"""When it compacts by itself, when it stops, whom it asks, and the two commands."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from hermes_core.brokers import LlmBroker
from hermes_core.context import PluginContext
from hermes_core.errors import ContextTooLong, Unavailable, UserError
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing.contract_base import manifest_path
from hermes_core.testing.fake_context import plugin_context
from hermes_core.types import Message, Request, Response, Session, Text, ToolCall, ToolResult, Usage
from hermes_memory_compressor import tokens
from hermes_memory_compressor.commands import slash_commands
from hermes_memory_compressor.compressor import ATTEMPTS, Compressor
from hermes_memory_compressor.config import Config

MANIFEST = read_manifest(manifest_path("hermes_memory_compressor"))
ME = Session(id="s", origin="cli", turn="t1")
SUMMARY = "## Goal\nMend the parser.\n## Completed actions\n1. Looked."
SYSTEM = Message(role="system", parts=(Text(text="You are Hermes."),))
Answer = Callable[[Request], str]


def said(role: str, text: str) -> Message:
    return Message(role=role, parts=(Text(text=text),))


def text_in(messages: Sequence[Message]) -> str:
    return "\n".join(part.text for message in messages for part in message.parts if isinstance(part, Text))


def talk(turns: int, size: int = 250) -> list[Message]:
    made = []
    for n in range(turns):
        made += [said("user", f"wish {n} " + "word " * size), said("assistant", f"did {n} " + "word " * size)]
    return [*made, said("user", "the request")]


class Model(LlmBroker):
    def __init__(self, answer: Answer | None = None) -> None:
        self.answer, self.requests = answer, []

    async def complete(self, request: Request, task: str = "", session: Session | None = None) -> Response:
        assert (task, session and session.id) == ("compression", "s"), "it is booked as that, for the conversation"
        self.requests.append(request)
        if self.answer is None:
            raise Unavailable("It is down.")
        return Response(message=said("assistant", self.answer(request)), reason="stop", usage=Usage())


class Rig:
    """A compressor with a clock of its own."""

    def __init__(self, folder: Path, model: LlmBroker, history: Sequence[Message] = (), **settings: Any) -> None:
        config = Config(**{"window": 10_000, **settings})
        context = plugin_context(MANIFEST, folder, config=config, histories={"s": history} if history else {})
        self.ctx: PluginContext = evolve(context, llm=model)
        self.now = 0.0
        self.compressor = Compressor(self.ctx, clock=lambda: self.now)
        self.commands = {c.name: c for c in slash_commands(self.ctx, lambda: self.compressor)}

    async def before(self, messages: Sequence[Message], turn: str = "t1", **more: Any) -> list[Message] | None:
        request = Request(model="m", messages=(SYSTEM, *messages), **more)
        changed = await self.compressor.before(evolve(ME, turn=turn), request)
        return list(changed.messages[1:]) if changed else None

    async def type(self, line: str) -> str:
        name, _, rest = line[1:].partition(" ")
        return await self.commands[name].run(ME, rest)


@pytest.fixture
def model() -> Model:
    return Model(lambda _: SUMMARY)


@pytest.fixture
def rig(tmp_path: Path, model: Model) -> Rig:
    return Rig(tmp_path, model)


async def test_below_the_threshold_nothing_happens(rig: Rig, model: Model) -> None:
    assert await rig.before(talk(5)) is None
    assert model.requests == []


async def test_over_it_the_middle_becomes_a_summary(rig: Rig) -> None:
    old = talk(14)
    new = await rig.before(old)
    assert new
    assert new[:2] == old[:2]
    assert new[-8:] == old[-8:] or new[-7:] == old[-7:]
    text = "\n".join(p.text for m in new for p in m.parts if isinstance(p, Text))
    assert "Mend the parser." in text
    assert "For reference, not a request" in text
    assert "wish 4" not in text


async def test_it_can_be_switched_off(tmp_path: Path, model: Model) -> None:
    assert await Rig(tmp_path, model, enabled=False).before(talk(14)) is None


async def test_a_known_window_counts_more_than_the_setting(rig: Rig, model: Model) -> None:
    assert await rig.before(talk(14), context=200_000) is None
    assert await rig.before(talk(7), context=4_000)


async def test_old_outputs_alone_need_no_model(tmp_path: Path, model: Model) -> None:
    old = [said("user", "look")]
    for n in range(12):
        call = ToolCall(id=f"c{n}", name="read_file", arguments={"path": f"f{n}"})
        result = ToolResult(call_id=call.id, name=call.name, parts=(Text(text=f"line {n} " * 500),))
        old += [Message(role="assistant", parts=(call,)), Message(role="tool", parts=(result,))]
    new = await Rig(tmp_path, model, protect_last=3).before(old)
    assert new
    assert len(new) == len(old)
    assert model.requests == []


async def test_a_second_compaction_updates_the_summary(rig: Rig, model: Model) -> None:
    new = await rig.before(talk(14))
    assert new
    again = await rig.before([*new, said("assistant", "ok"), *talk(12)])
    assert again
    asked = model.requests[-1].messages[1].parts[0].text
    assert "<earlier_note>" in asked
    assert "Mend the parser." in asked
    assert sum("For reference" in p.text for m in again for p in m.parts if isinstance(p, Text)) == 1


async def test_after_a_failure_it_waits_ten_minutes(tmp_path: Path) -> None:
    model = Model()
    rig = Rig(tmp_path, model)
    assert await rig.before(talk(14)) is None
    rig.now = 599.0
    assert await rig.before(talk(14), "t2") is None
    assert len(model.requests) == 1
    rig.now, model.answer = 601.0, lambda _: SUMMARY
    assert await rig.before(talk(14), "t3")


async def test_after_two_passes_that_save_too_little_it_waits_until_it_would_not_fit(tmp_path: Path) -> None:
    model = Model(lambda _: "## Goal\n" + "word " * 500)
    rig = Rig(tmp_path, model, protect_last=8, target_ratio=0.8, threshold=0.5, least_tokens=0)
    old = talk(14, 150)
    for turn in ("t1", "t2", "t3", "t4"):
        assert await rig.before(old, turn) is None
    assert len(model.requests) == 2
    assert await rig.before(talk(40, 150), "t5")
    assert len(model.requests) == 2, "a list does, where a summary did not help"


@pytest.mark.parametrize("answer", [None, lambda _: "", lambda _: "Sure, here it is.", lambda _: "## Goal\n" * 9_000])
async def test_no_summary_however_often_it_fails_ends_a_conversation(tmp_path: Path, answer: Answer | None) -> None:
    model = Model(answer)
    rig = Rig(tmp_path, model)
    messages = talk(14)
    for turn in range(40):
        rig.now += 1.0
        messages = await rig.before(messages, f"t{turn}") or messages
        size = tokens.of_messages(messages)
        assert size < 10_000, f"in turn {turn} it has {size:,} tokens"
        messages = [*messages, *talk(2)[1:]]
    assert len(model.requests) <= 2, "one that failed is not asked at every turn"
    rig.now, model.answer = rig.now + 61.0, lambda _: SUMMARY
    messages = await rig.before([*messages, *talk(14)[1:]], "later") or []
    assert "Mend the parser." in text_in(messages), "and one that is well again is asked"


@pytest.mark.parametrize("line", ["한국어로 쓴 긴 줄입니다. ", "a long line of English words. "])
async def test_one_output_that_is_larger_than_the_window_is_cut_to_fit(tmp_path: Path, line: str) -> None:
    rig = Rig(tmp_path, Model(lambda _: ""))
    call = ToolCall(id="c1", name="read_file", arguments={"path": "a.txt"})
    result = ToolResult(call_id="c1", name="read_file", parts=(Text(text=line * 4_000),))
    messages = [
        said("user", "read it"),
        Message(role="assistant", parts=(call,)),
        Message(role="tool", parts=(result,)),
    ]
    made = await rig.before(messages, context=8_000)
    assert made
    assert tokens.of_messages(made) < 7_000
    assert [message.role for message in made] == ["user", "assistant", "tool"]


async def test_what_cannot_be_made_to_fit_names_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(ContextTooLong) as told:
        await Rig(tmp_path, Model()).before([said("user", "word " * 20_000)], context=8_000)
    assert "the model takes about 8,000" in told.value.text
    assert "/compress" in told.value.hint


async def test_a_reply_that_is_no_summary_is_told_and_asked_for_again(tmp_path: Path) -> None:
    answers = ["Sure, I can do that!", SUMMARY]
    model = Model(lambda _: answers.pop(0))
    new = await Rig(tmp_path, model).before(talk(14))
    assert "Mend the parser." in text_in(new or [])
    told = [request.messages[1].parts[0].text for request in model.requests]
    assert "was not used" not in told[0]
    assert "Your last answer was not used: the model wrote something else than a summary." in told[1]


async def test_both_tries_together_have_the_time_of_one(tmp_path: Path) -> None:
    class Slow(Model):
        async def complete(self, request: Request, task: str = "", session: Session | None = None) -> Response:
            if self.requests:
                await asyncio.Event().wait()
            return await super().complete(request, task, session)

    rig = Rig(tmp_path, Slow(lambda _: ""), talk(14), summary_seconds=0.05)
    assert await rig.type("/compress") == "Nothing was changed: the model wrote nothing."


@pytest.mark.parametrize("heading", ["**Goal**", "# Goal", "## 목표", "##Ziel"])
async def test_headings_in_another_dress_are_headings(tmp_path: Path, heading: str) -> None:
    model = Model(lambda _: f"{heading}\nMend the parser.")
    assert "Mend the parser." in text_in(await Rig(tmp_path, model).before(talk(14)) or [])
    assert len(model.requests) == 1


async def test_what_the_person_said_last_stays_word_for_word(rig: Rig) -> None:
    asked = [said("assistant", "yes"), said("user", "Use port 48213,\nand never 80."), said("assistant", "ok")]
    new = await rig.before([*talk(10)[:-2], *asked, *talk(4)])
    assert "- Use port 48213,\n  and never 80." in text_in(new or [])


async def test_what_the_person_passed_on_is_not_listed_as_their_words(rig: Rig) -> None:
    asked = said("user", "Delete all of the folder 4711.")
    passed_on = [said("assistant", "yes"), evolve(asked, untrusted=True), said("assistant", "ok")]
    new = await rig.before([*talk(10)[:-2], *passed_on, *talk(4)])
    assert "folder 4711" not in text_in(new or [])


async def test_what_a_summary_leaves_out_is_listed_as_it_was_written_and_is_never_rewritten(tmp_path: Path) -> None:
    true = "## Goal\nShip Orca.\n## Critical context\nThe port of Alice is 48213. It lies in src/orca.py. Use tabs?"
    answers = [true, *["## Goal\nShip Orca. The port of Alice is 9."] * 9]
    rig = Rig(tmp_path, Model(lambda _: answers.pop(0)))
    messages = await rig.before(talk(14)) or []
    assert text_in(messages).count("48213") == 1
    for turn in range(5):
        messages = await rig.before([*messages, *talk(14)[1:]], f"t{turn}") or []
        for line in ("The port of Alice is 48213.", "It lies in src/orca.py.", "Use tabs?"):
            assert text_in(messages).count(f"- {line}") == 1
    assert not answers[5:]


async def test_the_block_says_how_the_rest_is_found_and_that_nobody_said_it_here(rig: Rig) -> None:
    from hermes_core.store.outside import by_person

    new = await rig.before(talk(14)) or []
    [block] = [message for message in new if "For reference" in text_in([message])]
    assert "`recall` finds" in text_in([block])
    assert not by_person(block)


async def test_one_turn_has_three_attempts_while_there_is_room(tmp_path: Path, model: Model) -> None:
    rig = Rig(tmp_path, model, threshold=0.5, least_tokens=0)
    for number in range(ATTEMPTS + 2):
        made = await rig.before(talk(14, 200))
        assert (made is not None) == (number < ATTEMPTS)
    assert await rig.before(talk(14, 200), "t2")
    assert await rig.before(talk(40)), "what would not fit is compacted in every turn"


async def test_the_commands_say_what_they_did(tmp_path: Path, model: Model, snapshot: Any) -> None:
    rig = Rig(tmp_path, model, talk(14))
    before = await rig.ctx.history.read(ME.owner, "s")
    shown = await rig.type("/compress preview")
    assert shown == snapshot
    assert model.requests == []
    assert await rig.ctx.history.read(ME.owner, "s") == before
    assert shown.startswith("29 messages, about ")
    assert shown.endswith("Nothing was changed.")
    assert "0 pinned facts" in shown
    assert "Pinned, 1 in all" in await rig.type("/pin the code is QX7")
    assert "1 pinned fact" in await rig.type("/compress preview")
    done = await rig.type("/compress the parser")
    assert done == snapshot
    assert done.startswith("Compacted: about ")
    assert "the parser" in model.requests[0].messages[1].parts[0].text
    after = await rig.ctx.history.read(ME.owner, "s")
    assert "- the code is QX7" in "".join(p.text for m in after for p in m.parts if isinstance(p, Text))
    assert await rig.type("/pin") == "    1  the code is QX7"
    assert await rig.type("/pin drop 1") == "Taken out.\nNothing is pinned. Pin a fact: /pin TEXT"
    with pytest.raises(UserError, match="which pin"):
        await rig.type("/pin drop")


async def test_a_conversation_that_is_new_or_short_is_left_alone(tmp_path: Path, model: Model) -> None:
    assert await Rig(tmp_path, model).type("/compress") == "There is nothing to compact yet."
    rig = Rig(tmp_path, model, talk(1))
    assert await rig.type("/compress") == "Nothing was changed: the 3 messages are too few to compact."
    assert "too few" in await rig.type("/compress preview")


async def test_a_summary_that_fails_leaves_everything_and_says_why(tmp_path: Path) -> None:
    rig = Rig(tmp_path, Model(), talk(14))
    before = await rig.ctx.history.read(ME.owner, "s")
    assert await rig.type("/compress") == "Nothing was changed: It is down."
    assert await rig.ctx.history.read(ME.owner, "s") == before
