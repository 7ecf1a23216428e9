"""A question for a yes is a row that is settled once: by whom, when, and what becomes of those who come late."""

import asyncio

import pytest
from attrs import frozen

from hermes_core.errors import UnknownName
from hermes_core.hooks import hookimpl
from hermes_core.kinds import tool
from hermes_core.testing import Call
from hermes_core.types import Approval, Asked, Effect, Ended, Principal, Question, Returned, Text, Verdict


@frozen
class Words:
    text: str = ""


@tool(effects=[Effect.WRITE_FILES], touches=lambda _words: ())
async def danger(words: Words) -> str:
    """Do something risky."""
    return f"did {words.text}"


async def play(hermes, session="s"):
    return [event async for event in hermes.turn("go", session=session)]


def told(events) -> list[str]:
    results = [e.result for e in events if isinstance(e, Returned)]
    return ["".join(p.text for p in r.parts if isinstance(p, Text)) for r in results]


async def rows(hermes, *, closed=True):
    return await (await hermes.runtime.store()).approvals.list(hermes.runtime.owner, closed=closed)


async def never(_question):
    await asyncio.Event().wait()


async def waiting(hermes, count=1):
    """The open questions, once there are so many."""
    while len(found := await rows(hermes, closed=False)) < count:
        await asyncio.sleep(0.01)
    return sorted(found, key=lambda row: row.subject)


async def test_what_was_granted_since_it_was_judged_is_not_asked_again(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted())
    runtime = hermes.runtime
    store, session = await runtime.store(), (await runtime.sessions.take("", "test", runtime.owner)).session
    await store.sessions.create(session)
    rules = (("a rule", "a rule in words", ""),)
    known = {"session_id": session.id, "choices": ("once", "session", "deny"), "subject": "danger()", "rules": rules}
    first = await store.approvals.ask(session, Approval(id="one", **known))
    assert first.state == "open"
    await store.approvals.settle(runtime.owner, "one", Verdict(outcome="allow", choice="session", by="me"))
    later = await store.approvals.ask(session, Approval(id="two", **known))
    assert (later.state, later.verdict, later.answered_by) == ("answered", "allow", "grant")
    other = await store.approvals.ask(session, Approval(id="three", **{**known, "rules": (("more", "more", ""),)}))
    assert other.state == "open"


async def test_what_a_question_does_not_offer_is_a_single_yes(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted())
    runtime = hermes.runtime
    store, session = await runtime.store(), (await runtime.sessions.take("", "test", runtime.owner)).session
    await store.sessions.create(session)
    rules = (("a rule", "a rule in words", ""),)
    known = {"session_id": session.id, "choices": ("once", "session", "deny"), "subject": "danger()", "rules": rules}
    await store.approvals.ask(session, Approval(id="one", **known))
    settled, _ = await store.approvals.settle(runtime.owner, "one", Verdict(outcome="allow", choice="always", by="me"))
    assert (settled.verdict, settled.choice) == ("allow", "once")
    assert await store.approvals.grants(runtime.owner, every=True) == []


async def test_two_questions_of_one_reply_are_both_settled(hermes, scripted) -> None:
    async def ask(question: Question) -> Verdict:
        outcome = "allow" if "one" in question.subject else "deny"
        return Verdict(outcome=outcome, choice="once" if outcome == "allow" else "deny", by="me", reason="no, not two")

    hermes._ask = ask
    hermes.tmp_plugin(scripted([Call("danger", {"text": "one"}), Call("danger", {"text": "two"})], "ok"))
    hermes.tmp_plugin(danger)
    events = await play(hermes)
    assert told(events) == ["did one", "danger was not run: no, not two"]
    found = {row.subject: (row.state, row.verdict, row.answered_by) for row in await rows(hermes)}
    assert found == {
        "danger(text=one)": ("answered", "allow", "me"),
        "danger(text=two)": ("answered", "deny", "me"),
    }
    assert len([e for e in events if isinstance(e, Asked)]) == 2


async def test_a_question_is_written_down_before_anybody_is_asked(hermes, scripted) -> None:
    seen = []

    async def ask(question: Question) -> Verdict:
        seen.append(
            [(row.id, row.state, row.covers) for row in await rows(hermes)] == [(question.id, "open", question.covers)]
        )
        return Verdict(outcome="allow", choice="once")

    hermes._ask = ask
    hermes.tmp_plugin(scripted(Call("danger"), "ok"))
    hermes.tmp_plugin(danger)
    await play(hermes)
    assert seen == [True]


async def test_two_open_questions_can_be_answered_from_elsewhere(hermes, scripted, monkeypatch) -> None:
    monkeypatch.setattr("hermes_core.agent.asking._LOOK", 0.01)
    hermes._ask = never
    hermes.tmp_plugin(scripted([Call("danger", {"text": "one"}), Call("danger", {"text": "two"})], "ok"))
    hermes.tmp_plugin(danger)
    turn = asyncio.create_task(play(hermes))
    one, two = await waiting(hermes, 2)
    store, me = await hermes.runtime.store(), hermes.runtime.owner
    assert (await store.approvals.settle(me, two.id, Verdict(outcome="deny", by="phone", reason="not this")))[1]
    assert (await store.approvals.settle(me, one.id, Verdict(outcome="allow", by="phone")))[1]
    events = await turn
    assert told(events) == ["did one", "danger was not run: not this"]
    assert {e.verdict.by for e in events if isinstance(e, Asked)} == {"phone"}


async def test_the_first_answer_counts(hermes, scripted) -> None:
    async def late(question: Question) -> Verdict:
        store = await hermes.runtime.store()
        await store.approvals.settle(hermes.runtime.owner, question.id, Verdict(outcome="deny", by="phone"))
        return Verdict(outcome="allow", choice="always", by="late")

    hermes._ask = late
    hermes.tmp_plugin(scripted(Call("danger"), "ok"))
    hermes.tmp_plugin(danger)
    assert told(await play(hermes))[0].startswith("danger was not run")
    [row] = await rows(hermes)
    assert (row.answered_by, row.summary) == ("phone", "answered: denied by phone")
    store = await hermes.runtime.store()
    again, mine = await store.approvals.settle(hermes.runtime.owner, row.id, Verdict(outcome="allow", choice="always"))
    assert (again, mine) == (row, False)
    assert await store.approvals.grants(hermes.runtime.owner, every=True) == []


async def test_nobody_answers_in_time(hermes, scripted) -> None:
    hermes.configure({"policy.ask_seconds": 0.05})
    hermes._ask = never
    hermes.tmp_plugin(scripted(Call("danger"), "ok"))
    hermes.tmp_plugin(danger)
    assert "nobody answered within 0.05 s" in told(await play(hermes))[0]
    [row] = await rows(hermes)
    assert (row.state, row.verdict) == ("expired", "deny")
    assert row.summary.startswith("expired: denied")


async def test_a_way_that_is_lost_leaves_the_others(hermes, scripted) -> None:
    @hookimpl
    async def approve(question) -> Verdict:
        return Verdict(outcome="allow", by="phone", choice="once")

    async def lost(_question):
        raise ConnectionError("the terminal is gone")

    hermes._ask = lost
    hermes.tmp_plugin(scripted(Call("danger", {"text": "it"}), "ok"))
    hermes.tmp_plugin(danger)
    hermes.tmp_plugin(approve)
    assert told(await play(hermes)) == ["did it"]


async def test_a_way_that_is_lost_and_no_other_is_a_no(hermes, scripted) -> None:
    async def lost(_question):
        raise ConnectionError("the terminal is gone")

    hermes._ask = lost
    hermes.tmp_plugin(scripted(Call("danger"), "ok"))
    hermes.tmp_plugin(danger)
    assert "Nobody is here to ask" in told(await play(hermes))[0]
    assert [row.state for row in await rows(hermes)] == ["withdrawn"]


async def test_an_interrupted_turn_withdraws_its_question(hermes, scripted) -> None:
    hermes._ask = never
    hermes.tmp_plugin(scripted(Call("danger")))
    hermes.tmp_plugin(danger)
    turn = asyncio.create_task(play(hermes))
    await waiting(hermes)
    hermes.interrupt("s")
    assert isinstance((await turn)[-1], Ended)
    assert [row.state for row in await rows(hermes)] == ["withdrawn"]


async def test_only_its_owner_sees_and_answers_a_question(hermes, scripted) -> None:
    hermes._ask = never
    hermes.tmp_plugin(scripted(Call("danger")))
    hermes.tmp_plugin(danger)
    turn = asyncio.create_task(play(hermes))
    [row] = await waiting(hermes)
    store, other = await hermes.runtime.store(), Principal(person="mallory")
    assert await store.approvals.list(other, closed=True) == []
    assert await store.approvals.get(other, row.id) is None
    for attempt in (
        store.approvals.find(other, row.id),
        store.approvals.settle(other, row.id, Verdict(outcome="allow")),
    ):
        with pytest.raises(UnknownName):
            await attempt
    assert [r.state for r in await rows(hermes)] == ["open"]
    hermes.interrupt("s")
    await turn


async def test_a_lasting_yes_answers_the_same_questions_that_are_open(hermes, scripted) -> None:
    asked = []

    async def ask(question: Question) -> Verdict:
        asked.append(question.subject)
        await waiting(hermes, 2)
        return Verdict(outcome="allow", choice="session", by="me")

    hermes._ask = ask
    same = Call("danger", {"text": "same"})
    hermes.tmp_plugin(scripted([same, same], "ok"))
    hermes.tmp_plugin(danger)
    assert told(await play(hermes)) == ["did same", "did same"]
    assert asked == ["danger(text=same)"]
    assert sorted(row.answered_by for row in await rows(hermes)) == ["grant", "me"]


async def test_what_is_granted_for_a_session_holds_there_and_nowhere_else(hermes, scripted) -> None:
    asked = []

    async def ask(question: Question) -> Verdict:
        asked.append(question.subject)
        return Verdict(outcome="allow", choice="session", by="me")

    hermes._ask = ask
    hermes.tmp_plugin(scripted(*[Call("danger"), "ok"] * 4))
    hermes.tmp_plugin(danger)
    await play(hermes, "a")
    await play(hermes, "a")
    assert len(asked) == 1
    await play(hermes, "b")
    assert len(asked) == 2
    store, me = await hermes.runtime.store(), hermes.runtime.owner
    [grant] = await store.approvals.grants(me, session_id="a")
    assert await store.approvals.grants(Principal(person="mallory"), every=True) == []
    assert not await store.approvals.forget_grant(Principal(person="mallory"), grant.id)
    assert await store.approvals.forget_grant(me, grant.id)
    await play(hermes, "a")
    assert len(asked) == 3, "what was taken back is asked about again, at once"


async def test_what_was_not_offered_is_not_granted(hermes, scripted) -> None:
    async def ask(question: Question) -> Verdict:
        assert question.choices == ("once", "session", "deny")
        return Verdict(outcome="allow", choice="always")

    @tool(effects=[Effect.SEND])
    async def post() -> str:
        """Send something."""
        return "sent"

    hermes._ask = ask
    hermes.tmp_plugin(scripted(Call("post"), "ok"))
    hermes.tmp_plugin(post)
    await play(hermes)
    assert not await (await hermes.runtime.store()).approvals.grants(hermes.runtime.owner, every=True)
