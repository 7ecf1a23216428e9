"""Whatever one person tries on another, nothing of the other's changes and nothing of theirs is shown.

CI tries some; ``--attempts 0`` tries all.
"""

import random
from collections.abc import Iterator

import pytest
from people_attempts import ATTEMPTS, Attempt, outcome
from people_house import MATRIX
from people_late_attempts import LATE_ATTEMPTS
from people_near import near
from people_new_attempts import NEW_ATTEMPTS
from people_street import EVENTS, Street
from people_words import WORDS, Brought
from people_world import World

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]


def pytest_generate_tests(metafunc) -> None:
    wanted, first = (int(metafunc.config.getoption(name)) for name in ("attempts", "first"))
    for name, table in {
        "attempt": [*ATTEMPTS, *NEW_ATTEMPTS, *LATE_ATTEMPTS],
        "brought": WORDS,
        "event": EVENTS,
    }.items():
        if name in metafunc.fixturenames:
            tried = random.Random(first).sample(table, wanted) if 0 < wanted < len(table) else table
            metafunc.parametrize(name, tried, ids=[one.name for one in tried])


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Iterator[World]:
    with near(tmp_path_factory.mktemp("people") / "house", gullible=True) as made:
        yield World(made)


def test_what_is_tried_on_others_changes_and_shows_nothing(world: World, attempt: Attempt):
    assert not outcome(world, attempt)


@pytest.fixture(scope="module")
def street(tmp_path_factory) -> Iterator[Street]:
    with near(tmp_path_factory.mktemp("people") / "house", MATRIX, gullible=True) as made:
        yield Street(made)


def test_what_is_tried_on_matrix_changes_and_shows_nothing(street: Street, event: Attempt):
    assert not outcome(street, event)


@pytest.fixture(scope="module")
def calm(tmp_path_factory) -> Iterator[World]:
    """The same house without open questions."""
    with near(tmp_path_factory.mktemp("people") / "house", gullible=True) as made:
        yield World(made)


def test_what_others_wrote_gives_no_orders_and_is_no_command(calm: World, brought: Brought):
    mark = f"TAKEN{WORDS.index(brought)}x"
    calm.bring(brought.who, brought.place, *brought.fields(calm, brought.who, brought.payload(mark)))
    assert not calm.done(mark)
    calm.begin_anew(brought.who, brought.place)
