"""What is sent is there once, or the kernel is told the truth about it."""

import logging

import pytest
from telegram_service import NAME, TOKEN, Fault, Refusal, member_of, refused

from hermes_core.errors import DeliveryError, NotSent, Undeliverable, UserError
from hermes_core.types import Blob, Button, Buttons, Chat, Location, Member, Message, Poll, Sent, Text

CHAT = Chat("77")
PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)


def said(text="", *more):
    return Message(role="assistant", parts=(*([Text(text=text)] if text else []), *more))


def visible(service, chat=77):
    return [m.get("text", m.get("caption")) for m in service.chats[chat].values()]


async def test_formatting_goes_as_entities_and_no_preview_is_fetched(opened, service):
    async with opened() as (platform, _):
        await platform.send(CHAT, said("a **b** http://evil.example/?q=secret"), "k")
    (given,) = service.made("sendMessage")
    assert given["text"] == "a b http://evil.example/?q=secret"
    assert given["entities"] == [{"type": "bold", "offset": 2, "length": 1}]
    assert given["link_preview_options"] == {"is_disabled": True}
    assert "parse_mode" not in given


async def test_without_markdown_it_goes_as_written(opened, service):
    async with opened(markdown=False, link_previews=True, silent=True) as (platform, _):
        await platform.send(CHAT, said("a **b**"), "k")
    (given,) = service.made("sendMessage")
    assert given == {"chat_id": "77", "text": "a **b**", "disable_notification": True}


async def test_a_refused_formatting_goes_out_plain(opened, service):
    service.script("sendMessage", refused(400, "Bad Request: can't parse entities: no reason at all"))
    service.script("editMessageText", refused(400, "Bad Request: ENTITY_BOUNDS_INVALID"))
    async with opened() as (platform, _):
        sent = await platform.send(CHAT, said("a **b**"), "k")
        assert visible(service) == ["a **b**"]
        await platform.edit(sent, said("c **d**"))
    assert visible(service) == ["c **d**"]


async def test_an_answer_goes_to_its_topic_and_quotes(opened, service):
    async with opened() as (platform, _):
        await platform.send(Chat("-1001", "42", "5"), said("hi"), "k")
    (given,) = service.made("sendMessage")
    assert given["message_thread_id"] == 42
    assert given["reply_parameters"] == {"message_id": 5, "allow_sending_without_reply": True}


@pytest.mark.parametrize(
    ("fault", "error", "there"),
    [
        (refused(429, "Too Many Requests: retry after 7", retry_after=7), NotSent, False),
        (refused(401, "Unauthorized"), NotSent, False),
        (refused(403, "Forbidden: bot was blocked by the user"), Undeliverable, False),
        (refused(400, "Bad Request: chat not found"), Undeliverable, False),
        (refused(400, "Bad Request: message thread not found"), Undeliverable, False),
        (refused(500, "Internal Server Error"), DeliveryError, False),
        (Fault(status=502, body=b"<html>Bad Gateway</html>"), DeliveryError, False),
        (Fault(status=502, body=b"<html>Bad Gateway</html>", after=True), DeliveryError, True),
        (Fault(body=b'{"ok": tru', after=True), DeliveryError, True),
        (Fault(body=b"[]", after=True), DeliveryError, True),
        (Fault(body=b'{"ok": true, "result": true}', after=True), DeliveryError, True),
        (Fault(status=403, body=b"blocked by a proxy"), NotSent, False),
        (Fault(cut=True), DeliveryError, False),
        (Fault(cut=True, after=True), DeliveryError, True),
        (Fault(hang=True, after=True), DeliveryError, True),
    ],
    ids=str,
)
async def test_a_failed_send_says_what_is_known(opened, service, fault, error, there):
    service.script("sendMessage", fault)
    async with opened(seconds=0.4) as (platform, _):
        with pytest.raises(DeliveryError) as caught:
            await platform.send(CHAT, said("hi"), "k")
    assert type(caught.value) is error
    assert visible(service) == (["hi"] if there else [])
    assert TOKEN.partition(":")[2] not in str(caught.value)
    if fault.status == 429:
        assert caught.value.retry_after == 7


async def test_nobody_there_is_surely_not_sent(opened, service):
    async with opened() as (platform, _):
        await service.stop()
        with pytest.raises(NotSent):
            await platform.send(CHAT, said("hi"), "k")


async def test_an_edit_can_be_repeated(opened, service):
    async with opened() as (platform, _):
        sent = await platform.send(CHAT, said("wait"), "k")
        await platform.edit(sent, said("done"))
        await platform.edit(sent, said("done"))
        assert visible(service) == ["done"]
        service.script("editMessageText", refused(429, "Too Many Requests", retry_after=3))
        with pytest.raises(NotSent) as caught:
            await platform.edit(sent, said("more"))
        assert caught.value.retry_after == 3
        with pytest.raises(Undeliverable, match="message to edit not found"):
            await platform.edit(Sent(chat="77", message_id="999"), said("x"))
        with pytest.raises(Undeliverable):
            await platform.edit(Sent(chat="77", message_id="nonsense"), said("x"))
        with pytest.raises(Undeliverable, match="4096"):
            await platform.edit(sent, said("🦊" * 2049))
    assert visible(service) == ["done"]


async def test_the_text_below_a_file_can_be_edited(opened, service):
    async with opened() as (platform, _):
        sent = await platform.send(CHAT, said("look", Blob(media_type="image/png", data=PNG, name="a.png")), "k")
        assert visible(service) == ["look"]
        await platform.edit(sent, said("look **here**"))
    assert visible(service) == ["look here"]


async def test_buttons_stay_until_an_edit_without_them(opened, service):
    buttons = Buttons(buttons=[Button(label="Once", says="/approve 3f2a once"), Button(label="No", says="/deny 3f2a")])
    async with opened() as (platform, _):
        sent = await platform.send(CHAT, said("May I?", buttons), "k")
        ((row,),) = [m["reply_markup"]["inline_keyboard"] for m in service.chats[77].values()]
        assert [k["callback_data"] for k in row] == ["/approve 3f2a once", "/deny 3f2a"]
        await platform.edit(sent, said("May I? Yes."))
        assert "reply_markup" not in next(iter(service.chats[77].values()))
        with pytest.raises(Undeliverable, match="64 bytes"):
            await platform.send(CHAT, said("?", Buttons(buttons=[Button(label="x", says="y" * 65)])), "k")


@pytest.mark.parametrize(
    ("media_type", "data", "method"),
    [
        ("image/png", PNG, "sendPhoto"),
        ("image/jpeg", b"no picture at all", "sendDocument"),
        ("image/gif", b"GIF89a", "sendAnimation"),
        ("image/svg+xml", b"<svg/>", "sendDocument"),
        ("audio/ogg; codecs=opus", b"OggS", "sendVoice"),
        ("audio/mpeg", b"ID3", "sendAudio"),
        ("audio/flac", b"fLaC", "sendDocument"),
        ("video/mp4", b"ftyp", "sendVideo"),
        ("application/pdf", b"%PDF", "sendDocument"),
    ],
)
async def test_files_go_as_what_they_are(opened, service, tmp_path, media_type, data, method):
    file = tmp_path / "a file.x"
    file.write_bytes(data)
    async with opened() as (platform, _):
        sent = await platform.send(CHAT, said("", Blob(media_type=media_type, path=str(file))), "k")
    assert sent.message_id
    assert service.uploads == [data]
    assert [n for n, _ in service.calls if n.startswith("send")][-1] == method


async def test_several_files_come_after_their_text(opened, service):
    files = [Blob(media_type="text/plain", data=b"one", name="1.txt"), Blob(media_type="text/plain", data=b"two")]
    service.script("sendDocument", refused(429, "Too Many Requests", retry_after=0))
    async with opened() as (platform, _):
        sent = await platform.send(Chat("77", "", "3"), said("both", *files), "k")
    assert service.uploads == [b"one", b"two"]
    first = service.chats[77][int(sent.message_id)]
    assert first["text"] == "both"
    assert [m.get("reply_parameters") for m in service.chats[77].values()][1:] == [None, None]


async def test_a_file_that_is_not_there_is_told_before_anything_is_sent(opened, service, tmp_path):
    files = [Blob(media_type="text/plain", data=b"one"), Blob(media_type="text/plain", path=str(tmp_path / "gone"))]
    async with opened() as (platform, _):
        with pytest.raises(Undeliverable, match="gone"):
            await platform.send(CHAT, said("both", *files), "k")
    assert visible(service) == []


async def test_a_file_that_is_refused_after_the_text_is_told_in_its_place(opened, service):
    files = [Blob(media_type="text/plain", data=b"one"), Blob(media_type="text/plain", data=b"", name="empty.txt")]
    async with opened() as (platform, _):
        await platform.send(CHAT, said("both", *files), "k")
    assert visible(service) == ["both", "", "(empty.txt could not be sent: file must be non-empty.)"]


async def test_what_breaks_off_in_the_middle_is_not_called_unsent(opened, service):
    service.script("sendDocument", refused(429, "Too Many Requests", retry_after=3600))
    files = [Blob(media_type="text/plain", data=b"one"), Blob(media_type="text/plain", data=b"two")]
    async with opened() as (platform, _):
        with pytest.raises(DeliveryError, match="A part") as caught:
            await platform.send(CHAT, said("both", *files), "k")
    assert type(caught.value) is DeliveryError
    assert visible(service) == ["both"]


async def test_text_beyond_the_limit_comes_in_pieces(opened, service):
    async with opened() as (platform, _):
        assert platform.length("🦊") == 2
        await platform.send(CHAT, said("🦊" * 2050), "k")
    assert visible(service) == ["🦊" * 2048, "🦊🦊"]


async def test_a_group_that_moved_is_followed(opened, service):
    service.gone[-5] = Refusal(400, "Bad Request: group chat was upgraded", migrate_to_chat_id=-1005)
    async with opened() as (platform, _):
        sent = await platform.send(Chat("-5"), said("hi"), "k")
        await platform.edit(sent, said("hi again"))
        await platform.send(Chat("-5"), said("more"), "k2")
    assert visible(service, -1005) == ["hi again", "more"]
    assert len([g for g in service.made("sendMessage") if g["chat_id"] == "-5"]) == 1


async def test_reactions_are_those_that_telegram_has(opened, service):
    async with opened() as (platform, _):
        for sign, there in (("👀", ["👀"]), ("✅", ["👌"]), ("❤️", ["❤"]), ("", [])):
            await platform.react(CHAT, "5", sign)
            assert service.reactions[77, 5] == there
        with pytest.raises(Undeliverable):
            await platform.react(CHAT, "5", "🥒")


async def test_what_cannot_be_deleted_any_more_is_said(opened, service):
    async with opened() as (platform, _):
        sent = await platform.send(CHAT, said("hi"), "k")
        service.chats[77][int(sent.message_id)]["old"] = True
        with pytest.raises(Undeliverable, match="can't be deleted"):
            await platform.delete(sent)
        service.script("deleteMessage", Fault(cut=True))
        with pytest.raises(DeliveryError):
            await platform.delete(sent)


async def test_a_group_is_left_once_and_nothing_reaches_it_then(opened, service):
    async with opened() as (platform, _):
        await platform.leave(Chat("-5"))
        await platform.leave(Chat("-5"))
        with pytest.raises(Undeliverable):
            await platform.send(Chat("-5"), said("hi"), "k")
        service.script("leaveChat", Fault(cut=True))
        with pytest.raises(DeliveryError):
            await platform.leave(Chat("-6"))


async def test_typing_that_cannot_be_shown_hurts_nobody(opened, service):
    from hermes_core.types import Started

    service.script("sendChatAction", Fault(cut=True))
    async with opened() as (platform, _):
        await platform.show(CHAT, Started(session_id="s", turn_id="t", provider="p", model="m"))


async def test_the_token_is_in_no_log_and_no_error(opened, service, caplog):
    caplog.set_level(logging.DEBUG)
    secret = TOKEN.partition(":")[2]
    service.script("sendMessage", Fault(cut=True), refused(400, f"Bad Request: /bot{TOKEN}/x"))
    async with opened() as (platform, listener):
        await service.say("hi")
        await listener.next()
        for _ in range(2):
            with pytest.raises(DeliveryError) as caught:
                await platform.send(CHAT, said("hi"), "k")
            assert secret not in "".join(map(repr, (caught.value, caught.value.__cause__, str(caught.value))))
            assert caught.value.__suppress_context__
    assert NAME in platform.account
    assert "POST" in caplog.text  # the library logs; it just does not tell this
    assert secret not in caplog.text


# --- polls, places, topics, people ----------------------------------------------------------------------------------


DAY = Poll(question="Which day?", choices=["Monday", "Friday"], several=True)


async def test_a_poll_is_a_poll_in_its_topic_and_quotes(opened, service):
    async with opened() as (platform, _):
        sent = await platform.send(Chat("-1001", "42", "5"), said("Let us vote.", DAY), "k")
    (words,), (given,) = service.made("sendMessage"), service.made("sendPoll")
    assert words["reply_parameters"]["message_id"] == 5
    assert (given["message_thread_id"], "reply_parameters" in given) == (42, False)
    assert given["options"] == [{"text": "Monday"}, {"text": "Friday"}]
    assert (given["allows_multiple_answers"], given["is_anonymous"]) == (True, False)
    assert sent.message_id == "11"


@pytest.mark.parametrize(
    "poll",
    [
        Poll(question="Alone?", choices=["Yes"]),
        Poll(question="Many?", choices=[str(n) for n in range(11)]),
        Poll(question="Long?", choices=["a" * 101, "b"]),
        Poll(question="Q" * 301, choices=["a", "b"]),
        Poll(question="Empty?", choices=["", "b"]),
    ],
)
async def test_what_telegram_takes_for_no_poll_goes_in_words(opened, service, poll):
    async with opened() as (platform, _):
        await platform.send(CHAT, said("", poll), "k")
    assert service.made("sendPoll") == []
    assert visible(service)[0].startswith(poll.question)


async def test_a_place_with_a_name_has_it_below(opened, service):
    async with opened() as (platform, _):
        await platform.send(CHAT, said("", Location(latitude=59.9, longitude=10.7)), "k")
        await platform.send(CHAT, said("", Location(latitude=59.9, longitude=10.7, title="Oslo")), "l")
    assert service.made("sendLocation") == [{"chat_id": "77", "latitude": 59.9, "longitude": 10.7}]
    assert service.made("sendVenue")[0]["title"] == "Oslo"


async def test_what_breaks_off_before_the_poll_is_told(opened, service):
    service.script("sendPoll", refused(500, "Internal Server Error"))
    async with opened() as (platform, _):
        with pytest.raises(DeliveryError, match="A part was not sent"):
            await platform.send(CHAT, said("Let us vote.", DAY), "k")


async def test_a_topic_is_begun_where_there_are_topics(opened, service):
    service.forums.add(-1001)
    async with opened() as (platform, _):
        topic = await platform.make_thread(Chat("-1001"), "Holidays")
        await platform.send(topic, said("Here."), "k")
        with pytest.raises(UserError, match="group with topics"):
            await platform.make_thread(CHAT, "Holidays")
        service.script("createForumTopic", refused(403, "Forbidden: bot was kicked"), refused(500, "no"))
        with pytest.raises(UserError):
            await platform.make_thread(Chat("-1001"), "Holidays")
        with pytest.raises(DeliveryError):
            await platform.make_thread(Chat("-1001"), "Holidays")
    assert service.made("sendMessage")[0]["message_thread_id"] == int(topic.thread)


async def test_people_of_a_group_are_looked_up(opened, service):
    rows = [(1, "creator", "Ada"), (2, "member", "Bob"), (3, "left", "Cy"), (4, "administrator", "Di")]
    service.people = {number: member_of(number, status, name) for number, status, name in rows}
    async with opened() as (platform, _):
        admins = await platform.members(Chat("-1001"))
        assert admins == [Member(id="1", name="Ada", admin=True), Member(id="4", name="Di", admin=True)]
        assert await platform.members(Chat("-1001"), "2") == [Member(id="2", name="Bob")]
        for nobody in ("3", "9", "no-number"):
            assert not await platform.members(Chat("-1001"), nobody)
        assert not await platform.members(CHAT)
        service.script("getChatAdministrators", refused(403, "Forbidden: bot is not a member of the channel chat"))
        with pytest.raises(Undeliverable):
            await platform.members(Chat("-1001"))
