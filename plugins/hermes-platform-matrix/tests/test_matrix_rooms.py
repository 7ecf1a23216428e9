"""Chats on a real homeserver: threads, replies, edits, reactions, files, names, invitations."""

import pytest
from matrix_people import bot_for
from matrix_stage import blob_of, said, text_of

from hermes_core.errors import NotSent, Undeliverable, UserError
from hermes_core.testing import FakeConsole
from hermes_core.types import Blob, Chat

pytestmark = pytest.mark.real


async def test_a_chat_of_two_is_told_from_a_room(stage):
    ada, ben = await stage.person("ada"), await stage.person("ben")
    async with stage.listening() as ears:
        two = await stage.room(ears, ada)
        await ada.say(two, "only us")
        dm = await ears.next()
        three = await stage.room(ears, ada, ben, direct=False, name="Works")
        await ben.say(three, "all of us")
        group = await ears.next()
    assert (dm.kind, dm.addressed, dm.chat, dm.sender, dm.account) == ("dm", True, two, ada.user, stage.user)
    assert (group.kind, group.addressed, group.chat_name) == ("group", False, "Works")
    assert group.sender_name == ben.user[1:].partition(":")[0]


async def test_who_speaks_to_the_bot_is_heard_to(stage):
    ada, ben = await stage.person("ada"), await stage.person("ben")
    name = stage.user[1:].partition(":")[0]
    async with stage.listening() as ears:
        room = await stage.room(ears, ada, ben, direct=False)
        sent = await ears.bot.send(Chat(room), said("I am here."), "k")
        await ada.say(room, "what do you think?", **{"m.mentions": {"user_ids": [stage.user]}})
        await ada.say(room, f"{name}: /status", **{"m.mentions": {}})
        await ada.say(room, "so you are", **{"m.relates_to": {"m.in_reply_to": {"event_id": sent.message_id}}})
        await ada.say(room, "nobody in particular", **{"m.mentions": {}})
        heard = [await ears.next() for _ in range(4)]
    assert [e.addressed for e in heard] == [True, True, True, False]
    assert [text_of(e.message) for e in heard][1:3] == ["/status", "so you are"]
    assert heard[2].quote == "I am here."
    assert [e.thread for e in heard] == [heard[0].event_id, heard[1].event_id, heard[2].event_id, ""]


@pytest.mark.parametrize("encrypted", [False, True])
async def test_threads_go_both_ways(stage, encrypted):
    ada, ben = await stage.person("ada"), await stage.person("ben")
    async with stage.listening() as ears:
        room = await stage.room(ears, ada, ben, direct=False, encrypted=encrypted)
        root = await ada.say(room, "a question", **{"m.mentions": {"user_ids": [stage.user]}})
        heard = await ears.next()
        assert heard.thread == root
        sent = await ears.bot.send(Chat(room, thread=root), said("an answer"), "k")
        relation = {"rel_type": "m.thread", "event_id": root, "is_falling_back": True}
        relation["m.in_reply_to"] = {"event_id": sent.message_id}
        await ada.say(room, "and more", **{"m.mentions": {}, "m.relates_to": relation})
        more = await ears.next()
        await ada.quiet()
    assert (more.thread, more.addressed, more.quote) == (root, True, "")
    answer = ada.heard(stage.user, room)[0]["content"]
    assert answer["m.relates_to"]["rel_type"] == "m.thread"
    assert answer["m.relates_to"]["event_id"] == root


async def test_a_reply_names_what_it_answers_and_whom(stage):
    ada, ben = await stage.person("ada"), await stage.person("ben")
    async with stage.listening(auto_thread=False) as ears:
        room = await stage.room(ears, ada, ben, direct=False)
        asked = await ben.say(room, "when?", **{"m.mentions": {"user_ids": [stage.user]}})
        await ears.next()
        await ears.bot.send(Chat(room, reply_to=asked), said("now"), "k")
        await ada.quiet()
    content = ada.heard(stage.user, room)[0]["content"]
    assert content["m.relates_to"] == {"m.in_reply_to": {"event_id": asked}}
    assert content["m.mentions"] == {"user_ids": [ben.user]}


async def test_an_edit_by_a_person_is_not_a_new_message(stage):
    ada = await stage.person()
    async with stage.listening() as ears:
        room = await stage.room(ears, ada)
        first = await ada.say(room, "frist")
        new = {"msgtype": "m.text", "body": "first"}
        await ada.say(
            room, "* first", **{"m.new_content": new, "m.relates_to": {"rel_type": "m.replace", "event_id": first}}
        )
        await ada.say(room, "second")
        assert await ears.texts(2) == ["frist", "second"]


async def test_one_sign_takes_the_place_of_another(stage):
    ada = await stage.person()
    async with stage.listening() as ears:
        room = await stage.room(ears, ada)
        event = await ada.say(room, "look")
        await ears.next()
        for sign in ("👀", "👀", "✅"):
            await ears.bot.react(Chat(room), event, sign)
        async with stage.listening() as again:  # after a restart it is known which was ours
            await again.bot.react(Chat(room), event, "❌")
        relations = stage.synapse.ask("GET", f"rooms/{room}/messages?dir=b&limit=50", ada.client.access_token)["chunk"]
    there = [e["content"]["m.relates_to"]["key"] for e in relations if e["type"] == "m.reaction" and e["content"]]
    assert there == ["❌"]


@pytest.mark.parametrize("encrypted", [False, True])
async def test_files_and_voice_go_both_ways(stage, encrypted):
    ada = await stage.person()
    picture = bytes(range(256)) * 40
    async with stage.listening() as ears:
        room = await stage.room(ears, ada, encrypted=encrypted)
        answer, keys = await ada.client.upload(
            lambda *_: picture, "image/png", "cat.png", encrypt=encrypted, filesize=len(picture)
        )
        place = {"file": {**keys, "url": answer.content_uri}} if encrypted else {"url": answer.content_uri}
        content = {
            "msgtype": "m.image",
            "body": "our cat",
            "filename": "../../cat.png",
            "info": {"mimetype": "image/png"},
        }
        await ada.send(room, content | place)
        heard = await ears.next()
        blob = blob_of(heard.message)
        with open(blob.path, "rb") as file:  # noqa: ASYNC230, PTH123 - a small file of this test
            assert file.read() == picture
        assert (blob.media_type, blob.name, text_of(heard.message)) == ("image/png", "cat.png", "our cat")
        assert str(stage.folder / "data" / "media") in blob.path
        voice = Blob(media_type="audio/ogg", data=b"OggS" + picture, name="note.ogg")
        await ears.bot.send(Chat(room), said("listen", voice, Blob(media_type="image/png", path=blob.path)), "k")
        await ada.quiet()
        got = [m["content"] for m in ada.heard(stage.user, room)]
        assert [c["msgtype"] for c in got] == ["m.text", "m.audio", "m.image"]
        assert "org.matrix.msc3245.voice" in got[1]
        assert await ada.file(got[1]) == voice.data
        assert await ada.file(got[2]) == picture
        assert ("file" in got[1]) is encrypted


async def test_a_file_that_is_too_large_is_told_of(stage):
    ada = await stage.person()
    async with stage.listening(max_media_bytes=1000) as ears:
        room = await stage.room(ears, ada)
        answer, _ = await ada.client.upload(lambda *_: bytes(5000), "image/png", "big.png", filesize=5000)
        await ada.send(
            room, {"msgtype": "m.image", "body": "big.png", "url": answer.content_uri}
        )  # its size is not told
        assert "larger than 1,000 bytes" in (await ears.texts(1))[0]
        big = Blob(media_type="image/png", data=bytes(1001))
        with pytest.raises(Undeliverable, match="too large"):
            await ears.bot.send(Chat(room), said("see", big), "k")
        await ada.quiet()
        assert ada.heard(stage.user, room) == [], "a part of it was seen"


async def test_a_message_of_many_bytes_arrives_whole(stage):
    ada = await stage.person()
    async with stage.listening() as ears:
        room = await stage.room(ears, ada, encrypted=True)
        text = "狐狸🦊" * 5333
        await ears.bot.send(Chat(room), said(text), "k")
        await ada.quiet()
    assert "".join(m["content"]["body"] for m in ada.heard(stage.user, room)) == text


async def test_invitations_are_accepted_as_the_settings_say(stage):
    ada, eve = await stage.person("ada"), await stage.person("eve")
    async with stage.listening(inviters=["@ada*:localhost"]) as ears:
        theirs = await eve.room(stage.user)
        await stage.room(ears, ada)
        await eve.quiet()
        assert stage.user in eve.client.rooms[theirs].invited_users
    async with stage.listening(join="never") as ears:
        hers = await ada.room(stage.user)
        with pytest.raises(TimeoutError):
            await ears.next(seconds=2)
        await ada.quiet()
        assert stage.user in ada.client.rooms[hers].invited_users
    async with stage.listening() as ears:  # what was left open is accepted once the settings allow it
        with pytest.raises(TimeoutError):
            await ears.next(seconds=1)
        await eve.joined(theirs, stage.user)
        await ada.joined(hers, stage.user)


async def test_where_the_bot_is_no_more_nothing_can_be_delivered(stage):
    ada = await stage.person()
    async with stage.listening() as ears:
        room = await stage.room(ears, ada)
        await ada.client.room_kick(room, stage.user)
        with pytest.raises(Undeliverable):
            await ears.bot.send(Chat(room), said("hello?"), "k")
        with pytest.raises(Undeliverable):
            await ears.bot.send(Chat("!nowhere:localhost"), said("hello?"), "k")


async def test_receipts_are_shown_when_a_message_is_acknowledged(stage):
    ada = await stage.person()
    async with stage.listening() as ears:
        room = await stage.room(ears, ada)
        event = await ada.say(room, "did you get it?")
        await ears.next()
        await ada.until(lambda: (room, event, stage.user) in ada.receipts)


async def test_a_login_that_ran_out_is_made_anew_on_the_same_device(stage):
    ada = await stage.person()
    async with stage.listening() as ears:
        room = await stage.room(ears, ada, encrypted=True)
        server = ears.bot._connection.server
        before = stage.synapse.ask("GET", "account/whoami", server.token)
        stage.synapse.ask("POST", "logout", server.token, {})
        with pytest.raises(NotSent):
            await ears.bot.send(Chat(room), said("anybody?"), "k")
        await ada.say(room, "still there?")
        ada.client.olm.outbound_group_sessions.pop(room, None)  # the device was gone: a key for those there now
        assert "still there?" in await ears.texts(1)
        after = stage.synapse.ask("GET", "account/whoami", server.token)
        keys = stage.synapse.ask("POST", "keys/query", server.token, {"device_keys": {stage.user: []}})
        device = keys["device_keys"][stage.user][after["device_id"]]
        assert device["keys"] == ears.bot._connection.machine.own.device_keys["keys"]
    assert before == after


async def test_a_token_that_is_not_valid_is_for_a_person_to_mend(stage):
    bot = bot_for(stage.synapse.url, stage.user, stage.folder / "data", access_token="syt_nonsense")
    bot._resolve = lambda value: value if value.startswith("syt") else ""
    with pytest.raises(UserError, match="access token is not valid") as caught:
        await bot.open(FakeConsole())
    assert "syt_nonsense" not in str(caught.value)
    wrong = bot_for(stage.synapse.url, stage.user, stage.folder / "data")
    wrong._resolve = lambda value: "wrong" if "PASSWORD" in value else ""
    with pytest.raises(UserError, match="password was refused"):
        await wrong.open(FakeConsole())
