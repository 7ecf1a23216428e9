"""In a world where nothing is known beforehand lessons help, and by nothing but what they say: a small look at it.

The figures of the whole world are those of ``benchmarks/learning.py``.
"""

import pytest

from hermes_tool_lessons.values import Draft

from .world import ME, Knobs, World, quirks_of

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]
QUIRKS, ROUNDS = 16, 16


async def learned(house, **knobs):
    world = World(None, quirks_of(1, QUIRKS), Knobs(**knobs), 1)
    await world.learn(ROUNDS)
    return world


@pytest.mark.parametrize("knobs", [{}, {"noise": 0.3}, {"replays": True}])
async def test_the_world_on_paper_comes_out_as_the_one_in_the_store(house, knobs) -> None:
    made = []
    for store in (house().ctx.store, None):
        world = World(store, quirks_of(3, 8), Knobs(**knobs), 3)
        await world.learn(6)
        made.append({one.id: (one.state, one.recent, one.offered, one.held) for one in await world.rows.list(ME)})
    assert made[0] == made[1]


async def test_a_bad_writer_of_lessons_brings_the_worker_almost_to_the_ceiling(house) -> None:
    world = await learned(house)
    floor, of = await world.score("none")
    won, _ = await world.score()
    ceiling, _ = await world.score("oracle")
    assert (floor, ceiling) == (0, of)
    assert won >= 0.9 * of
    kinds = await world.by_kind()
    assert {one.state for one in kinds["harmful"]} <= {"trial", "candidate", "retired"}
    assert max(one.uses for one in kinds["harmful"]) <= 4
    assert not [one for one in kinds["good"] if one.state == "retired"]
    assert not [one for one in kinds["useless"] if one.state == "active"]
    everything, _ = await world.score("all")
    by_chance, _ = await world.score("random")
    assert everything < won / 2, "a trap that stands there catches the worker"
    assert by_chance < 0.2 * of


async def test_labels_by_chance_teach_nothing(house) -> None:
    world = await learned(house, shuffled=True)
    won, of = await world.score()
    assert won < 0.5 * of


async def test_a_judge_that_errs_costs_little(house) -> None:
    world = await learned(house, noise=0.3)
    won, of = await world.score()
    assert won >= 0.75 * of


async def test_a_worker_that_follows_four_times_of_five_learns_as_well(house) -> None:
    world = await learned(house, follows=0.8)
    won, of = await world.score()
    assert won >= 0.6 * of


async def test_no_good_lesson_is_let_go_of(house) -> None:
    world = World(house().ctx.store, quirks_of(1, 40), Knobs(learns=False), 1)
    for quirk in world.quirks:
        await world.propose(Draft(trigger=quirk.trigger, text=f"Use `{quirk.token}`.", sources=["x"]), "good")
    await world.learn(2)
    assert {one.state for one in (await world.by_kind())["good"]} == {"active"}


async def test_what_is_solved_stays_solved_whatever_is_let_in(house) -> None:
    world = World(house().ctx.store, quirks_of(2, QUIRKS), Knobs(), 2)
    solved: set[str] = set()
    for _ in range(ROUNDS):
        await world.learn(1)
        now = set()
        for quirk in world.quirks:
            told = await world.selector.select(ME, quirk.tasks[6], (), 1600)
            if any(one.state == "active" for one in told) and quirk.token in world.work(quirk, told):
                now.add(quirk.trigger)
        assert solved <= now
        solved = now
    assert solved
