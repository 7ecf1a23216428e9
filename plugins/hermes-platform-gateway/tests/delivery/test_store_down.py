"""A store that cannot be written for a while: nothing is sent twice for it, and nothing is forgotten."""

import asyncio

import pytest
from far_end import FarEnd
from gateway_house import context_of, rows_of
from post import Clock, outgoing, send_all

from hermes_core.errors import NotSent, StoreError, Undeliverable
from hermes_platform_gateway.outward.sender import Sender
from hermes_platform_gateway.rows.outbox import Outbox

CALM = dict.fromkeys(("lost", "silent", "flood", "cut", "no_edit"), 0.0)


class Down:
    """Methods of the store that fail so many times."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch
        self.tried: list[str] = []

    def fails(self, name: str, times: int) -> None:
        real, left = getattr(Outbox, name), [times]

        async def method(*args, **more):
            self.tried.append(name)
            if left[0]:
                left[0] -= 1
                raise StoreError("The disk is full.")
            return await real(*args, **more)

        self._patch.setattr(Outbox, name, method)


@pytest.fixture
def down(monkeypatch):
    return Down(monkeypatch)


class Scripted(FarEnd):
    """A service that answers the next requests as the test says."""

    def __init__(self, file, kind, answers=()):
        super().__init__(file, kind, odds=CALM)
        self.answers, self.asked = list(answers), 0

    def _before(self, chat):
        self.asked += 1
        if self.answers and (answer := self.answers.pop(0)):
            raise answer


@pytest.fixture
def post(store, tmp_path):
    def make(kind="plain", answers=()):
        far, clock = Scripted(tmp_path / "seen", kind, answers), Clock()
        return far, clock, Sender(context_of(store), far, clock=clock, poll=0.002)

    return make


def texts(far):
    return [text for _, text in far.seen()]


@pytest.mark.parametrize(("kind", "asked"), [("plain", 1), ("keyed_only", 1), ("edits", 2)])
async def test_a_receipt_is_written_when_the_store_is_back_and_nothing_is_sent_again(store, post, down, kind, asked):
    far, clock, sender = post(kind)
    down.fails("mark_sent", 3)
    await rows_of(store).outbox.send_later(outgoing("1", "Hello."))
    await send_all(store, sender, clock)
    assert (far.asked, texts(far)) == (asked, ["Hello."])
    assert down.tried == ["mark_sent"] * 4
    [row] = await rows_of(store).outbox.outbox_of(key="1")
    assert (row.state, row.repeated, list(row.receipts)) == ("sent", 0, ["m0"])


async def test_nothing_is_asked_of_a_service_before_it_is_written_down(store, post, down):
    far, clock, sender = post()
    down.fails("mark_sending", 3)
    await rows_of(store).outbox.send_later(outgoing("1", "Hello."))
    for _ in range(3):
        await sender._deliver((await rows_of(store).outbox.due("far", "bot", clock.now))[0])
    assert far.asked == 0
    await send_all(store, sender, clock)
    assert (far.asked, texts(far)) == (1, ["Hello."])
    [row] = await rows_of(store).outbox.outbox_of(key="1")
    assert (row.state, row.tries, row.repeated) == ("sent", 0, 0)


async def test_a_placeholder_is_remembered_however_long_that_takes(store, post, down):
    far, clock, sender = post("edits")
    down.fails("mark_placeholder", 3)
    await rows_of(store).outbox.send_later(outgoing("1", "Hello."))
    await send_all(store, sender, clock)
    assert (far.asked, texts(far)) == (2, ["Hello."])


@pytest.mark.parametrize(
    ("answer", "mark", "state"),
    [
        (NotSent("flood", retry_after=5), "mark_again", "sent"),
        (TimeoutError(), "mark_again", "sent"),
        (Undeliverable("gone"), "mark_failed", "failed"),
    ],
    ids=["told to wait", "no receipt", "refused"],
)
async def test_what_a_service_refused_is_written_when_the_store_is_back(store, post, down, answer, mark, state):
    far, clock, sender = post("keyed_only", [answer])
    down.fails(mark, 3)
    await rows_of(store).outbox.send_later(outgoing("1", "Hello."))
    await send_all(store, sender, clock)
    assert down.tried == [mark] * 4
    [row] = await rows_of(store).outbox.outbox_of(key="1")
    assert row.state == state
    assert texts(far) == (["Hello."] if state == "sent" else [])


async def test_one_who_was_replaced_while_the_store_was_down_writes_nothing(store, post, down, monkeypatch):
    _far, clock, sender = post()
    await rows_of(store).outbox.send_later(outgoing("1", "Hello."))
    real, taken = Outbox.mark_sent, []

    async def replaced(self, row, *rest, **more):
        if taken:
            return await real(self, row, *rest, **more)
        [now] = await self.outbox_of(key="1")
        taken.append(await self.mark_sending(now, "another", now.pieces, repeated=0, now=clock.now))
        raise StoreError("The disk is full.")

    monkeypatch.setattr(Outbox, "mark_sent", replaced)
    await sender._deliver((await rows_of(store).outbox.due("far", "bot", clock.now))[0])
    [row] = await rows_of(store).outbox.outbox_of(key="1")
    assert (row.state, row.holder, list(row.receipts)) == ("sending", "another", [])


async def test_an_outbox_that_cannot_be_read_is_looked_at_again(store, post, down):
    far, _clock, sender = post()
    down.fails("due", 2)
    await rows_of(store).outbox.send_later(outgoing("1", "Hello."))
    running = asyncio.create_task(sender.run())
    async with asyncio.timeout(10):
        while not far.seen():
            await asyncio.sleep(0.001)
        sender.stop()
        await running
    assert texts(far) == ["Hello."]
