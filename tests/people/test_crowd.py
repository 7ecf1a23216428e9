"""Eight people at once in one process, each judged: their requests, answers and rows are those they have alone.

One crowd is eight conversations with somebody there and without. ``pytest -m long tests/people/test_crowd.py --talks 8
--first 17`` plays one; ``--talks 2000 -n 2 --kept FILE`` is the long run, which may be ended and goes on.
"""

import pytest
from people_crowd import judged_crowd
from people_house import CROWD
from people_kept import kept_crowds
from people_near import near
from people_script import COMMANDS

pytestmark = pytest.mark.long


def pytest_generate_tests(metafunc) -> None:
    if "crowd" not in metafunc.fixturenames:
        return
    first, talks = (int(metafunc.config.getoption(name)) for name in ("first", "talks"))
    crowds = range((first - 1) // len(CROWD), -(-(first - 1 + talks) // len(CROWD)))
    kept = kept_crowds(metafunc.config.getoption("kept"))
    metafunc.parametrize("crowd", [one for one in crowds if one not in kept])


def test_every_command_is_played(tmp_path):
    with near(tmp_path / "house") as made:
        assert {one["command"] for one in made.phones.menu()} == set(COMMANDS)


@pytest.mark.timeout(300)
def test_nobody_notices_that_others_are_there(tmp_path, crowd):
    wrong = judged_crowd(tmp_path / "house", crowd)
    assert not wrong, "\n".join(wrong)
