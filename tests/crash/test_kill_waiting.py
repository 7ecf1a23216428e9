"""A process is killed at every point of a turn during which more is said: a steer, or a line that waits its turn."""

import itertools
from collections import Counter

import pytest

from hermes_core.store.inbox import OPEN
from hermes_core.store.killpoints import POINTS
from hermes_core.types import ToolResult

pytestmark = pytest.mark.long

OTHER = ("migrating", "sent_on", "compacting", "compacted", "asked", "approved")  # no such turn comes by them
OTHER += ("acked", "outboxed", "sending", "accepted", "receipted")  # those are tried in tests/delivery
FIRST, MORE = "hello 1", "and more 0"


@pytest.mark.parametrize("how", ["steer", "queue"])
@pytest.mark.parametrize("point", [p for p in POINTS if p not in OTHER])
def test_what_was_acknowledged_is_heard_once(stages, point, how, turn):
    """The first round kills once; later ones kill the restart at the same point too."""
    for number in itertools.count(1):
        stage = stages()
        if not stage.say(FIRST, f"{point}:{number}", meanwhile=how, adds=MORE):
            break
        if turn:
            stage.restart(f"{point}:{1 + (turn + number) % 2}")
        stage.restart()
        judge(stage, how)
    judge(stage, how)
    assert number > 1


def judge(stage, how: str) -> None:
    async def look(store):
        owner = (await store.sessions.list(me()))[0].session.owner
        rows = [m for _, m in await store.history.messages(owner, "s", window=1000)]
        return (
            rows,
            await store.inbox.waiting("s"),
            await store.journal.interrupted(owner),
            await store.history.load("s"),
        )

    rows, waiting, left, history = stage.read(look)
    assert (waiting, left) == ([], [])
    assert len(history) == len(rows), "nothing had to be mended for the reader"
    heard = Counter(p.text for m in rows if m.role == "user" for p in m.parts)
    results = "".join(p.text for m in rows for r in m.parts if isinstance(r, ToolResult) for p in r.parts)
    steered = results.count(f"{OPEN}\n{MORE}\n")
    acked = f"event of {MORE}" in {e[1] for e in stage.truth if e[0] == "ack"}
    said = heard[MORE] + steered
    assert said == 1 if acked else said <= 1, "acknowledged: once; else at most once"
    assert heard[FIRST] == 1
    if how == "queue":
        assert not steered
    answers = [e[1] for e in stage.truth if e[0] == "answer"]
    assert answers == [f"the answer to {text}" for text in ([FIRST, MORE] if heard[MORE] else [FIRST])]


def me():
    from hermes_core.types import Principal

    return Principal()
