"""Many people write faster than they are answered, on services that fail: each reads their answers in order, once.

`nox -s delivery -- --messages 2000 -k test_order` is the long run.
"""

import asyncio
import random
from collections import Counter, defaultdict

import pytest
from delivery_judge import MARK
from far_end import FarEnd
from gateway_house import context_of, rows_of
from house import Echo, all_sent

from hermes_core.slash import QUEUED
from hermes_core.testing.bench import Bench
from hermes_core.types import Envelope, Message, Text
from hermes_platform_gateway.gateway import Gateway
from hermes_platform_gateway.outward import attempt, rate_limiter
from hermes_platform_gateway.outward.sender import PLACEHOLDER, Sender

pytestmark = pytest.mark.long
CHATS, MOST = 20, 200  # people on a street, and what they write there
FAULTS = {"lost": 0.06, "silent": 0.06, "flood": 0.06, "cut": 0.06, "no_edit": 0.0}


class Street(FarEnd):
    """A service on which people write in bursts; now and then something is delivered again."""

    def __init__(self, folder, kind, seed, messages: int) -> None:
        super().__init__(folder / "seen", kind, seed=seed, limit=200, odds=FAULTS)
        self.waits = (0.005, 0.02, 0.1)
        self.taken: list[dict] = []
        self.events = [(f"e{number}", f"chat{number % CHATS}", f"number {number}") for number in range(messages)]
        self.acked: set[str] = set()
        self._closed = asyncio.Event()

    def _take(self, **line) -> None:
        self.taken.append(line)

    def lines(self) -> list[dict]:
        return self.taken

    async def open(self, console):
        pass

    async def close(self):
        self._closed.set()

    async def ack(self, envelope):
        self.acked.add(envelope.event_id)

    async def receive(self):
        for at, event in enumerate(self.events):
            yield self._told(event)
            if self._dice.random() < 0.1:
                yield self._told(self._dice.choice(self.events[max(0, at - 30) : at + 1]))
            while at - len(self.acked) > 3 * CHATS:
                await asyncio.sleep(0.005)
            await asyncio.sleep(self._dice.choice((0, 0, 0, 0.02)))
        await self._closed.wait()

    def _told(self, event):
        number, chat, text = event
        message = Message(role="user", parts=(Text(text=text),))
        return Envelope(platform=self.name, account="bot", event_id=number, chat=chat, sender=chat, message=message)

    def answers(self) -> dict[str, list[str]]:
        """What people read in each chat, from above to below, without receipts and without what says nothing."""
        found = defaultdict(list)
        for chat, text in self.seen():
            if text != PLACEHOLDER and QUEUED not in text:
                found[chat].append(text)
        return found


def pytest_generate_tests(metafunc) -> None:
    """Share the messages out between streets."""
    left = metafunc.config.getoption("messages")
    streets = [min(MOST, left - at) for at in range(0, left, MOST)]
    metafunc.parametrize(("number", "messages"), list(enumerate(streets)))


@pytest.mark.parametrize("kind", ["edits", "deletes", "keyed", "keyed_only"])
async def test_everybody_reads_their_answers_in_order(tmp_path, monkeypatch, caplog, kind, number, messages):
    monkeypatch.setattr(rate_limiter, "LONGEST_WAIT", 0.2)
    monkeypatch.setattr(attempt, "_LAST_PAUSE", 0.05)
    monkeypatch.setitem(Sender.__init__.__kwdefaults__, "poll", 0.05)
    random.seed(f"{kind} {number}")
    street = Street(tmp_path, kind, f"{kind} {number}", messages)
    hermes = Bench(tmp_path / "home")
    hermes.tmp_plugin("hermes_platform_gateway")
    hermes.tmp_plugin("hermes_tool_commands")
    hermes.tmp_plugin(Echo(tmp_path / "asked"), name="echo")
    hermes.configure({"gateway.allow_all_users": True, "gateway.edit_seconds": 0.002, "gateway.edit_chars": 3})
    async with hermes:
        gateway, stop = Gateway(context_of(hermes), [street]), asyncio.Event()
        running = asyncio.create_task(gateway.run(stop))
        store = await hermes.runtime.store()
        while not await all_sent(store, len(street.events)):
            assert not running.done()
            await asyncio.sleep(0.1)
        stop.set()
        await running
        counts = await rows_of(store).outbox.outbox_counts()
    assert "somebody else" not in caplog.text, "one sender sends here"
    read, wanted = street.answers(), defaultdict(list)
    for _, chat, text in street.events:
        wanted[chat].append(f"The answer to {text} is not a short one.")
    assert {state for _, _, state in counts} <= {"sent", "abandoned"}, counts
    for chat, texts in wanted.items():
        assert [text for text in read[chat] if not text.startswith(MARK)] == texts, chat
    assert not [text for texts in read.values() for text, many in Counter(texts).items() if many > 1]
