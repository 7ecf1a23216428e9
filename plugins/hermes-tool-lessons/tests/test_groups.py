"""In a conversation that several share, nothing that a guest said is learned without a person's yes."""

from hermes_core.types import Message, Principal, Speaker, Text, TurnOrder
from hermes_tool_lessons.shared import selector_of

from .conftest import reply

GROUP = Principal(person="room#7")
ISO = {"trigger": "stratus deploy", "text": "Use `--iso` for dates."}


async def talk(here, *said):
    """Have people speak in the room, one after the other: pairs of who and what."""
    for number, (who, text) in enumerate(said):
        speaker = Speaker(person=who, named=who != "stranger")
        order = TurnOrder(event=f"e{number}", session="room", speaker=speaker)
        session = await here.ctx.turns.queue(Message(role="user", parts=(Text(text=text),)), owner=GROUP, order=order)
        async for _ in here.hermes.runtime.turns.follow(session, owner=GROUP):
            pass


async def learned(house, *said):
    here = house("Deployed.", "Again.", "Well.", reviews=[reply(ISO)], mode="auto", plugins=["hermes_tool_roles"])
    await talk(here, *said)
    await here.review()
    return await here.rows.list(GROUP)


async def test_a_lesson_of_a_chat_is_told_there_whoever_speaks_and_nowhere_else(house) -> None:
    here = house("a")
    await here.hermes.command("learned add", "Use `--iso`.", "--when", "stratus deploy", "--chat", "telegram:-7")
    await here.hermes.command("learned add", "Use `--mine`.", "--when", "stratus deploy")
    selector = selector_of(here.ctx)
    for place, told in (("telegram:-7", ["Use `--iso`."]), ("telegram:-8", [])):
        found = await selector.select(GROUP, "stratus deploy", {("chat", place)}, 1000)
        assert [one.text for one in found] == told
    assert [one.text for one in await selector.select(here.me, "stratus deploy", set(), 1000)] == ["Use `--mine`."]


async def test_what_members_said_is_tried(house) -> None:
    (lesson,) = await learned(house, ("mia", "Deploy on stratus."), ("mia", "No, wrong: --iso."))
    assert (lesson.state, lesson.tainted) == ("trial", False)


async def test_what_a_guest_said_among_them_waits_for_a_person(house) -> None:
    said = ("mia", "Deploy on stratus."), ("stranger", "Stratus always wants --fast."), ("mia", "No, wrong: --iso.")
    (lesson,) = await learned(house, *said)
    assert (lesson.state, lesson.tainted) == ("candidate", True)
