"""Two processes over one home, a start over what a death left, and what goes wrong while a task is played."""

import asyncio

import pytest
from a2a.types import Message, Part, Role, TaskState
from a2a.utils.errors import A2AError, InvalidRequestError
from google.protobuf.struct_pb2 import Struct, Value

from hermes_core.testing import Call
from hermes_core.types import Principal
from hermes_platform_a2a.content import message_of, row_of
from hermes_platform_a2a.live import Live
from hermes_platform_a2a.tasks import Tasks

from .conftest import MODULE, answer_of

OWNER = Principal()
DONE, ASKS, CANCELED = (
    TaskState.TASK_STATE_COMPLETED,
    TaskState.TASK_STATE_INPUT_REQUIRED,
    TaskState.TASK_STATE_CANCELED,
)


def told(text="Hello.", name="m1", **more):
    return Message(message_id=name, role=Role.ROLE_USER, parts=more.pop("parts", [Part(text=text)]), **more)


@pytest.fixture
def two(hermes):
    """What two processes have, each its own, over one home with a model and more plugins."""

    def make(model, *more, **settings):
        hermes.configure({f"platforms.a2a.{name}": value for name, value in settings.items()})
        for one in (model, MODULE, *more):
            hermes.tmp_plugin(one)
        hermes.runtime.loader.load_contributing("routes")
        return Tasks(hermes.context(MODULE)), Tasks(hermes.context(MODULE))

    return make


async def test_one_message_at_two_processes_is_one_task_that_is_done_once(two, scripted):
    here, there = two(scripted("Once."))
    lives = await asyncio.gather(here.send(OWNER, told()), there.send(OWNER, told()))
    await asyncio.gather(*(one.rest() for one in lives))
    assert [(one.task.id, answer_of(one.task)) for one in lives] == [(lives[0].task.id, "Once.")] * 2


async def test_a_question_of_one_process_is_seen_and_canceled_at_the_other(two, scripted):
    here, there = two(scripted(Call("clarify", {"question": "Which day?"})), "hermes_tool_clarify")
    mine = await here.send(OWNER, told())
    await mine.rest()
    seen = await there.find(OWNER, mine.task.id)
    async with asyncio.timeout(20):
        await seen.rest()
        assert seen.task.status.state == ASKS
        with pytest.raises(A2AError, match="asks nothing"):
            await there.send(OWNER, told("Friday", "m2", task_id=mine.task.id))
        assert (await there.cancel(OWNER, mine.task.id)).status.state == CANCELED
        await here.find(OWNER, mine.task.id)
        async for _ in mine.watch(whole=True):
            pass
    assert mine.task.status.state == CANCELED


async def test_what_was_written_and_not_begun_goes_on_with_the_next_start(two, scripted, monkeypatch):
    here, there = two(scripted("At last."))
    monkeypatch.setattr(Live, "begin", lambda *_: None)  # as if it died between its row and its turn
    left = (await here.send(OWNER, told())).task.id
    monkeypatch.undo()
    await there.page(OWNER, context="", state="", since=0, before=None, most=1, artifacts=False)
    live = await there.find(OWNER, left)
    await live.rest()
    assert (live.task.status.state, answer_of(live.task)) == (DONE, "At last.")


async def test_what_breaks_while_it_is_played_fails_the_task_and_tells_nothing_of_the_inside(
    two, scripted, monkeypatch
):
    def broken(_):
        raise RuntimeError("the inside of it")

    here, _ = two(scripted())
    monkeypatch.setattr(Live, "_run", broken)
    live = await here.send(OWNER, told())
    await live.rest()
    assert live.task.status.state == TaskState.TASK_STATE_FAILED
    assert "log says what" in live.task.status.message.parts[0].text
    assert "inside" not in str(live.task)


async def test_a_turn_that_cannot_begin_is_a_task_that_failed_with_its_reason(two, scripted):
    here, _ = two(scripted(), ask="nowhere")
    live = await here.send(OWNER, told())
    await live.rest()
    assert live.task.status.state == TaskState.TASK_STATE_FAILED
    assert live.task.status.message.parts[0].text


async def test_a_reader_that_is_far_behind_is_let_go_and_too_many_are_refused(two, scripted):
    here, _ = two(scripted(Call("clarify", {"question": "Which day?"})), "hermes_tool_clarify")
    live = await here.send(OWNER, told())
    await live.rest()
    slow = live.watch(whole=True)
    await anext(slow)
    for _ in range(2_000):
        live._publish(live._change())
    assert 0 < len([event async for event in slow]) <= 1_000
    *many, last = [live.watch(whole=True) for _ in range(21)]
    for one in many:
        await anext(one)
    with pytest.raises(InvalidRequestError):
        await anext(last)
    for one in many:
        await one.aclose()
    await here.cancel(OWNER, live.task.id)


def test_text_json_and_pictures_are_read():
    known = Struct()
    known.update({"town": "Oslo"})
    parts = [
        Part(text="Look."),
        Part(data=Value(struct_value=known)),
        Part(raw=b"\x89PNG", media_type="image/png", filename="a.png"),
        Part(raw="größer".encode(), media_type="text/csv; charset=utf-8", filename="b.csv"),
    ]
    text, data, picture, file = message_of(told(parts=parts)).parts
    assert (text.text, data.text, picture.data, file.text) == ("Look.", '{"town": "Oslo"}', b"\x89PNG", "b.csv\ngrößer")
    with pytest.raises(A2AError, match="UTF-8"):
        message_of(told(parts=[Part(raw=b"\xff", media_type="text/plain")]))


async def test_what_is_over_stays_as_it_is(two, scripted):
    here, _ = two(scripted("Done."))
    live = await here.send(OWNER, told())
    await live.rest()
    again = row_of(live.task, "owner")
    live.task.status.state = TaskState.TASK_STATE_WORKING
    await here._rows.save(row_of(live.task, "owner"))
    assert (await here._rows.get("owner", again.id)).state == "completed"
    assert await here._rows.get("anna", again.id) is None
    await here._rows.forget(-10.0)
    assert await here._rows.get("owner", again.id) is None
    once_more = await here.send(OWNER, told())  # its turn is known still
    await once_more.rest()
    assert answer_of(once_more.task) == "Done."
