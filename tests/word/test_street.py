"""Everybody reads their answers in order and once, on services that fail, from a gateway that is killed again and again.

The gateway is a real one, with a platform that was written from the documentation alone. The long run:
``pytest -m long tests/word/test_street.py --messages 2000 -s``.
"""

import random
from collections import Counter
from pathlib import Path

import pytest
from word_model import Model
from word_service import KINDS, Service
from word_street import Street

pytestmark = pytest.mark.long

MOST = {"plain": 2000}  # messages on one street: there, a try without a receipt is followed by another in half a minute
CHATS = {"plain": 100}


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("kind", list(KINDS))
def test_everybody_reads_their_answers_in_order_and_once(tmp_path, server, pytestconfig, kind):
    left, tally, number = pytestconfig.getoption("--messages"), Counter[str](), 0
    chats, most = [f"chat{number}" for number in range(CHATS.get(kind, 20))], MOST.get(kind, 250)
    while left > 0:
        number += 1
        with Model(slow=0.01, seed=number) as model, Service(kind, f"{kind} {number}") as service:
            street = Street(service, chats, random.Random(f"street {kind} {number}"), tally)
            env = {"FAR_PORT": str(service.port), "FAR_FEATURES": service.features}
            plugin = Path(__file__).with_name("word_far.py")
            senders = [f"far:{chat}" for chat in chats]
            street.play(tmp_path / str(number), server, model, "far: {}", senders, min(most, left), env, plugin)
        if "IDEMPOTENT" in service.features or "EDIT" in service.features:
            assert not tally["marked as repeated"] + tally["given up, and listed"], tally
        left -= most
    print(f"\nstreet {kind}: {dict(tally)}")
