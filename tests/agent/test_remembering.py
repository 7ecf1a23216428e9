"""The memory in use is asked before a turn, and told before a compaction."""

import asyncio

import pytest
from attrs import evolve

from hermes_core.hooks import hookimpl
from hermes_core.kinds import Memory
from hermes_core.plugins import dispatch
from hermes_core.types import Memo, Message, Source, Text

SAID, READ = Source(by="user"), Source(by="web", trusted=False)


class Diary(Memory):
    """Knows one thing, and writes down what it is told."""

    name = "diary"

    def __init__(self, *memos: Memo, late: bool = False) -> None:
        self.memos, self.late, self.told = memos, late, []

    async def add(self, owner, text, source):
        raise NotImplementedError

    async def search(self, owner, query, limit):
        return list(self.memos)

    async def forget(self, owner, memo_id):
        pass

    async def prefetch(self, session, message):
        if self.late:
            raise RuntimeError("no connection")
        return [memo for memo in self.memos if "tea" in message.parts[0].text]

    async def compacting(self, session, messages):
        self.told.append([part.text for message in messages for part in message.parts if isinstance(part, Text)])


def memo(source: Source = SAID) -> Memo:
    return Memo(id="1", text="Takes tea without sugar.", source=source)


def texts(message: Message) -> list[str]:
    return [part.text for part in message.parts if isinstance(part, Text)]


async def play(hermes, text):
    return [event async for event in hermes.runtime.turns.run(text, session="s")][-1]


async def test_what_it_knows_to_a_message_is_stored_with_it(hermes, scripted) -> None:
    hermes.configure({"memory.provider": "diary"})
    hermes.tmp_plugin(model := scripted("one", "two"))
    hermes.tmp_plugin(Diary(memo()))
    for text in ("some tea?", "thanks"):
        await play(hermes, text)
    asked, thanked = [request.messages[1:] for request in model.requests]
    assert texts(asked[0])[0] == "some tea?"
    assert "Takes tea without sugar." in texts(asked[0])[1]
    assert thanked[0] == asked[0]  # the same bytes in later requests
    assert texts(thanked[-1]) == ["thanks"]
    store = await hermes.runtime.store()
    assert texts((await store.history.load("s"))[0]) == texts(asked[0])
    assert not any(message.untrusted for message in await store.history.load("s"))


async def test_what_came_from_outside_stays_from_outside(hermes, scripted) -> None:
    hermes.configure({"memory.provider": "diary"})
    hermes.tmp_plugin(scripted("one"))
    hermes.tmp_plugin(Diary(memo(READ)))
    await play(hermes, "some tea?")
    first = (await (await hermes.runtime.store()).history.load("s"))[0]
    assert first.untrusted
    assert "[came from outside, unverified] Takes tea" in texts(first)[1]


async def test_one_that_fails_knows_nothing_and_is_named(hermes, scripted) -> None:
    hermes.configure({"memory.provider": "diary"})
    hermes.tmp_plugin(model := scripted("one"))
    label = hermes.tmp_plugin(Diary(memo(), late=True))
    assert (await play(hermes, "some tea?")).answer == "one"
    assert texts(model.requests[0].messages[1]) == ["some tea?"]
    assert [(fault.plugin, fault.where) for fault in hermes.runtime.dispatch.faults] == [(label, "prefetch")]


class Broken(Diary):
    """Fails, hangs or talks nonsense when it is asked for a brief, or has looked at a turn."""

    def __init__(self, brief: object = "", learn: object = None) -> None:
        super().__init__()
        self.says, self.learns = brief, learn

    async def brief(self, session):
        return await wrong(self.says)

    async def learn(self, session, messages):
        await wrong(self.learns)


async def wrong(what):
    if isinstance(what, Exception):
        raise what
    if what == "hang":
        await asyncio.Event().wait()
    return what


@pytest.mark.parametrize("brief", [RuntimeError("no connection"), 42, "hang"])
async def test_one_that_cannot_brief_says_nothing_and_is_named(hermes, scripted, monkeypatch, brief) -> None:
    monkeypatch.setitem(dispatch.DEADLINES, "observe", 0.05)
    hermes.configure({"memory.provider": "diary"})
    hermes.tmp_plugin(scripted("one"))
    label = hermes.tmp_plugin(Broken(brief))
    assert (await play(hermes, "some tea?")).answer == "one"
    assert [(fault.plugin, fault.where) for fault in hermes.runtime.dispatch.faults] == [(label, "brief")]


async def test_one_that_cannot_learn_is_named(hermes, scripted) -> None:
    hermes.configure({"memory.provider": "diary"})
    hermes.tmp_plugin(scripted("one"))
    label = hermes.tmp_plugin(Broken(learn=RuntimeError("no connection")))
    assert (await play(hermes, "some tea?")).answer == "one"
    await hermes.runtime.memory.end()
    assert [(fault.plugin, fault.where) for fault in hermes.runtime.dispatch.faults] == [(label, "learn")]


async def test_it_is_told_before_a_context_is_replaced(hermes, scripted) -> None:
    hermes.configure({"memory.provider": "diary"})
    hermes.tmp_plugin(scripted("a long answer " * 50, "two"))
    hermes.tmp_plugin(diary := Diary())

    @hookimpl
    async def pre_llm_call(session, request):
        if len(request.messages) < 4:
            return None
        system, *_, last = request.messages
        return evolve(request, messages=(system, last))

    hermes.tmp_plugin(pre_llm_call, manifest={"permissions": {"kernel": ["history.rewrite"]}})
    await play(hermes, "the first")
    assert diary.told == []
    await play(hermes, "the second")
    [[first, *_, last]] = diary.told
    assert (first, last) == ("the first", "the second")
