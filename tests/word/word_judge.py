"""What must be true of a home after everything in it was killed and went on."""

import sqlite3
from collections import Counter
from contextlib import closing

from word_home import Home, orphans, valid
from word_model import Model, answer


def judge(
    home: Home, model: Model, said: list[str], kept: set[str], tally: Counter[str], *, again: bool
) -> Counter[str]:
    """Judge jobs: each that was heard is done once and answered once; those of ``kept`` were heard. Gives which were.

    ``again``: a command dies with its Hermes, and may be begun again, but never done again.
    """
    assert not model.refused, model.refused
    assert orphans(home) == {}
    rows = home.lines("sessions", "list", "--json", "--all", "-n", "1000")
    assert {row["state"] for row in rows} <= {"idle"}, rows
    heard, answered = Counter[str](), Counter[str]()
    for row in rows:
        messages = home.lines("sessions", "export", row["id"])
        assert not valid(messages), (valid(messages), messages)
        for name in said:
            heard[name] += sum(f"job {name}:" in m["content"] for m in messages if m["role"] == "user")
            said_by = [m["content"] or "" for m in messages if m["role"] == "assistant"]
            answered[name] += sum(answer(name) in text and "(This answer was cut off.)" not in text for text in said_by)
    effects = home.effects()
    without = {name for name in said if heard[name] > answered[name]}
    assert len(without) == _given_up(home), without
    tally["given up after four deaths"] += len(without)
    tally["steps looked at and done again"] += len(model.repeated)
    tally["ended for want of a yes"] += len(model.unheard)
    for name in said:
        steps = {line.split()[0] for line in effects if line.startswith(f"{name}.")}
        assert heard[name] <= 1, (name, "is there twice")
        assert answered[name] + (name in without) == heard[name], (name, heard[name], answered[name])
        assert heard[name] or name not in kept, (name, "was lost")
        assert heard[name] or not steps, (name, "had effects and is not there")
        tally["turns"] += heard[name]
        tally["cut before they were heard"] += not heard[name]
        for step in steps:
            tally["effects"] += 1
            assert effects[f"{step} end"] == 1 or name in without, (step, effects)
            assert effects[f"{step} end"] <= 1, (step, effects)
            assert effects[f"{step} begin"] == 1 or again, (step, "was begun again")
            tally["begun again after they were ended"] += effects[f"{step} begin"] - 1
    return heard


def _given_up(home: Home) -> int:
    """How many turns were given up, as those are whose process died again and again."""
    with closing(sqlite3.connect(f"file:{home.home}/state.db?mode=ro", uri=True)) as store:
        told = "SELECT count(*) FROM turns WHERE state = 'failed' AND error LIKE 'This turn was given up: its process%'"
        return int(store.execute(told).fetchone()[0])
