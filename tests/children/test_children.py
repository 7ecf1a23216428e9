"""A child agent is a process: what it is given, what becomes of it, and what its parent is told."""

import json

from hermes_core.types import Ended


async def test_a_child_answers_in_a_process_of_its_own(house) -> None:
    [[status, answer, session, error, calls, *trace]] = await house.results([[{"note": {"what": "a"}}, "did it"]])
    assert (status, answer, error, calls, trace) == ("done", "did it", "", 2, ["note: ok"])
    assert house.truth("effect") == [["a"]]
    assert session.startswith("child_")
