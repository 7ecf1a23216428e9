"""A child agent is a turn that works for a call: what it is given, what becomes of it, what its parent is told."""

import asyncio
import contextlib
import json
from pathlib import Path

import pytest

from hermes_core.types import Asked, Ended, Principal, Progress, Verdict

ME = Principal()


async def gone(pid: int) -> bool:
    """Whether a process ends; killing takes a moment."""
    for _ in range(500):
        try:
            if Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] == b"Z":
                return True
        except OSError:
            return True
        await asyncio.sleep(0.01)
    return False


async def test_a_child_answers_in_a_session_of_its_own(house) -> None:
    [[status, answer, session, error, calls, *trace]] = await house.results([[{"note": {"what": "a"}}, "did it"]])
    assert (status, answer, error, calls, trace) == ("done", "did it", "", 2, ["note: ok"])
    assert house.truth("effect") == [["a"]]
    assert session.startswith("child_")


async def test_it_is_offered_what_its_parent_has_but_for_what_no_child_gets(house) -> None:
    await house.results([["done"]])
    [parent, child, _] = house.truth("request")
    assert {"remember", "clarify", "hand"} < set(parent[2])
    assert set(parent[2]) - set(child[2]) == {"remember", "clarify", "hand"}


async def test_it_is_offered_the_toolsets_it_was_given_and_no_others(house) -> None:
    await house.results([["done"]], given={"toolsets": ["risky", "memory", "delegation"]})
    assert house.truth("request")[1][2] == ["look"]


async def test_a_toolset_that_is_not_there_is_told(house) -> None:
    [[status, _, session, error, *_]] = await house.results([["done"]], given={"toolsets": ["riksy"]})
    assert (status, session) == ("refused", "")
    assert error.startswith("There is no toolset 'riksy' here; there is: ")


async def test_children_of_one_call_work_side_by_side(house) -> None:
    results = await house.results([[{"note": {"what": str(n)}}, f"answer {n}"] for n in range(3)])
    assert [(status, answer) for status, answer, *_ in results] == [("done", f"answer {n}") for n in range(3)]
    assert len({session for _, _, session, *_ in results}) == 3


async def test_equal_tasks_are_different_children(house) -> None:
    results = await house.results([[{"note": {"what": "x"}}, "y"]] * 2)
    assert len({session for _, _, session, *_ in results}) == 2
    assert house.truth("effect") == [["x"], ["x"]]


async def test_its_steps_are_seen_as_it_works(house) -> None:
    events = await house.turn([{"hand": {"goals": [json.dumps([{"note": {"what": "a\nb"}}, "done"])]}}, "ok"])
    assert [e.text for e in events if isinstance(e, Progress)] == ["note: what=a b\n"]


@pytest.mark.parametrize("trusted", [False, True])
async def test_a_child_of_somebody_else_than_the_owner_may_no_more_than_they_may(house, trusted) -> None:
    asked, anna = [], Principal(person="anna")

    async def yes(question):
        asked.append(question)
        return Verdict(outcome="allow", choice="once", by="me")

    plan = [{"hand": {"goals": [json.dumps([{"shell": {"what": "x"}}, "results"])]}}, "results"]
    config = {"policy.mode": "off", **({"roles.trusted_with_shell": ["anna"]} if trusted else {})}
    async with house.hermes(config=config) as hermes:
        turn = hermes.runtime.turns.run(json.dumps(plan), session="s", owner=anna, ask=yes)
        assert isinstance([event async for event in turn][-1], Ended)
    [[status, answer, *_]] = house.truth("result")
    assert status == "done"
    assert [question.to for question in asked] == (["admin"] if trusted else [])
    assert house.truth("effect") == ([["x"]] if trusted else [])
    assert ("run only in an isolated workspace" in answer) is not trusted


# --- questions ---------------------------------------------------------------------------------------------------


async def test_a_question_of_a_child_reaches_the_person_of_its_parent(house) -> None:
    asked = []

    async def yes(question):
        asked.append(question)
        return Verdict(outcome="allow", choice="session", by="me")

    goals = [[{"look": {"what": "here"}}, {"look": {"what": "here"}}, "seen"], [{"look": {"what": "here"}}, "seen too"]]
    results = await house.results(goals, ask=yes)
    assert [r[0] for r in results] == ["done", "done"]
    assert [(q.subject, "a child agent asks" in q.risk) for q in asked] == [("look(what=here)", True)]
    assert house.truth("effect") == [["here"]] * 3


async def test_with_nobody_there_it_is_refused(house) -> None:
    [[status, answer, *_, trace]] = await house.results([[{"look": {"what": "x"}}, "results"]])
    assert (status, trace) == ("done", "look: refused")
    assert "Nobody is here to ask" in answer
    assert house.truth("effect") == []


async def test_rules_modes_and_grants_are_inherited(house) -> None:
    goal = [[["look", {"what": "a"}], ["note", {"what": "b"}]], "done"]
    [[*_, one, two]] = await house.results([goal], config={"policy.deny": ["note"], "policy.allow": ["look"]})
    assert (one, two) == ("look: ok", "note: refused")
    [[*_, one, two]] = await house.results([goal], yolo=True)
    assert (one, two) == ("look: ok", "note: ok")
    [[*_, one, two]] = await house.results([goal], yolo=True, config={"policy.deny": ["look*"]})
    assert (one, two) == ("look: refused", "note: ok")


async def test_a_grant_of_the_session_is_a_grant_of_its_children(house) -> None:
    asked = []

    async def yes(question):
        asked.append(question.subject)
        return Verdict(outcome="allow", choice="session")

    plan = [{"look": {"what": "a"}}, {"hand": {"goals": [json.dumps([{"look": {"what": "a"}}, "done"])]}}, "ok"]
    events = await house.turn(plan, ask=yes)
    assert asked == ["look(what=a)"]
    assert len([e for e in events if isinstance(e, Asked)]) == 1
    assert house.truth("effect") == [["a"], ["a"]]


async def test_a_mode_that_is_changed_reaches_the_children_at_work(house) -> None:
    plan = [{"hand": {"goals": [json.dumps([{"note": {"what": "a"}}, {"look": {"what": "b"}}, "done"])]}}, "ok"]
    async with house.hermes(yolo=True) as hermes:
        async for event in hermes.turn(json.dumps(plan), session="s"):
            if isinstance(event, Progress) and "note" in event.text:
                hermes.runtime.policy.set_mode("s", "ask")
    assert house.truth("result")[0][-1] == "look: refused"


# --- text from outside -------------------------------------------------------------------------------------------

READ, LOOK = ["page", {"what": "a"}], ["look", {"what": "b"}]


async def test_what_a_child_read_is_outside_for_the_child(house) -> None:
    [[*_, one, two]] = await house.results([[[READ], [LOOK], "done"]], yolo=True)
    assert (one, two) == ("page: ok", "look: refused")


async def test_what_its_parent_read_is_outside_for_a_child(house) -> None:
    await house.turn([[READ], {"hand": {"goals": [json.dumps([[LOOK], "done"])]}}, "ok"], yolo=True)
    assert house.truth("result")[-1][-1] == "look: refused"
    assert house.truth("effect") == []


async def test_what_a_child_read_is_outside_for_its_parent(house) -> None:
    goal = json.dumps([[READ], "done"])
    await house.turn([{"hand": {"goals": [goal]}}, [LOOK], "ok"], yolo=True)
    assert house.truth("effect") == []


# --- limits ------------------------------------------------------------------------------------------------------

LONG = [{"note": {"what": "again"}}]


async def test_it_may_make_as_many_model_calls_as_it_was_given(house) -> None:
    [[status, answer, _, _, calls, *_]] = await house.results([[*LONG * 9, "late"]], given={"calls": 3})
    assert (status, answer, calls) == ("done", "out of steps", 4)  # the last one is its report
    assert len(house.truth("effect")) == 3


@pytest.mark.parametrize("given", [{"tokens": 250}, {"money": 0.025}])
async def test_tokens_and_money_have_an_end(house, given) -> None:
    [[status, _, _, error, calls, *_]] = await house.results([[*LONG * 9, "late"]], given=given)
    assert status == "budget"
    assert error.startswith(("This turn has used ", "No "))
    assert calls == 3


async def test_nothing_asked_for_is_more_than_the_parent_has(house) -> None:
    options = {"config": {"agent.max_calls": 4}}
    [[status, _, _, _, calls, *_]] = await house.results([[*LONG * 9, "late"]], given={"calls": 100}, **options)
    assert calls <= 4
    assert status in ("done", "budget")


async def test_its_use_is_its_parents_use(house) -> None:
    [[*_]] = await house.results([[*LONG * 2, "done"]])

    async def look(store):
        [row] = await store.sessions.list(ME)
        return row, await store.journal.last_turn("s"), await store.spending.usage(ME, days=1)

    row, turn, [day] = house_read(house, look)
    assert (row.usage.calls, turn.usage.calls, day.usage.calls) == (5, 5, 5)
    assert (turn.usage.input, round(turn.usage.cost, 4)) == (500, 0.05)


def house_read(house, look):
    import concurrent.futures

    with concurrent.futures.ThreadPoolExecutor() as pool:
        return pool.submit(house.read, look).result()


async def test_its_time_has_an_end(house) -> None:
    [[status, _, session, *_]] = await house.results([[{"wait": {}}, "late"]], given={"seconds": 1.0})
    assert status == "timeout"
    [[sleeper]] = house.truth("waiting")
    assert await gone(sleeper)
    last = house_read(house, lambda store: store.journal.last_turn(session))
    assert last.state == "interrupted"


async def test_one_level_of_children_is_the_rule_and_three_the_most(house) -> None:
    def nested(level: int) -> list:
        inner = nested(level - 1) if level else ["bottom"]
        return [{"hand": {"goals": [json.dumps(inner)], "levels": 9}}, "results"]

    await house.turn(nested(3))
    assert [t[0] for t in house.truth("result")] == ["done"] * 3
    requests = [request for request in house.truth("request") if request[1] == 0]
    assert ["hand" in tools for _, _, tools in requests] == [True, True, True, False]


# --- ends --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["raises", "exits"])
async def test_a_child_whose_tool_blows_up_goes_on(house, how) -> None:
    [[status, answer, *_, trace]] = await house.results([[{"blow": {"what": how}}, "went on"]])
    assert (status, answer, trace) == ("done", "went on", "blow: failed")


async def test_a_child_whose_model_fails_is_an_answer(house) -> None:
    [[status, answer, _, error, *_]] = await house.results([["broken"]])
    assert (status, answer) == ("failed", "")
    assert "The model is broken." in error


@pytest.mark.parametrize("how", ["", "stubborn"])
async def test_an_interrupt_of_the_parent_ends_the_child_and_what_it_started(house, how) -> None:
    plan = [{"hand": {"goals": [json.dumps([{"wait": {"what": how}}, "never"])]}}, "never"]
    async with house.hermes() as hermes:
        seen = []
        turn = hermes.turn(json.dumps(plan), session="s")
        async with contextlib.aclosing(turn):
            async for event in turn:
                seen.append(event)
                if isinstance(event, Progress):
                    while not house.truth("waiting"):
                        await asyncio.sleep(0.01)
                    hermes.runtime.turns.interrupt("s")
        assert isinstance(seen[-1], Ended)
        assert seen[-1].reason == "interrupted"
    [[sleeper]] = house.truth("waiting")
    assert await gone(sleeper)
    rows = house_read(house, lambda store: store.sessions.list(ME, children=True))
    states = {row.session.origin: row.state for row in rows}
    assert states["embed"] == "idle"
    assert states["child"] == "idle"


async def test_no_child_outlives_the_call_it_works_for(house) -> None:
    await house.turn([{"hand": {"goals": ['[{"wait": {}}, "never"]'], "drop": True}}, "went on"])
    [[sleeper]] = house.truth("waiting")
    assert await gone(sleeper)


async def test_a_tool_that_does_not_say_that_it_delegates_cannot(hermes, scripted) -> None:
    from hermes_core.kinds import ToolContext, tool
    from hermes_core.testing import Call
    from hermes_core.types import Returned

    @tool
    async def sly(context: ToolContext) -> str:
        """Start a child without saying so."""
        turns = hermes.runtime.plugin_context(hermes.runtime.index.get(label)).turns
        return "".join([str(event) async for event in turns.run("x", call=context)])

    hermes.tmp_plugin(scripted(Call("sly"), "no"))
    label = hermes.tmp_plugin(sly, manifest={"permissions": {"kernel": ["turns.run"]}})
    events = [event async for event in hermes.turn("go")]
    [result] = [e.result for e in events if isinstance(e, Returned)]
    assert result.failed
    assert "may not hand work to child agents: it does not declare that effect" in result.parts[0].text


# --- sessions ----------------------------------------------------------------------------------------------------


async def test_deleting_a_session_deletes_its_children_and_lists_show_roots(house) -> None:
    deep = json.dumps([{"hand": {"goals": ['["bottom"]']}}, "middle"])
    await house.turn([{"hand": {"goals": [deep], "levels": 2}}, "top"])
    await house.turn(["other"], session="t")

    async def look(store):
        roots = [r.session.id for r in await store.sessions.list(ME)]
        every = [r.session for r in await store.sessions.list(ME, children=True)]
        only = [r.session.id for r in await store.sessions.list(ME, origin="child")]
        latest = (await store.sessions.find("latest", ME)).id
        gone = [s.id for s in await store.sessions.delete("s", ME)]
        left = [r.session.id for r in await store.sessions.list(ME, children=True)]
        return roots, every, only, latest, left, gone

    roots, every, only, latest, left, gone = house_read(house, look)
    assert (sorted(roots), latest, left) == (["s", "t"], "t", ["t"])
    assert (len(every), len(only)) == (4, 2)
    parents = {s.id: s.parent for s in every}
    assert sorted(parents[i] in ("s", *only) for i in only) == [True, True]
    assert {s.cwd for s in every} == {str(house.work)}
    assert (gone[0], sorted(gone[1:])) == ("s", sorted(only))
