"""A question belongs to whom it was put: who answers it, where, by which button, and when that is over."""

import re

from obeying import order
from telegram_family import ANNA, BEN, FAR, GROUP, OWNER, STRANGER
from telegram_service import number


def shown(question, words, choices=()):
    return order("question", question=words, choices=list(choices))


def the_id(message):
    return re.search(r"/(?:answer|approve) ([0-9a-f]{12})", str(message))[1]


async def test_a_button_answers_its_own_question_once_and_dies_with_it(family):
    async with family.at_home():
        family.says(OWNER, shown(family, "Tea?", ["yes", "no"]))
        tea = await family.hears(OWNER, "Tea?")
        data = family.press(OWNER, tea, "yes")
        await family.hears(OWNER, "Done: Tea? allow yes")
        assert "Answered: yes" in await family.loses_buttons(OWNER, tea)
        family.says(OWNER, shown(family, "Wipe the calendar?", ["wipe it", "keep it"]))
        wipe = await family.hears(OWNER, "Wipe the calendar?")
        requests = len(family.model.requests)
        family.service.press(data, message=tea, sender=OWNER)  # of a client that still shows it
        await family.hears(OWNER, "That is already answered")
        assert len(family.model.requests) == requests
        assert len([m for m in family.texts(OWNER) if "Done: Wipe" in m["text"]]) == 0
        family.press(OWNER, wipe, "keep it")
        await family.hears(OWNER, "Done: Wipe the calendar? allow keep it")


async def test_nobody_else_answers_in_a_shared_thread_by_word_or_button(family):
    async with family.at_home():
        family.says(OWNER, shown(family, "Pay the invoice?", ["pay", "wait"]), GROUP, topic=7)
        asked = await family.hears(GROUP, "Pay the invoice?")
        assert f"telegram:{number(OWNER)}⟫, only you can answer this." in asked["text"]
        number_of = the_id(asked["reply_markup"])
        for count, who in enumerate((STRANGER, ANNA, BEN), 1):
            family.press(who, asked, "pay")
            await family.hears(GROUP, "put to somebody else", 2 * count - 1)
            family.says(who, f"/answer {number_of} pay", GROUP, topic=7)
            await family.hears(GROUP, "put to somebody else", 2 * count)
        family.says(ANNA, "pay", GROUP, topic=7)  # it waits for its turn, as any message does
        family.says(OWNER, "2", GROUP, topic=7)
        await family.hears(GROUP, "Done: Pay the invoice? allow wait")
        await family.loses_buttons(GROUP, asked)
        await family.hears(GROUP, "I heard you.")


async def test_a_yes_for_a_group_is_asked_in_private_and_nobody_else_gives_it(family):
    async with family.at_home():
        family.says(ANNA, "Hello.")
        await family.hears(ANNA, "I heard you.")
        family.says(ANNA, order("post", text="one"), GROUP, topic=7)
        asked = await family.hears(ANNA, "May I do this?")
        assert "Of what you said in Family:" in asked["text"]
        line = await family.hears(GROUP, "is asked privately.")
        assert "one" not in line["text"].replace("telegram", "")
        assert "reply_markup" not in line
        for count, who in enumerate((BEN, OWNER), 1):
            family.says(who, f"/approve {the_id(asked)}", GROUP, topic=7)
            await family.hears(GROUP, "put to somebody else", count)
            family.says(who, f"/approve {the_id(asked)}")
            await family.hears(who, "There is no approval named")
            family.says(who, "/approve", GROUP, topic=7)
            await family.hears(GROUP, "No question is open.", count)
        assert family.posted == []
        family.press(ANNA, asked, "Yes, once")
        await family.hears(GROUP, "Done: posted")
        assert "Allowed (once)." in await family.loses_buttons(ANNA, asked)
        family.press(ANNA, asked, "Yes, once")
        await family.hears(ANNA, "That is already answered: allowed (once)")
    assert family.posted == ["one"]


async def test_who_has_no_private_chat_is_asked_in_the_group_and_alone_answers(family):
    async with family.at_home():
        family.says(ANNA, order("post", text="one"), GROUP, topic=7)
        asked = await family.hears(GROUP, "May I do this?")
        assert "only you can answer this" in asked["text"]
        family.press(OWNER, asked, "Yes, once")
        await family.hears(GROUP, "put to somebody else")
        family.press(STRANGER, asked, "No")
        await family.hears(GROUP, "put to somebody else", 2)
        family.says(ANNA, "/approve", GROUP, topic=7)
        await family.hears(GROUP, "Done: posted")
        await family.loses_buttons(GROUP, asked)


async def test_work_in_the_background_asks_by_its_own_buttons(family):
    async with family.at_home():
        family.says(ANNA, f"/background {shown(family, 'BG?', ['left', 'right'])}")
        asked = await family.hears(ANNA, "BG?")
        number_of = the_id(asked["reply_markup"])
        assert f"`/answer {number_of}`" in asked["text"] or f"/answer {number_of}" in asked["text"]
        family.says(ANNA, "1")  # what is said in the conversation is said there
        await family.hears(ANNA, "I heard you.")
        family.press(ANNA, asked, "right")
        await family.hears(ANNA, "Done: BG? allow right")
        await family.loses_buttons(ANNA, asked)
        family.says(ANNA, f"/background {shown(family, 'Name?')}")
        text = (await family.hears(ANNA, "Name?"))["text"]
        family.says(BEN, f"/answer {the_id(text)} mallory")
        await family.hears(BEN, "There is no approval named")
        family.says(ANNA, f"/answer {the_id(text)} in my own words")
        await family.hears(ANNA, "Done: Name? allow in my own words")


async def test_what_is_not_offered_is_refused_in_words(family):
    text_from_outside = {"forward_origin": {"type": "hidden_user", "date": 1, "sender_user_name": "x"}}
    async with family.at_home():
        family.says(ANNA, order("post", text="one"), **text_from_outside)
        asked = await family.hears(ANNA, "May I do this?")
        offered = re.findall(r"'text': '(Yes[^']*)'", str(asked["reply_markup"]))
        assert "Yes, always" not in offered
        family.says(ANNA, "/approve always")
        await family.hears(ANNA, "'always' is not offered for this question, which is still open.")
        assert family.posted == []
        family.says(ANNA, "/approve once")
        await family.hears(ANNA, "Done: posted")


async def test_the_buttons_of_a_command_are_for_who_gave_it(family):
    """Ben's press below what Anna was asked takes back nothing, of hers or of his own."""
    async with family.at_home():
        for count, who in enumerate((ANNA, BEN), 1):
            family.says(who, f"I am {who}.", GROUP)
            await family.hears(GROUP, "I heard you.", count)
        family.says(ANNA, "/undo", GROUP)
        asked = await family.hears(GROUP, "Really?")
        family.press(BEN, asked, "Yes")
        await family.hears(GROUP, "This was asked of somebody else.")
        family.press(ANNA, asked, "Yes")
        await family.hears(GROUP, "Taken back: the last exchange")
        await family.loses_buttons(GROUP, asked)
        family.press(ANNA, asked, "Yes")
        await family.hears(GROUP, "That was answered before.")


async def test_a_button_of_one_chat_is_nothing_in_another(family):
    async with family.at_home(**{"platforms.telegram.allowed_chats": ["-1001", "-1002"]}):
        family.says(ANNA, "Hello.", GROUP)
        await family.hears(GROUP, "I heard you.")
        family.says(ANNA, "/undo", GROUP)
        asked = await family.hears(GROUP, "Really?")
        family.press(ANNA, {**asked, "chat": FAR}, "Yes")
        await family.hears(FAR, "There is no such question any more.")
