"""One sender: what it does with each answer of a service."""

import asyncio
import time

import pytest
from far_end import FarEnd
from gateway_house import context_of, rows_of
from post import Clock, outgoing, send_all

from hermes_core.errors import NotSent, Undeliverable
from hermes_core.types import Blob, Button, Buttons, Sent
from hermes_platform_gateway.outward.attempt import GIVEN_UP, KEY_LIFE
from hermes_platform_gateway.outward.pieces import said
from hermes_platform_gateway.outward.sender import Sender

CALM = dict.fromkeys(("lost", "silent", "flood", "cut", "no_edit"), 0.0)


class Scripted(FarEnd):
    """A service that answers the next requests as the test says: an error, or None for what is well."""

    def __init__(self, file, kind="plain", answers=(), **more):
        super().__init__(file, kind, odds=CALM, **more)
        self.answers = list(answers)
        self.asked: list[tuple[str, str]] = []

    def _before(self, chat):
        answer = self.answers.pop(0) if self.answers else None
        if answer is not None:
            self.asked.append((chat, type(answer).__name__))
            raise answer
        self.asked.append((chat, "well"))

    def texts(self):
        return [text for _, text in self.seen()]


@pytest.fixture
def post(store, tmp_path):
    class Post:
        def __init__(self, kind="plain", answers=(), **more):
            self.far, self.clock = Scripted(tmp_path / "seen", kind, answers), Clock()
            self.sender = Sender(context_of(store), self.far, clock=self.clock, poll=5.0, **more)

        async def put(self, *texts, chat="c", **more):
            for text in texts:
                await rows_of(store).outbox.send_later(
                    outgoing(f"{chat}:{text if isinstance(text, str) else 'm'}", text, chat, **more)
                )

        async def all(self):
            await send_all(store, self.sender, self.clock)

        async def row(self, key):
            [row] = await rows_of(store).outbox.outbox_of(key=key)
            return row

    return Post


async def test_one_that_is_told_to_wait_holds_up_its_own_chat_only(post):
    here = post(answers=[NotSent("flood", retry_after=40)])
    await here.put("1", "2", chat="a")
    await here.put("3", chat="b")
    began = here.clock.now
    assert await here.sender.settle() <= 5.0
    assert here.far.seen() == [("b", "3")]
    await here.all()
    assert here.far.seen() == [("b", "3"), ("a", "1"), ("a", "2")]
    assert here.clock.now - began >= 40


async def test_a_thread_of_the_same_chat_waits_with_it(post):
    here = post(answers=[NotSent("flood", retry_after=40)])
    await here.put("1", chat="a", thread="x")
    await here.sender.settle()
    await here.put("2", chat="a", thread="y")
    await here.sender.settle()
    assert here.far.seen() == []
    await here.all()
    assert [text for _, text in here.far.seen()] == ["1", "2"]


async def test_an_account_that_is_told_to_wait_waits_everywhere(post):
    here = post(answers=[NotSent("flood", retry_after=40, everywhere=True)], side_by_side=1)
    await here.put("1", chat="a")
    await here.put("2", chat="b")
    await here.sender.settle()
    assert here.far.seen() == []
    here.clock.now += 39
    await here.sender.settle()
    assert here.far.seen() == []
    await here.all()
    assert here.far.seen() == [("a", "1"), ("b", "2")]


async def test_a_wait_lasts_over_a_restart(post, store):
    here = post(answers=[NotSent("flood", retry_after=40)])
    await here.put("1")
    await here.sender.settle()
    after = Sender(context_of(store), here.far, clock=here.clock, poll=5.0)
    await after.settle()
    assert here.far.seen() == []
    here.clock.now += 41
    await after.settle()
    assert here.far.texts() == ["1"]


@pytest.mark.parametrize(("kind", "asked"), [("plain", 2), ("edits", 6)])
async def test_what_never_gets_a_receipt_is_given_up_and_stays_visible(post, store, kind, asked):
    here = post(kind, answers=[TimeoutError()] * 100)
    await here.put("1", "2")
    here.far.answers = [TimeoutError()] * asked
    await here.all()
    row = await here.row("c:1")
    assert (row.state, row.error) == ("failed", "No receipt came; it may have arrived (TimeoutError).")
    assert here.far.texts()[-1:] == ["2"], "what comes after it is sent"
    assert await rows_of(store).outbox.outbox_counts() == {("far", "bot", "failed"): 1, ("far", "bot", "sent"): 1}


async def test_a_key_is_trusted_for_a_while_and_then_the_message_is_marked(post):
    here = post("keyed", answers=[TimeoutError()])
    await here.put("1")
    await here.sender.settle()
    here.clock.now += KEY_LIFE + 1
    await here.all()
    assert here.far.texts() == ["(may be repeated)\n1"]
    assert (await here.row("c:1")).repeated == 1


async def test_what_cannot_be_sent_for_a_day_is_given_up_and_can_be_sent_again(post, store):
    here = post(answers=[NotSent("no connection")])
    await here.put("1")
    await here.sender.settle()
    here.clock.now += GIVEN_UP + 60  # its row was made a little later
    await here.sender.settle()
    row = await here.row("c:1")
    assert (row.state, row.error) == ("failed", "It could not be sent for a day (no connection).")
    assert await rows_of(store).outbox.send_again(row.id)
    here.clock.now = time.time()  # the store goes by it
    await here.all()
    assert here.far.texts() == ["1"], "it surely did not arrive before"


@pytest.mark.parametrize(
    ("kind", "answers", "text"),
    [
        ("plain", [TimeoutError()] * 2, "(may be repeated)\n1"),
        ("edits", [TimeoutError()] * 6, "1"),
        ("plain", [Undeliverable("not for now")], "1"),
    ],
    ids=["unsure", "never placed", "refused"],
)
async def test_what_was_given_up_can_be_sent_again_and_says_what_may_be_there_already(post, store, kind, answers, text):
    here = post(kind, answers=answers)
    await here.put("1")
    await here.all()
    assert (await here.row("c:1")).state == "failed"
    store_of, row = rows_of(store).outbox, await here.row("c:1")
    assert await store_of.send_again(row.id)
    assert not await store_of.send_again(row.id), "it waits already"
    await here.all()
    assert here.far.texts()[-1:] == [text]
    assert (await here.row("c:1")).state == "sent"


async def test_of_what_is_sent_again_nothing_comes_twice_that_arrived(post, store):
    here = post(answers=[None, Undeliverable("not this")])
    here.far.limit = 100
    await here.put("word " * 30)
    await here.all()
    first = here.far.texts()
    assert len(first) == 1
    row = await here.row("c:" + "word " * 30)
    assert await rows_of(store).outbox.send_again(row.id)
    await here.all()
    assert here.far.texts()[0] == first[0]
    assert sum(text.count("word") for text in here.far.texts()) == 30


async def test_a_chat_that_is_gone_is_remembered_and_the_secret_in_the_error_is_not(post, store):
    here = post(answers=[Undeliverable("the bot was put out, says https://host/TOKEN/x")])
    here.sender._mask = lambda text: text.replace("TOKEN", "***")
    await here.put("1")
    await here.all()
    row = await here.row("c:1")
    assert (row.state, row.error) == ("failed", "the bot was put out, says https://host/***/x")
    look = "SELECT chat, dead FROM platform_gateway__chats"
    rows = store.database.transact(lambda tx: tx.connection.execute(look).fetchall())
    assert [tuple(r) for r in rows] == [("c", row.error)]


async def test_a_file_that_is_refused_is_told_of_and_the_chat_lives(post):
    file = Blob(media_type="application/zip", data=b"PK", name="all.zip")
    here = post(answers=[None, Undeliverable("too large")])
    await here.put(said("Here.", file))
    await here.all()
    assert here.far.texts() == ["Here.", "(all.zip could not be sent: too large)"]
    assert (await here.row("c:m")).state == "sent"


async def test_buttons_and_the_message_it_answers_go_with_the_right_pieces(post):
    sends = []

    class Buttoned(Scripted):
        async def send(self, chat, message, key):
            sends.append((chat.reply_to, [type(part).__name__ for part in message.parts], key))
            return Sent(chat=chat.id, message_id=key)

    from hermes_core.types import Feature

    here = post()
    here.far.__class__ = Buttoned
    here.far.features, here.far.limit = frozenset({Feature.BUTTONS}), 100
    question = said("word " * 30, Buttons(buttons=(Button(label="Yes", says="/approve 1"),)))
    await here.put(question, reply_to="7")
    await here.all()
    assert sends == [("7", ["Text"], "c:m:0"), ("", ["Text", "Buttons"], "c:m:1")]


async def test_one_that_runs_hears_of_what_is_put_and_ends_when_it_is_stopped(post):
    here = post()
    here.sender._poll = 1000.0
    running = asyncio.create_task(here.sender.run())
    await asyncio.sleep(0.01)
    await here.put("1")
    async with asyncio.timeout(10):
        while here.far.texts() != ["1"]:
            await asyncio.sleep(0.005)
        here.sender.stop()
        await running


async def test_a_row_that_another_sender_took_is_left_to_it(post, store):
    here = post()
    await here.put("1")
    [row] = await rows_of(store).outbox.due("far", "bot", here.clock.now)
    await rows_of(store).outbox.mark_sending(row, "another", [row.outgoing.message], repeated=0, now=here.clock.now)
    await here.sender._deliver(row)
    assert here.far.seen() == []
