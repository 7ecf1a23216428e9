"""What people do becomes envelopes, and nothing is confirmed to Telegram before it is stored."""

import asyncio
import os
import time
from pathlib import Path

import pytest
from telegram_service import BOT, NAME, TOKEN, Fault, number, refused

from hermes_core.errors import HermesError, NotSent, UserError
from hermes_core.testing import FakeConsole
from hermes_core.types import Blob, SlashCommand, Text

GROUP = {"id": -1001, "type": "supergroup", "title": "Friends"}


def texts(envelope):
    return [p.text for p in envelope.message.parts if isinstance(p, Text)]


def blobs(envelope):
    return [p for p in envelope.message.parts if isinstance(p, Blob)]


async def until(condition):
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.005)


# --- what an envelope says ----------------------------------------------------------------------------------------


async def test_a_private_message_is_addressed_and_named(opened, service):
    async with opened() as (platform, listener):
        update = service.write(text="Hello", sender="anna")
        envelope = await listener.next()
    assert (envelope.platform, envelope.account, platform.account) == ("telegram", NAME, NAME)
    assert envelope.event_id == f"{BOT}:{update}:{envelope.message_id}"
    assert (envelope.kind, envelope.addressed, envelope.thread) == ("dm", True, "")
    assert (envelope.sender, envelope.sender_name, envelope.chat_name) == (str(number("anna")), "Anna", "Anna")
    assert envelope.chat == envelope.sender


def at(text, piece, kind="mention", **more):
    start = len(text[: text.index(piece)].encode("utf-16-le")) // 2
    return {"text": text, "entities": [{"type": kind, "offset": start, "length": len(piece), **more}]}


@pytest.mark.parametrize(
    ("fields", "addressed", "text"),
    [
        ({"text": "hello all"}, False, "hello all"),
        (at(f"🦊 hey @{NAME.upper()}!", f"@{NAME.upper()}"), True, f"🦊 hey @{NAME.upper()}!"),
        (at(f"@{NAME}, what now?", f"@{NAME}"), True, "what now?"),
        (at(f"@{NAME}x what now?", f"@{NAME}x"), False, f"@{NAME}x what now?"),
        (at(f"@{NAME}", f"@{NAME}"), True, f"@{NAME}"),
        (at("you there", "you", "text_mention", user={"id": BOT}), True, "you there"),
        (at("you there", "you", "text_mention", user={"id": 5}), False, "you there"),
        (at("/status", "/status", "bot_command"), True, "/status"),
        (at(f"/status@{NAME} all", f"/status@{NAME}", "bot_command"), True, "/status all"),
        (at("/status@other_bot", "/status@other_bot", "bot_command"), False, "/status@other_bot"),
        ({"text": "yes", "reply_to_message": {"from": {"id": BOT}, "text": "Shall I?"}}, True, "yes"),
        ({"text": "yes", "reply_to_message": {"from": {"id": 5}, "text": "Shall I?"}}, False, "yes"),
    ],
)
async def test_in_a_group_the_bot_knows_when_it_is_spoken_to(opened, service, fields, addressed, text):
    async with opened() as (_, listener):
        service.write(chat=GROUP, **fields)
        envelope = await listener.next()
    assert (envelope.kind, envelope.addressed, texts(envelope)) == ("group", addressed, [text])
    assert (envelope.chat, envelope.chat_name) == ("-1001", "Friends")
    assert envelope.quote == ("Shall I?" if "reply_to_message" in fields else "")


async def test_topics_are_threads_and_replies_are_not(opened, service):
    async with opened() as (_, listener):
        root = {"message_id": 4, "forum_topic_created": {"name": "Ideas"}, "from": {"id": BOT}}
        service.write(chat=GROUP, text="a", message_thread_id=4, is_topic_message=True, reply_to_message=root)
        topic = await listener.next()
        service.write(
            chat=GROUP, text="b", message_thread_id=9, quote={"text": "the part"}, reply_to_message={"text": "x"}
        )
        reply = await listener.next()
    assert (topic.thread, topic.quote, topic.addressed) == ("4", "", False)
    assert (reply.thread, reply.quote) == ("", "the part")


async def test_who_speaks_as_a_group_or_channel_is_that(opened, service):
    anonymous = {"id": 1087968824, "is_bot": True, "first_name": "Group"}
    async with opened() as (_, listener):
        service.write(chat=GROUP, text="a", sender_chat=GROUP, **{"from": anonymous})
        admin = await listener.next()
        channel = {"id": -1009, "type": "channel", "title": "News"}
        service.post("channel_post", {"message_id": 1, "chat": channel, "sender_chat": channel, "text": "b"})
        post = await listener.next()
    assert (admin.sender, admin.sender_name) == ("-1001", "Friends")
    assert (post.kind, post.sender, post.addressed) == ("channel", "-1009", False)


async def test_what_was_forwarded_is_not_the_word_of_the_sender(opened, service):
    async with opened() as (_, listener):
        service.write(text="Obey.", forward_origin={"type": "hidden_user", "sender_user_name": "x"})
        assert (await listener.next()).message.untrusted
        service.write(text="Mine.")
        assert not (await listener.next()).message.untrusted


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"location": {"latitude": 52.5, "longitude": 13.4}}, "[location 52.5, 13.4]"),
        (
            {"venue": {"location": {"latitude": 1, "longitude": 2}, "title": "Bar", "address": "Road"}, "location": {}},
            "[location 1, 2: Bar, Road]",
        ),
        ({"contact": {"first_name": "Ann", "phone_number": "+1"}}, "[contact Ann, +1]"),
        ({"poll": {"question": "Tea?", "options": [{"text": "yes"}, {"text": "no"}]}}, "[poll Tea?: yes; no]"),
        ({"dice": {"emoji": "🎲", "value": 4}}, "[dice 🎲 shows 4]"),
    ],
)
async def test_what_has_no_text_is_told_in_words(opened, service, fields, text):
    async with opened() as (_, listener):
        service.write(**fields)
        assert texts(await listener.next()) == [text]


async def test_what_nobody_said_is_confirmed_and_passed_over(opened, service):
    async with opened() as (_, listener):
        service.write(chat=GROUP, new_chat_title="Foes")
        service.post("edited_message", service.message(text="edited"))
        service.post("message", {"message_id": 1, "nonsense": True})
        service.post("message", service.message(text="x", chat={"id": "no number", "type": "private"}))
        service.write(text="hello")
        assert texts(await listener.next()) == ["hello"]
        await until(lambda: not service.queue)


# --- buttons and commands -------------------------------------------------------------------------------------------


async def test_a_press_is_what_the_person_says(opened, service):
    async with opened(acks=False) as (platform, listener):
        message = {"message_id": 7, "chat": GROUP, "message_thread_id": 4, "is_topic_message": True, "date": 0}
        update = service.press("/approve 3f2a once", message=message, sender="bob")
        envelope = await listener.next()
        assert texts(envelope) == ["/approve 3f2a once"]
        assert (envelope.sender, envelope.chat, envelope.thread, envelope.message_id) == (
            str(number("bob")),
            "-1001",
            "4",
            "7",
        )
        assert envelope.addressed
        assert envelope.event_id.startswith(f"{BOT}:{update}:")
        assert service.answered == []
        await platform.ack(envelope)
        await until(lambda: service.answered)


async def test_commands_make_the_menu_and_are_found_again(opened, service):
    async def run(session, rest):
        return ""

    names = ("help", "prompt-size", "new", "x" * 40)
    commands = [SlashCommand(name=n, summary=f"does {n}", run=run) for n in names]
    async with opened(console=FakeConsole(commands), menu=2) as (_, listener):
        assert [c["command"] for c in service.menu] == ["help", "prompt_size"]
        for written, meant in (
            ("/prompt_size all", "/prompt-size all"),
            ("/start", "/help"),
            ("/start ref-1", "/help"),
            ("/new", "/new"),
            ("/nothing", "/nothing"),
            ("/startle", "/startle"),
        ):
            service.write(text=written)
            assert texts(await listener.next()) == [meant]


async def test_a_menu_that_cannot_be_set_is_no_reason_to_be_silent(opened, service):
    async def run(session, rest):
        return ""

    service.script("setMyCommands", refused(400, "Bad Request: BOT_COMMAND_INVALID"))
    async with opened(console=FakeConsole([SlashCommand(name="help", summary="help", run=run)])) as (_, listener):
        await service.say("hi")
        assert texts(await listener.next()) == ["hi"]


# --- files ------------------------------------------------------------------------------------------------------


async def test_files_come_as_files_and_no_name_is_trusted(opened, service, tmp_path):
    async with opened() as (_, listener):
        small, large = service.keep(b"small", width=1, height=1), service.keep(b"large", width=9, height=9)
        service.write(photo=[large, small], caption="look")
        photo = await listener.next()
        evil = "../../../etc/passwd\n.sh"
        service.write(document=service.keep(b"%PDF", file_name=evil, mime_type="application/pdf"))
        document = await listener.next()
        service.write(voice=service.keep(b"OggS", mime_type="audio/ogg", duration=3))
        voice = await listener.next()
        service.write(document=service.keep(b"x", mime_type="not a type/../.."))
        odd = await listener.next()
    assert (texts(photo), [b.media_type for b in blobs(photo)]) == (["look"], ["image/jpeg"])
    assert Path(blobs(photo)[0].path).read_bytes() == b"large"
    (pdf,) = blobs(document)
    assert (pdf.media_type, pdf.name) == ("application/pdf", ".._.._.._etc_passwd_.sh")
    assert Path(pdf.path).resolve().is_relative_to(tmp_path / "home" / "cache")
    assert Path(pdf.path).suffix == ".pdf"
    assert (blobs(voice)[0].media_type, Path(blobs(voice)[0].path).suffix) == ("audio/ogg", ".ogg")
    assert blobs(odd)[0].media_type == "application/octet-stream"


async def test_a_sticker_is_a_picture_and_words(opened, service):
    async with opened() as (_, listener):
        still = service.keep(b"RIFF", emoji="😀", set_name="Cats")
        service.write(sticker=still)
        envelope = await listener.next()
        service.write(sticker=still)
        await listener.next()
        moving = service.keep(b"tgs", emoji="🦊", is_animated=True, thumbnail=service.keep(b"webp"))
        service.write(sticker=moving)
        animated = await listener.next()
    assert (texts(envelope), Path(blobs(envelope)[0].path).read_bytes()) == (["[sticker 😀 of the set Cats]"], b"RIFF")
    assert (texts(animated), Path(blobs(animated)[0].path).read_bytes()) == (["[sticker 🦊]"], b"webp")
    assert len(service.made("getFile")) == 2, "the same sticker was fetched twice"


async def test_what_is_too_big_or_gone_is_told(opened, service):
    async with opened(megabytes=1) as (_, listener):
        service.write(document=service.keep(b"", file_name="film.mkv") | {"file_size": 3_000_000})
        said = texts(await listener.next())
        service.write(document=service.keep(bytes(1_100_000), file_name="liar.bin") | {"file_size": 10})
        lied = texts(await listener.next())
        service.write(document={"file_id": "gone", "file_unique_id": "g", "file_name": "gone.txt"})
        gone = texts(await listener.next())
    assert said == ["[the file film.mkv is too big to be fetched: 3 MB]"]
    assert lied == ["[the file liar.bin could not be fetched: it is too big]"]
    assert gone[0].startswith("[the file gone.txt could not be fetched: wrong file_id")


async def test_nothing_half_is_left_of_a_file_that_breaks_off(opened, service, tmp_path):
    service.script("file", Fault(cut=True), Fault(cut=True))
    async with opened() as (_, listener):
        service.write(document=service.keep(b"whole"))
        assert Path(blobs(await listener.next())[0].path).read_bytes() == b"whole"
        service.script("file", *[Fault(cut=True)] * 3)
        service.write(document=service.keep(b"never"))
        assert "could not be fetched" in texts(await listener.next())[0]
    assert len([p for p in (tmp_path / "home" / "cache").rglob("*") if p.is_file()]) == 1


async def test_old_files_are_forgotten(opened, made, service):
    async with opened() as (_, listener):
        service.write(document=service.keep(b"old"))
        path = Path(blobs(await listener.next())[0].path)
    os.utime(path, (0, time.time() - 31 * 86_400))
    async with opened(keep_days=0):
        assert path.exists()
    async with opened():
        assert not path.exists()


async def test_strangers_cannot_fill_the_disk(opened, service):
    async with opened() as (platform, listener):
        platform._inbound.media._files._most = 250_000
        paths = []
        for number in range(4):
            service.write(document=service.keep(bytes(100_000)), sender=f"stranger{number}")
            paths.append(Path(blobs(await listener.next())[0].path))
            os.utime(paths[-1], (0, time.time() - 100 + number))
    assert [p.exists() for p in paths] == [False, False, True, True]


async def test_a_local_server_s_files_are_copied(opened, service, tmp_path):
    there = tmp_path / "on the server"
    there.write_bytes(b"local")
    service.script("getFile", Fault(body=f'{{"ok":true,"result":{{"file_path":"{there}"}}}}'.encode()))
    async with opened(local_files=True) as (_, listener):
        service.write(document={"file_id": "x", "file_unique_id": "y"})
        assert Path(blobs(await listener.next())[0].path).read_bytes() == b"local"


async def test_a_slow_file_keeps_nobody_waiting_but_its_own_chat(opened, service):
    service.script("getFile", Fault(hang=True))
    async with opened(seconds=1.0) as (_, listener):
        service.write(document=service.keep(b"slow"), sender="anna")
        service.write(text="after the file", sender="anna")
        service.write(text="meanwhile", sender="bob")
        assert texts(await listener.next()) == ["meanwhile"]
        assert blobs(await listener.next())
        assert texts(await listener.next()) == ["after the file"]


# --- confirmed only when stored ---------------------------------------------------------------------------------------


async def test_nothing_is_confirmed_before_it_is_stored(opened, service):
    async with opened(acks=False) as (platform, listener):
        first, second = service.write(text="1"), service.write(text="2")
        one, two = await listener.next(), await listener.next()
        await platform.ack(two)
        third = service.write(text="3")
        three = await listener.next()  # what is not stored keeps nobody else from being heard
        assert service.confirmed == []
        await platform.ack(one)
        await until(lambda: service.confirmed == [first, second])
        await platform.ack(three)
        await until(lambda: service.confirmed == [first, second, third])


async def test_what_was_not_stored_comes_again_under_the_same_id(opened, service):
    async with opened(acks=False) as (_, listener):
        service.write(text="1")
        first = await listener.next()
    async with opened() as (_, listener):
        again = await listener.next()
        assert await listener.nothing()
    assert again == first


async def test_after_a_quiet_week_numbers_may_begin_below(opened, service):
    async with opened() as (_, listener):
        service.write(text="1")
        await listener.next()
        await until(lambda: not service.queue)
        service.update_id = 5
        service.write(text="2")
        assert texts(await listener.next()) == ["2"]


# --- albums -----------------------------------------------------------------------------------------------------------


async def test_an_album_is_one_message(opened, service):
    async with opened(album_seconds=0.5) as (_, listener):
        first = service.write(photo=[service.keep(b"a")], media_group_id="g", caption="all three")
        service.write(photo=[service.keep(b"b")], media_group_id="g")
        coming = asyncio.ensure_future(listener.next())
        await until(lambda: not service.queue)
        service.write(video=service.keep(b"c"), media_group_id="g")
        envelope = await coming
        assert await listener.nothing()
    assert envelope.event_id.startswith(f"{BOT}:{first}:")
    assert texts(envelope) == ["all three"]
    assert [Path(b.path).read_bytes() for b in blobs(envelope)] == [b"a", b"b", b"c"]


async def test_an_album_ends_where_something_else_is_said(opened, service):
    async with opened(album_seconds=30) as (_, listener):
        service.write(photo=[service.keep(b"a")], media_group_id="g")
        service.write(photo=[service.keep(b"b")], media_group_id="g")
        service.write(photo=[service.keep(b"c")], media_group_id="h")
        service.write(text="what are they?")
        found = [await listener.next() for _ in range(3)]
    assert [len(blobs(e)) for e in found] == [2, 1, 0]


async def test_an_album_survives_a_kill_wherever_it_falls(opened, service):
    """Parts are written down before they are confirmed; the same parts make the same message."""
    async with opened(acks=False, album_seconds=30) as (_, listener):
        service.write(photo=[service.keep(b"a")], media_group_id="g", caption="two")
        stream = asyncio.ensure_future(listener.next(20))
        await until(lambda: not service.queue)  # confirmed, and not yet an envelope: now it dies
        stream.cancel()
    async with opened(acks=False, album_seconds=0.3) as (_, listener):
        service.write(photo=[service.keep(b"b")], media_group_id="g")
        whole = await listener.next()
        assert len(blobs(whole)) == 2
        # seen by the kernel, not acknowledged: it dies
    async with opened() as (_, listener):
        again = await listener.next()
        assert again.event_id == whole.event_id
        assert len(blobs(again)) == 2
        late = service.write(photo=[service.keep(b"late")], media_group_id="g")
        extra = await listener.next()
        assert extra.event_id.startswith(f"{BOT}:{late}:")
        assert len(blobs(extra)) == 1
    async with opened() as (_, listener):
        assert await listener.nothing()


async def test_a_part_that_comes_again_makes_nothing_new(opened, service):
    async with opened() as (_, listener):
        service.write(photo=[service.keep(b"a")], media_group_id="g")
        kept = list(service.queue)
        await listener.next()
    service.queue = kept
    async with opened() as (_, listener):
        assert await listener.nothing()
    assert service.queue == []


async def test_albums_that_cannot_be_read_are_put_aside(opened, service, tmp_path):
    folder = tmp_path / "home" / "data" / "telegram"
    folder.mkdir(parents=True)
    (folder / "albums.json").write_text("{ half")
    async with opened() as (_, listener):
        service.write(photo=[service.keep(b"a")], media_group_id="g")
        assert blobs(await listener.next())
    assert (folder / "albums.broken").read_text() == "{ half"
    assert (folder / "albums.json").stat().st_mode & 0o777 == 0o600


# --- trouble ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("token", "words"), [("", "not set"), ("no token", "no token"), ("5:AAwrong_token_000", "does not know")]
)
async def test_a_wrong_token_is_for_a_person_to_mend(made, token, words):
    platform = made(token=token)
    with pytest.raises(UserError, match=words) as caught:
        await platform.open(FakeConsole())
    assert "BotFather" in caught.value.hint
    await platform.close()


async def test_a_proxy_that_is_none_is_told_without_its_password(made):
    with pytest.raises(UserError, match="TELEGRAM_PROXY") as caught:
        await made(secrets={"TELEGRAM_PROXY": "nonsense://user:hunter2@x"}).open(FakeConsole())
    assert "hunter2" not in str(caught.value)


async def test_a_proxy_is_used_for_everything(made, service):
    platform = made(base_url="http://telegram.example", secrets={"TELEGRAM_PROXY": service.url})
    await platform.open(FakeConsole())
    stream = platform.receive()
    service.write(document=service.keep(b"by proxy"))
    envelope = await asyncio.wait_for(anext(stream), 10)
    await platform.close()
    assert Path(blobs(envelope)[0].path).read_bytes() == b"by proxy"
    assert set(service.proxied) == {"telegram.example"}
    assert len(service.proxied) >= 5


async def test_a_service_that_is_away_is_tried_again_later(made, service):
    service.script("getMe", Fault(cut=True), Fault(body=b'{"ok":true,"result":[]}'), Fault(status=500, body=b"x"))
    platform = made()
    for _ in range(3):
        with pytest.raises(HermesError) as caught:
            await platform.open(FakeConsole())
        assert not isinstance(caught.value, UserError)
    await platform.open(FakeConsole())
    await platform.close()


async def test_a_pause_that_is_asked_for_before_it_is_connected_is_told_in_seconds(made, service):
    service.script("getMe", refused(429, "Too Many Requests: retry after 3", retry_after=3))
    platform = made()
    with pytest.raises(NotSent) as caught:
        await platform.open(FakeConsole())
    assert caught.value.retry_after == 3
    await platform.open(FakeConsole())
    await platform.close()


@pytest.mark.parametrize(
    "fault",
    [
        Fault(cut=True),
        Fault(body=b"{"),
        Fault(body=b'{"ok":true,"result":7}'),
        Fault(body=b'{"ok":true,"result":[{}]}'),
        Fault(status=502, body=b"<html>"),
        refused(429, "Too Many Requests", retry_after=0),
        refused(409, "Conflict: terminated by other getUpdates request"),
    ],
    ids=str,
)
async def test_a_fault_in_passing_is_mended_by_itself(opened, service, fault, monkeypatch):
    monkeypatch.setattr("hermes_platform_telegram.polling._PAUSES", (0.01,))
    service.script("getUpdates", fault)
    async with opened() as (_, listener):
        await service.say("still here")
        assert texts(await listener.next()) == ["still here"]


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (refused(401, "Unauthorized"), "token"),
        (refused(409, "Conflict: can't use getUpdates method while webhook is active"), "webhook"),
    ],
)
async def test_what_only_a_person_can_mend_ends_it(opened, service, fault, words):
    service.script("getUpdates", fault)
    async with opened() as (_, listener):
        with pytest.raises(UserError, match=words):
            await listener.next()


async def test_two_pollers_are_told_and_a_long_fault_too(opened, service, monkeypatch):
    monkeypatch.setattr("hermes_platform_telegram.polling._PAUSES", (0.0, 0.0))
    service.script("getUpdates", *[refused(409, "Conflict: terminated by other getUpdates request")] * 3)
    async with opened() as (_, listener):
        with pytest.raises(UserError, match="Another program"):
            await listener.next()
    service.script("getUpdates", *[Fault(cut=True)] * 3)
    async with opened() as (_, listener):
        with pytest.raises(HermesError, match="broke off") as caught:
            await listener.next()
    assert not isinstance(caught.value, UserError)


async def test_it_can_be_closed_twice_and_sends_nothing_then(made):
    platform = made()
    await platform.close()
    await platform.open(FakeConsole())
    await platform.close()
    await platform.close()
    assert [e async for e in platform.receive()] == []
    assert TOKEN not in repr(platform.__dict__)
