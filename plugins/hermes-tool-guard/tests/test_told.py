"""What is said of each command of the corpora stays as it is until somebody means to change it.

The corpora say what may never be allowed and what should be; this says all the rest: a change of the guard shows here
command by command. Look at each, then run ``told.py`` and commit what it writes.
"""

import pytest
from guard_places import judged
from told import BRANCHES, DRESSES, NAMES, commands, parts, path_of, told

EVERY = (*NAMES, *BRANCHES, *DRESSES)


@pytest.mark.parametrize(
    ("name", "part"), [pytest.param(n, p, id=f"{n} from {p.start}") for n in EVERY for p in parts(n)]
)
@pytest.mark.few(60)
def test_what_is_said_of_a_command_is_as_it_was(name: str, part: slice) -> None:
    was = path_of(name).read_text(encoding="utf-8").splitlines()
    lines = zip(commands(name)[part], was[part], told(name, part), strict=True)
    assert [f"{command!r}\n  was: {before}\n  now: {now}" for command, before, now in lines if before != now] == []


@pytest.mark.parametrize("name", EVERY)
def test_each_command_has_its_line(name: str) -> None:
    assert len(commands(name)) == len(path_of(name).read_text(encoding="utf-8").splitlines())


def test_of_an_argument_that_names_a_secret_the_part_is_told_whatever_the_order_of_sets() -> None:
    reason = judged("docker run -v /var/run/docker.sock:/s alpine").reason
    assert reason == "touches /var/run/docker.sock, which may hold credentials"
