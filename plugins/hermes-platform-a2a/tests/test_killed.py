"""kill -9 at every write: a message that comes again finds its task, which is done once."""

import json
import signal
from pathlib import Path

import pytest

from hermes_core.testing.forks import Forks

pytestmark = pytest.mark.long

MANY = 3


@pytest.fixture(scope="module")
def forks():
    """Processes that are killed."""
    with Forks(Path(__file__).with_name("dying.py")) as made:
        yield made


def play(forks, folder, die_at=""):
    home, said = folder / "home", folder / "said"
    said.unlink(missing_ok=True)
    env = {"HERMES_HOME": str(home), "HERMES_TESTING": "1", "HERMES_DIE_AT": die_at}
    forks.start(env=env, output=said, home=str(home), many=MANY)
    status = forks.wait()
    lines = said.read_text().splitlines() if said.exists() else []
    return status, [json.loads(one) for one in lines if one.startswith("[") and one.endswith("]")]


def test_a_death_at_any_write_loses_none_and_does_none_twice(tmp_path, forks):
    deaths = 0
    for point in ("storing", "stored", "received"):
        for number in range(1, 60):
            folder = tmp_path / f"{point}-{number}"
            folder.mkdir()
            status, before = play(forks, folder, f"{point}:{number}")
            assert status in (0, -signal.SIGKILL), (folder / "said").read_text()
            again, after = play(forks, folder)
            assert again == 0, (folder / "said").read_text()
            told = {one[1]: one[2] for one in after if one[0] == "task"}
            assert {one[3] for one in after if one[0] == "task"} == {"TASK_STATE_COMPLETED"}
            assert all(told[one[1]] == one[2] for one in before if one[0] == "task")
            rows = [one for one in after if one[0] == "row"]
            assert sorted(one[1] for one in rows) == sorted(told.values()), "a task for each message, and no other"
            assert {tuple(one[2:]) for one in rows} == {("TASK_STATE_COMPLETED", "done")}
            assert len([one for one in after if one[0] == "session"]) == MANY
            if status == 0:
                break
            deaths += 1
    assert deaths > 4
