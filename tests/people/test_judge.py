"""The judges are judged: they see each of many small leaks, and nothing where there is none."""

from itertools import chain

import pytest
from people_attempts import ATTEMPTS, outcome
from people_crowd import Setting, judged
from people_late_attempts import LATE_ATTEMPTS
from people_mutants import GIVEN_AWAY, MUTANTS, SPEAKERS, Mutant, script
from people_near import near
from people_world import World

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]


@pytest.mark.parametrize("mutant", MUTANTS, ids=[one.name for one in MUTANTS])
def test_a_leak_is_seen(tmp_path, mutant: Mutant):
    scripts = {who: script(who, mutant.first if who == "ben" and mutant.first else mutant.steps) for who in SPEAKERS}
    with mutant.leak():
        wrong = judged(tmp_path / "house", scripts, Setting(more=mutant.more), of=("ann",), in_turn=True)
    assert wrong, "nobody noticed"


@pytest.mark.parametrize("more", sorted({one.more for one in MUTANTS}))
def test_without_a_leak_nothing_is_seen(tmp_path, more: str):
    """All that the leaks are seen by, of the same two people, where the product is as it is."""
    with_it = [one for one in MUTANTS if one.more == more]
    steps = {who: [one.first if who == "ben" and one.first else one.steps for one in with_it] for who in SPEAKERS}
    scripts = {who: script(who, tuple(dict.fromkeys(chain(*all_of)))) for who, all_of in steps.items()}
    assert not judged(tmp_path / "house", scripts, Setting(more=more), of=("ann",), in_turn=True)


@pytest.mark.parametrize("name", GIVEN_AWAY)
def test_an_attempt_that_succeeds_is_seen(tmp_path, name: str):
    [attempt] = [one for one in (*ATTEMPTS, *LATE_ATTEMPTS) if one.name == name]
    with near(tmp_path / "house", gullible=True) as made:
        world = World(made)
        assert not outcome(world, attempt)
        with GIVEN_AWAY[name]():
            assert outcome(world, attempt), "nobody noticed"
