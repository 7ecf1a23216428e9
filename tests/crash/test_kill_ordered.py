"""A process is killed at every point of a turn that a plugin ordered; its bounds outlive it."""

import itertools
from collections import Counter

import pytest

from hermes_core.store.killpoints import POINTS
from hermes_core.types import Principal

pytestmark = pytest.mark.long

OTHER = ("migrating", "sent_on", "compacting", "compacted", "asked", "approved")  # no such turn comes by them
OTHER += ("acked", "outboxed", "sending", "accepted", "receipted")  # those are tried in tests/delivery
TEXT = "hello 3"


@pytest.mark.parametrize("point", [p for p in POINTS if p not in OTHER])
def test_what_was_ordered_is_played_once_and_within_its_bounds(stages, point, turn):
    """The first round kills once; later ones kill the restart too. The plugin orders again whatever it had ordered."""
    for number in itertools.count(1):
        stage = stages()
        if not stage.say(TEXT, f"{point}:{number}", by="plugin"):
            break
        if turn:
            stage.play(f"{point}:1", resume=True)
        stage.play(resume=True)
        stage.say(TEXT, by="plugin")
        judge(stage)
    stage.say(TEXT, by="plugin")
    judge(stage)
    assert number > 1


def judge(stage) -> None:
    async def look(store):
        owner = Principal()
        rows = [m for _, m in await store.history.messages(owner, "s", window=1000)]
        return rows, await store.journal.interrupted(owner), len(await store.sessions.list(owner))

    rows, left, sessions = stage.read(look)
    assert (left, sessions) == ([], 1)
    assert [m.parts[0].text for m in rows if m.role == "user"] == [TEXT]
    assert [e[1] for e in stage.truth if e[0] == "answer"] == [f"the answer to {TEXT}"]
    effects = Counter(e[1] for e in stage.truth if e[0] == "effect")
    assert set(effects) <= {f"{TEXT} 0-0", f"{TEXT} 1-0"}, "the call that the bounds deny never ran, whoever resumed"
    assert set(effects.values()) <= {1}
