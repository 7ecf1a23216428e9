"""Strangers, users, admins and the owner on one gateway: who gets in, who may ask for what, and who says yes."""

import re

from gateway_house import rows_of
from gateway_phones import ANNA, OWNER, house, serving

from hermes_core.testing import Call
from hermes_core.types import Principal
from hermes_platform_gateway.people.pairing import approve


async def test_a_stranger_shows_a_code_and_is_let_in(hermes, scripted):
    house(hermes, people=False)
    hermes.tmp_plugin(scripted("Hello Anna."))
    async with serving(hermes) as phones:
        phones.write(ANNA, "Hi!")
        code = re.search(r"`([A-Z2-9]{10})`", await phones.last(ANNA, "I do not know you yet"))
        phones.write(ANNA, "Hello?")  # nothing more is said, and nothing of it is kept
        phones.write("ben", "let me in", chat="group", kind="group")
        store = await hermes.runtime.store()
        await approve(rows_of(store), code[1], by="me", where="terminal")
        await phones.last(ANNA, "You may talk to me now.")
        phones.write(ANNA, "Hi again!")
        await phones.last(ANNA, "Hello Anna.")
        assert len(phones.got[ANNA]) == 3
        assert set(phones.got) == {ANNA}
        assert [row.outgoing.message for row in await rows_of(store).outbox.outbox_of() if code[1] in str(row)] == []
        assert len(await store.sessions.list(Principal(person="room:anna"))) == 1


async def test_an_admin_lets_somebody_in_from_a_chat_and_a_user_cannot(hermes, scripted):
    house(hermes, **{"gateway.allowed_users": ["ben"]})
    hermes.tmp_plugin(scripted("Hello Anna."))
    async with serving(hermes) as phones:
        phones.write(ANNA, "Hi!")
        code = re.search(r"`([A-Z2-9]{10})`", await phones.last(ANNA, "I do not know you yet"))[1]
        phones.write("ben", f"/pair {code}")
        await phones.last("ben", "There is no command /pair.")
        phones.write(OWNER, "/pair WRONGONE")
        await phones.last(OWNER, "There is no code named 'WRONGONE'.")
        phones.write(OWNER, f"/pair {code}")
        await phones.last(OWNER, "Anna on room may talk to me now.")
        phones.write(ANNA, "Hi again!")
        await phones.last(ANNA, "Hello Anna.")
        person = await rows_of(await hermes.runtime.store()).people.person("room", ANNA)
        assert (person.person, person.role, person.by) == ("room:anna", "user", "owner")


async def test_help_lists_what_one_may_use(hermes, scripted):
    house(hermes, **{"gateway.allowed_users": [ANNA]})
    hermes.tmp_plugin(scripted())
    async with serving(hermes) as phones:
        phones.write(OWNER, "/help")
        everything = await phones.last(OWNER, "/help")
        phones.write(ANNA, "/help")
        something = await phones.last(ANNA, "/help")
        for name in ("pair", "platforms"):
            assert f"/{name} " in everything
            assert f"/{name} " not in something
            phones.write(ANNA, f"/{name}")
            await phones.last(ANNA, f"There is no command /{name}.")
        phones.write(ANNA, "/permission off")
        await phones.last(ANNA, "Only the owner of this Hermes changes what needs a yes")


async def test_a_users_command_needs_the_yes_of_an_admin(hermes, scripted):
    house(hermes, **{"roles.trusted_with_shell": ["room:anna"], "gateway.allowed_users": [ANNA, "ben"]})
    hermes.tmp_plugin("hermes_tool_terminal")
    hermes.tmp_plugin("hermes_backend_local")
    hermes.configure({"terminal.backend": "local"})
    calls = [Call("terminal", {"command": f"touch {name}"}) for name in ("first", "second")]
    hermes.tmp_plugin(scripted("Hello.", [calls[0]], "Done.", [calls[1]], "Not done."))
    async with serving(hermes) as phones:
        phones.write(OWNER, "Here I am.")
        await phones.last(OWNER, "Hello.")
        phones.write(ANNA, "Touch it.")
        asked = await phones.last(OWNER, "⟪Anna room:anna⟫ (room:anna) asks on room:")
        assert "touch first" in asked
        number = re.search(r"/approve ([0-9a-f]+)", asked)[1]
        await phones.last(ANNA, "This needs the yes of an admin, who was asked:")
        for who in (ANNA, "ben"):
            phones.write(who, f"/approve {number} always")
            await phones.last(who, f"There is no approval named '{number}'.")
            phones.write(who, "/approve")
            await phones.last(who, "No question is open.")
        folder = hermes.runtime.guests.folder(Principal(person="room:anna"))
        assert not (folder / "first").exists()
        phones.write(OWNER, f"/approve {number}")
        await phones.last(ANNA, "Done.")
        assert (folder / "first").exists()
        phones.write(ANNA, "And again.")
        await phones.last(OWNER, "touch second")
        phones.write(OWNER, "/deny")
        await phones.last(ANNA, "Not done.")
        assert not (folder / "second").exists()
        assert "ben" in phones.got
        assert not any("touch" in text for text in phones.got["ben"])


async def test_a_group_that_shares_a_conversation_is_not_the_owner(hermes, scripted):
    house(hermes, **{"gateway.group_sessions_per_user": False, "platforms.room.allowed_chats": ["group"]})
    hermes.tmp_plugin(scripted("To the group.", "To the group again.", "To the owner."))
    async with serving(hermes) as phones:
        phones.write(OWNER, "Hi all.", chat="group", kind="group")
        await phones.last("group", "To the group.")
        phones.write(ANNA, "Hi!", chat="group", kind="group")
        await phones.last("group", "To the group again.")
        phones.write(OWNER, "Only you.")
        await phones.last(OWNER, "To the owner.")
        store = await hermes.runtime.store()
        rows = {
            person: await store.sessions.list(Principal(person=person))
            for person in ("owner", "room#group", "room:anna")
        }
        assert {person: [row.messages for row in found] for person, found in rows.items()} == {
            "owner": [2],
            "room#group": [4],
            "room:anna": [],
        }
        assert rows["room#group"][0].session.cwd == str(hermes.runtime.guests.folder(Principal(person="room#group")))
        assert rows["owner"][0].session.cwd != rows["room#group"][0].session.cwd


async def test_who_is_revoked_is_heard_no_more(hermes, scripted):
    house(hermes, **{"gateway.unknown": "ignore"})
    hermes.tmp_plugin(scripted("Hello Anna.", "Hello owner."))
    async with serving(hermes) as phones:
        store = await hermes.runtime.store()
        from hermes_platform_gateway.rows.values import Pairing

        await rows_of(store).people.ask_pairing(Pairing(platform="room", sender=ANNA, salt="00", hash="x"))
        [waiting] = await rows_of(store).people.pairings()
        await rows_of(store).people.let_in(waiting, "room:anna", "user", "me")
        phones.write(ANNA, "Hi!")
        await phones.last(ANNA, "Hello Anna.")
        await rows_of(store).people.forget_person("room", ANNA)
        phones.write(ANNA, "Hi!")
        phones.write(OWNER, "Hi!")
        await phones.last(OWNER, "Hello owner.")
        assert phones.got[ANNA] == ["Hello Anna."]
