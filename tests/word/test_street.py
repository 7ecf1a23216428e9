"""Everybody reads their answers in order and once, on services that fail, from a gateway that is killed often.

The gateway is a real one, with a platform that was written from the documentation alone. The long run:
``pytest -m long -o faulthandler_timeout=0 tests/word/test_street.py --messages 2000 -s``.
"""

import random
from collections import Counter
from pathlib import Path

import pytest
from word_model import Model
from word_service import KINDS, Service
from word_street import Street
from word_telegram import TOKEN, Telegram, number_of

pytestmark = pytest.mark.long

MOST = {"plain": 2000}  # messages on one street: there, a try without a receipt is followed by another in half a minute
CHATS = {"plain": 100}


def pytest_generate_tests(metafunc) -> None:
    """Play some kinds of services, or all where many messages are wanted."""
    if "kind" in metafunc.fixturenames:
        few = metafunc.config.getoption("messages") < 100
        metafunc.parametrize("kind", ("deletes",) if few else list(KINDS))


@pytest.fixture
def messages(pytestconfig) -> int:
    """How many are written on one kind of service."""
    wanted = int(pytestconfig.getoption("--messages"))
    return wanted if wanted >= 100 else wanted // 3


@pytest.mark.timeout(7200)
def test_everybody_reads_their_answers_in_order_and_once(tmp_path, server, messages, kind):
    left, tally, number = messages, Counter[str](), 0
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
        print(f"\nstreet {kind} {number}: {dict(tally)}", flush=True)


@pytest.mark.timeout(7200)
def test_everybody_reads_their_answers_on_telegram(tmp_path, server, messages):
    left, tally, number = messages, Counter[str](), 0
    chats = [f"person{number}" for number in range(20)]
    while left > 0:
        number += 1
        with Model(slow=0.01, seed=number) as model, Telegram(chats, f"telegram {number}") as service:
            street = Street(service, chats, random.Random(f"street telegram {number}"), tally)
            platform = f"telegram: {{base_url: '{service.url}', seconds: 1, album_seconds: 0.2, poll_seconds: 5}}"
            senders, env = [f"telegram:{number_of(chat)}" for chat in chats], {"TELEGRAM_BOT_TOKEN": TOKEN}
            street.play(tmp_path / str(number), server, model, platform, senders, min(250, left), env)
        assert not tally["marked as repeated"] + tally["given up, and listed"], tally
        left -= 250
        print(f"\nstreet telegram {number}: {dict(tally)}", flush=True)
