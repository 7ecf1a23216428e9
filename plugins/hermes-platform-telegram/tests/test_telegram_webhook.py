"""The webhook takes updates from who knows the secret, and says yes only when they are stored."""

import asyncio
import json
from contextlib import suppress
from pathlib import Path

import pytest
from telegram_service import TOKEN, refused

from hermes_core.errors import UserError
from hermes_core.testing import FakeConsole
from hermes_core.types import Blob, Text

URL = "https://bot.example.org/telegram"
SECRET = "a-secret_for-the-webhook"


@pytest.fixture
def hooked(opened):
    def open_(acks=True, **settings):
        secrets = {"TELEGRAM_WEBHOOK_SECRET": SECRET}
        return opened(acks=acks, webhook_url=URL, webhook_port=0, secrets=secrets, **settings)

    return open_


async def ask(platform, body, *, secret=SECRET, path="/telegram", method="POST", more=""):
    """The status that the webhook answers; 0 when it closes without a word."""
    reader, writer = await asyncio.open_connection("127.0.0.1", platform._webhook.port)
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = f"{method} {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n{more}"
    head += f"x-telegram-bot-api-secret-token: {secret}\r\n\r\n" if secret else "\r\n"
    writer.write(head.encode() + body)
    line = await reader.readline()
    writer.close()
    return int(line.split()[1]) if line else 0


def text(envelope):
    return "".join(p.text for p in envelope.message.parts if isinstance(p, Text))


async def test_telegram_is_told_where_to_come(hooked, service):
    async with hooked():
        assert service.webhook["url"] == URL
        assert service.webhook["secret_token"] == SECRET
        assert service.webhook["allowed_updates"] == ["message", "channel_post", "callback_query", "my_chat_member"]
    assert service.webhook, "what comes while nobody listens would be lost"


async def test_without_a_secret_one_is_made(opened, service):
    async with opened(webhook_url=URL, webhook_port=0) as (platform, _):
        made = service.webhook["secret_token"]
        assert len(made) >= 32
        assert await ask(platform, {"update_id": 1}, secret="wrong") == 401
        assert await ask(platform, {"update_id": 1}, secret=made) == 200


async def test_polling_takes_a_webhook_away(opened, service):
    service.webhook = {"url": URL}
    async with opened() as (_, listener):
        await service.say("hi")
        assert text(await listener.next()) == "hi"


async def test_yes_is_said_when_it_is_stored_and_not_before(hooked, service):
    async with hooked(acks=False) as (platform, listener):
        answer = asyncio.ensure_future(ask(platform, {"update_id": 5, "message": service.message(text="hi")}))
        envelope = await listener.next()
        assert text(envelope) == "hi"
        done, _ = await asyncio.wait([answer], timeout=0.1)
        assert not done
        await platform.ack(envelope)
        assert await answer == 200


async def test_what_is_not_stored_in_time_comes_again(hooked, service, monkeypatch):
    monkeypatch.setattr("hermes_platform_telegram.webhook._STORED", 0.05)
    update = {"update_id": 5, "message": service.message(text="hi")}
    async with hooked(acks=False) as (platform, listener):
        assert await ask(platform, update) == 503
        envelope = await listener.next()
        assert await ask(platform, update) == 503
        await platform.ack(envelope)
        assert await ask(platform, update) == 200
        assert await listener.nothing()


async def test_an_album_is_joined_although_each_part_is_answered(hooked, service):
    async with hooked() as (platform, listener):
        for number, content in ((1, b"a"), (2, b"b")):
            message = service.message(photo=[service.keep(content)], media_group_id="g")
            assert await ask(platform, {"update_id": number, "message": message}) == 200
        envelope = await listener.next()
    files = [p for p in envelope.message.parts if isinstance(p, Blob)]
    assert [Path(f.path).read_bytes() for f in files] == [b"a", b"b"]


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ({"secret": "wrong"}, 401),
        ({"secret": ""}, 401),
        ({"path": "/"}, 404),
        ({"path": "/telegram?x=1"}, 200),
        ({"method": "GET"}, 405),
        ({"body": b"{"}, 400),
        ({"body": b"[]"}, 400),
        ({"body": b'{"update_id": "x"}'}, 400),
        ({"body": b"[" * 100_000}, 400),
        ({"body": b"x" * 4_100_000}, 413),
        ({"more": "content-length: 5\r\n"}, 400),
    ],
    ids=range(11),
)
async def test_what_does_not_belong_there_is_refused(hooked, asked, status):
    async with hooked() as (platform, _):
        assert await ask(platform, asked.pop("body", {"update_id": 1}), **asked) == status
        assert await ask(platform, {"update_id": 2}) == 200


async def test_headers_without_end_are_cut_off(hooked):
    async with hooked() as (platform, _):
        with suppress(ConnectionError):  # it closes while we still write
            assert await ask(platform, {"update_id": 1}, more="x: " + "y" * 2_000_000 + "\r\n") in (431, 0)
        assert await ask(platform, {"update_id": 2}) == 200


async def test_one_connection_carries_many_updates(hooked):
    async with hooked() as (platform, _):
        reader, writer = await asyncio.open_connection("127.0.0.1", platform._webhook.port)
        for number in range(3):
            body = json.dumps({"update_id": number}).encode()
            head = f"POST /telegram HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n"
            writer.write(f"{head}x-telegram-bot-api-secret-token: {SECRET}\r\n\r\n".encode() + body)
            assert b" 200 " in await reader.readline()
            while (await reader.readline()).strip():
                pass
        writer.close()


async def test_what_cannot_be_kept_is_asked_for_again(hooked, service, tmp_path):
    async with hooked() as (platform, listener):
        data = tmp_path / "home" / "data" / "telegram"
        (data / "albums.new").mkdir()  # the file cannot be written
        part = {"update_id": 1, "message": service.message(photo=[service.keep(b"a")], media_group_id="g")}
        assert await ask(platform, part) == 503
        (data / "albums.new").rmdir()
        assert await ask(platform, part) == 200
        assert (await listener.next()).message.parts


async def test_an_address_that_is_taken_is_told(made):
    server = await asyncio.start_server(lambda r, w: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    with pytest.raises(UserError, match=str(port)):
        await made(webhook_url=URL, webhook_port=port).open(FakeConsole())
    server.close()


async def test_a_url_that_telegram_refuses_is_for_a_person_to_mend(made, service):
    service.script("setWebhook", refused(400, "Bad Request: bad webhook: Failed to resolve host"))
    platform = made(webhook_url=URL, webhook_port=0)
    with pytest.raises(UserError, match="resolve host"):
        await platform.open(FakeConsole())
    assert platform._webhook is None
    assert TOKEN not in repr(service.webhook)
