"""How a goal goes on after a round, for any story."""

from hypothesis import given
from hypothesis import strategies as st

from hermes_tool_goals.deciding import decide, proof_of, spent, stuck
from hermes_tool_goals.judge import Opinion
from hermes_tool_goals.values import Check, Evidence, Goal, Round

COMMAND = Check(kind="command", what="pytest -q")


def goal(**values):
    return Goal(**{"id": "1", "profile": "default", "person": "owner", "session": "s", "text": "Do it.", **values})


def evidence(passed, output="", number=0):
    status = "exit 0" if passed else "exit 1"
    return Evidence(goal="1", round=1, number=number, kind="command", what="x", passed=passed, status=status,
                    output=output)  # fmt: skip


OPINIONS = st.one_of(
    st.none(), st.builds(Opinion, verdict=st.sampled_from(["done", "not_done", "blocked"]), why=st.just("So."))
)


@given(
    passed=st.lists(st.booleans(), max_size=3), opinion=OPINIONS, loop=st.booleans(), ask=st.booleans(),
    state=st.sampled_from(["done", "failed", "interrupted"]), used=st.integers(1, 6), turns=st.integers(1, 6),
    garbage=st.integers(0, 2), failures=st.integers(0, 2), goes_on=st.booleans(),
)  # fmt: skip
def test_nothing_is_done_without_evidence_and_nothing_goes_on_without_a_budget(
    passed, opinion, loop, ask, state, used, turns, garbage, failures, goes_on
):
    checks = (*[COMMAND] * len(passed), *([Check(kind="ask", what="Good?")] if ask else ()))
    one = goal(checks=checks, interval=60.0 if loop else 0.0, used_turns=used, turns=turns, garbage=garbage,
               failures=failures, round=used, phase="check")  # fmt: skip
    found = tuple(evidence(value, number=number) for number, value in enumerate(passed))
    after, closed = decide(
        one, Round(goal="1", number=used, evidence=found, acts="a"), [], opinion,
        state=state, error="gone", now=100.0, most=3, goes_on=goes_on,
    )  # fmt: skip
    if after.state == "done":
        assert state == "done"
        assert all(passed)
        assert (opinion is not None and opinion.verdict == "done") or (not one.asks and passed)
    if after.state == "active":
        assert used < turns, "no turn beyond the budget"
        assert (after.phase, after.round) == ("turn", one.round + 1)
        assert not after.owed
    else:
        assert after.why, "it never ends silently"
        assert after.owed == one.reports + 1
    assert closed.verdict


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("ab"), st.sampled_from("ab")), max_size=8),
       st.integers(2, 4))  # fmt: skip
def test_it_is_stuck_exactly_where_the_last_rounds_came_to_the_same(story, most):
    rows = [Round(goal="1", number=n, proof=p, acts=a, files=f) for n, (p, a, f) in enumerate(story, 1)]
    if not rows:
        return
    last, longer = rows[-most:], rows[-2 * most :]
    same = len(last) == most and (
        len({one.acts for one in last}) == 1 or len({(one.proof, one.files) for one in last}) == 1
    )
    same = same or (len(longer) == 2 * most and len({one.proof for one in longer}) == 1)
    assert bool(stuck(rows[-1], rows[:-1], most)) == same


def test_what_differs_from_run_to_run_is_no_progress_and_a_count_is():
    first = proof_of([evidence(False, "3 failed in 0.12s at 12:00:01, /tmp/abc/x")])
    assert first == proof_of([evidence(False, "3 failed in 1.50s at 12:03:09, /tmp/def/y")])
    assert first != proof_of([evidence(False, "2 failed in 0.12s at 12:00:01, /tmp/abc/x")])
    assert proof_of([evidence(True, "x")]) == ""


def test_each_part_of_a_budget_is_reached_at_its_unit():
    assert not spent(goal(turns=3, used_turns=2, money=1.0, used_money=0.999, seconds=9.0, used_seconds=8.9))
    assert "3 turns" in spent(goal(turns=3, used_turns=3))
    assert "$1" in spent(goal(used_turns=1, money=1.0, used_money=1.0))
    assert "9 seconds" in spent(goal(used_turns=1, seconds=9.0, used_seconds=9.0))


def test_a_turn_that_was_stopped_pauses_and_one_that_was_stopped_before_goes_on():
    one, done = goal(used_turns=1, phase="check"), Round(goal="1", number=1)
    known = {"state": "interrupted", "error": "", "now": 0.0, "most": 3}
    assert decide(one, done, [], None, **known)[0].state == "paused"
    after, closed = decide(one, done, [], None, **known, goes_on=True)
    assert (after.state, closed.verdict) == ("active", "stopped")
