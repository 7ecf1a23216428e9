"""In a group nobody is shown, by a command or a model, what was said in private; bots and refusals keep their place."""

import re

import pytest
from obeying import order
from telegram_family import ANNA, BEN, GROUP, OWNER
from telegram_service import member_of, number

from hermes_core.types import Principal

SECRET = "PURPLE-ELEPHANT"


async def the_session(family, who):
    """The private conversation of a guest."""
    store = await family.hermes.runtime.store()
    rows = await store.sessions.list(Principal(person=f"telegram:{number(who)}"))
    return rows[-1].session.id


async def confided(family, who):
    family.says(who, f"The secret is {SECRET}.")
    await family.hears(who, "I heard you.")
    family.says(who, f"/title About {SECRET}")
    await family.hears(who, "is now called")
    return await the_session(family, who)


@pytest.mark.parametrize("private", [True, False])
async def test_commands_in_a_group_show_and_change_nothing_that_is_private(family, private):
    async with family.at_home(**{"gateway.private_answers": private}):
        session = await confided(family, BEN)
        family.says(BEN, "What is for dinner?", GROUP)
        await family.hears(GROUP, "I heard you.")
        lines = (
            "/sessions", "/sessions 50", f"/search {SECRET}", f"/resume {session}", f"/resume About {SECRET}",
            "/resume About", f"/resume {session[:8]}", "/history", "/why", "/permission grants", "/usage", "/rewind",
        )  # fmt: skip
        for line in lines:
            family.says(BEN, line, GROUP)
        family.says(BEN, "/whoami", GROUP)
        await (family.hears(BEN, "You are ") if private else family.hears(GROUP, "You are "))
        family.says(BEN, "/resume latest", GROUP)
        resumed = await family.hears(GROUP, "Resumed")
        seen = [m["text"] for m in family.texts(GROUP)]
        assert "dinner" in resumed["text"]
        echoed = (f"Nothing says '{SECRET}'.", f"There is no session named 'About {SECRET}'.")  # what they typed there
        assert not [text for text in seen if SECRET in text and not text.startswith(echoed)]
        assert ("Answered you privately." in seen) is private
        where = BEN if private else GROUP
        assert "dinner" in (await family.hears(where, "/sessions" if private else "What is for dinner?"))["text"]
        family.says(BEN, "/sessions")
        assert SECRET in (await family.hears(BEN, f"About {SECRET}"))["text"]


async def test_a_model_recalls_in_a_group_what_was_said_in_the_group(family):
    async with family.at_home():
        session = await confided(family, BEN)
        calls = ({}, {"query": SECRET}, {"session": session}, {"session": "About"}, {"session": session, "around": 1})
        for count, given in enumerate(calls, 1):
            family.says(BEN, order("recall", **given), GROUP)
            told = await family.hears(GROUP, "Done:", count)
            assert f"secret is {SECRET}" not in told["text"]
        family.says(BEN, "The violin is out of tune.", GROUP)
        await family.hears(GROUP, "I heard you.")
        family.says(BEN, "/new", GROUP)
        await family.hears(GROUP, "New session")
        family.says(BEN, order("recall", query="violin"), GROUP)
        assert "violin is out of tune" in (await family.hears(GROUP, "violin"))["text"]
        family.says(BEN, order("recall", session=session))
        assert f"secret is {SECRET}" in (await family.hears(BEN, "Done:"))["text"]


async def test_a_copy_that_was_made_in_a_group_knows_no_more_than_the_group(family):
    async with family.at_home():
        session = await confided(family, BEN)
        family.says(BEN, "Dinner?", GROUP)
        await family.hears(GROUP, "I heard you.")
        family.says(BEN, "/branch", GROUP)
        await family.hears(GROUP, "This is a copy now")
        family.says(BEN, order("recall", session=session), GROUP)
        assert SECRET not in (await family.hears(GROUP, "Done:"))["text"]


@pytest.mark.parametrize("settings", [{}, {"gateway.shared_changes": "everyone"}], ids=["by default", "everyone"])
async def test_who_changes_a_conversation_that_all_share(family, service, settings):
    """By default an admin of the group, or of Hermes; in a family that wants it, everybody."""
    rows = ((ANNA, "member"), (BEN, "administrator"))
    service.people = {number(who): member_of(number(who), status, who) for who, status in rows}
    async with family.at_home(**settings):
        family.says(OWNER, "Hello all.", GROUP, topic=7)
        await family.hears(GROUP, "I heard you.")
        refused = ("/new", "/undo --once", "/model nothing:zzz", "/resume latest", "/title Mine", "/queue clear --once")
        for line in refused:
            family.says(ANNA, line, GROUP, topic=7)
        family.says(ANNA, "/model", GROUP, topic=7)
        await family.hears(GROUP, "answers in this chat")
        family.says(ANNA, "/help", GROUP, topic=7)
        helped = (await family.hears(GROUP, "/help [COMMAND]"))["text"]
        family.says(BEN, "/title Ours", GROUP, topic=7)
        await family.hears(GROUP, "is now called 'Ours'")
        told = [m["text"] for m in family.texts(GROUP) if "changes it for everybody" in m["text"]]
        assert len(told) == (0 if settings else len(refused))
        assert ("/new – " in helped) is bool(settings)
        assert "/history" in helped


async def test_a_group_is_told_whose_history_it_shares_once(family):
    async with family.at_home(**{"gateway.tell_groups": True}):
        for count in (1, 2):
            family.says(ANNA, "Hello.", GROUP)
            await family.hears(GROUP, "I heard you.", count)
            family.says(BEN, "Hello.", GROUP, topic=6 + count)
            await family.hears(GROUP, "I heard you.", count + 2 if count == 2 else 2)
        own = [m for m in family.texts(GROUP) if "a conversation of their own" in m["text"]]
        shared = [m for m in family.texts(GROUP) if "share one conversation" in m["text"]]
        assert (len(own), len(shared)) == (1, 1)


async def test_another_bot_is_answered_when_it_names_us_and_no_two_go_on_for_ever(family, service):
    bot = {"id": 77, "is_bot": True, "first_name": "Parrot", "username": "parrot_bot"}
    settings = {"platforms.telegram.require_mention": False, "platforms.telegram.allow_all_users": True}
    async with family.at_home(**settings):
        family.says("parrot", "squawk", GROUP, named=False, **{"from": bot})
        family.says("parrot", "hello you", GROUP, **{"from": bot})
        first = await family.hears(GROUP, "I heard you.")
        ours = {**first, "from": service.me}
        for _ in range(3):  # it answers whatever it hears, with our name or without
            family.says("parrot", "hello again", GROUP, reply_to_message=ours, **{"from": bot})
            family.says("parrot", "and again", GROUP, **{"from": bot})
        family.says(ANNA, "Stop it.", GROUP, named=False)
        await family.hears(GROUP, "I heard you.", 2)
        assert len(family.told) == 2
        anonymous = {"id": 1087968824, "is_bot": True, "first_name": "Group", "username": "GroupAnonymousBot"}
        family.says("x", "As the group.", GROUP, named=False, sender_chat=GROUP, **{"from": anonymous})
        await family.hears(GROUP, "I heard you.", 3)


async def test_an_agent_of_ours_is_answered_for_who_began_as_often_as_the_settings_say(family, service, made):
    bot = {"id": 77, "is_bot": True, "first_name": "Parrot", "username": "parrot_bot"}
    family.platform = made(peers=["@Parrot_Bot"])
    settings = {"platforms.telegram.peers": ["@Parrot_Bot"], "gateway.peers.hops": 2, "gateway.peers.seconds": 0}
    async with family.at_home(**settings):
        family.says(ANNA, "Hello.", GROUP)
        last = await family.hears(GROUP, "I heard you.")
        for count in (2, 3):
            ours = {**last, "from": service.me}
            family.says("parrot", f"hello {count}", GROUP, reply_to_message=ours, **{"from": bot})
            last = await family.hears(GROUP, "I heard you.", count)
        family.says("parrot", "no name", GROUP, named=False, reply_to_message=ours, **{"from": bot})
        family.says("parrot", "more", GROUP, **{"from": bot})
        await family.hears(GROUP, "A person has to speak")
        family.says("parrot", "more", GROUP, **{"from": bot})
        family.says(ANNA, "Go on.", GROUP)
        await family.hears(GROUP, "I heard you.", 4)
        family.says("parrot", "thanks", GROUP, **{"from": bot})
        await family.hears(GROUP, "I heard you.", 5)
        family.says("parrot", "and more", GROUP, **{"from": bot})
        await family.hears(GROUP, "I heard you.", 6)
        family.says("other", "go on", GROUP, **{"from": {**bot, "username": "other_bot", "id": 78}})
        await family.hears(GROUP, "I heard you.", 7)
        family.says("parrot", "another bot is no person", GROUP, **{"from": bot})
        await family.hears(GROUP, "A person has to speak", 2)
        assert len(family.told) == 7


async def test_help_and_refusals_offer_and_name_nothing_that_guests_have_not(family):
    async with family.at_home():
        family.says(ANNA, "/help")
        helped = (await family.hears(ANNA, "/help [COMMAND]"))["text"]
        for word in ("/yolo", "--global", "/permission off", "|off|", "enable", "/config", "/pair", "/platforms"):
            assert word not in helped
        assert "/permission [grants|forget N]" in helped
        lines = ("/approve abcd1234", "/resume no", "/yolo", "/permission off", "/pair X", "/model x:y", "/handoff no")
        for line in lines:
            family.says(ANNA, line)
        family.says(ANNA, order("post", text="over"))
        await family.hears(ANNA, "May I do this?")
        home = str(family.hermes.runtime.home.root)
        for text in (m["text"] for m in family.texts(ANNA)):
            assert home not in text
            assert not re.search(r"\bhermes [a-z]", text), text
        family.says(ANNA, "/deny")
        await family.hears(ANNA, "Done:")
