"""What a homeserver says in trouble, and what it means for a message; against a small scripted one."""

import asyncio
import json
import logging
from contextlib import asynccontextmanager

import pytest

from hermes_core.errors import DeliveryError, NotSent, Undeliverable, UserError
from hermes_core.testing import FakeConsole
from hermes_core.types import Chat, Location, Member, Message, Poll, Sent, Started, Text
from hermes_platform_matrix.checks import check_account
from hermes_platform_matrix.config import Config
from hermes_platform_matrix.connection import store_file
from hermes_platform_matrix.homeserver import Cut, Homeserver, Refused
from hermes_platform_matrix.login import Login, homeserver_url
from hermes_platform_matrix.media import Media, NoFile
from hermes_platform_matrix.platform import Matrix
from hermes_platform_matrix.setup import AccountStep
from hermes_platform_matrix.store import AccountStore

TOKEN = "syt_very_secret"
LOG = logging.getLogger("hermes.matrix")


@asynccontextmanager
async def homeserver(answer):
    """Answers ``answer(method, path)``: a status with a JSON object, or None for a connection that is cut."""
    requests = []

    async def serve(reader, writer):
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                method, where, _ = head.split(b" ", 2)
                lines = head.decode().lower().split("\r\n")
                length = next((int(line.split(":")[1]) for line in lines if line.startswith("content-length")), 0)
                await reader.readexactly(length)
                where = where.decode().partition("?")[0]
                requests.append((method.decode(), where))
                said = answer(method.decode(), where)
                if said is None:
                    break
                body = said[1] if isinstance(said[1], bytes) else json.dumps(said[1]).encode()
                writer.write(b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n" % (said[0], len(body)) + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            writer.transport.abort()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", requests
    finally:
        server.close()


def usual(method, where):
    if where.endswith("/whoami"):
        return 200, {"user_id": "@bot:s", "device_id": "D"}
    if where.endswith("/members"):
        return 200, {"chunk": []}
    if "/state/" in where:
        return 404, {"errcode": "M_NOT_FOUND", "error": "nothing"}
    if "/sync" in where:
        return 200, {"next_batch": "s1"}
    return 200, {"displayname": "Bot", "event_id": "$1"}


def bot(url, folder, **settings) -> Matrix:
    config = Config(homeserver=url, encryption=False, access_token=TOKEN, **settings)
    return Matrix(config, lambda value: "" if value.startswith("env:") else value, folder, LOG)


SAID = Message(role="assistant", parts=(Text(text="hello"),))


@pytest.mark.parametrize(
    ("status", "answer", "kind", "wait"),
    [
        (429, {"errcode": "M_LIMIT_EXCEEDED", "retry_after_ms": 1500}, NotSent, 1.5),
        (429, {"errcode": "M_LIMIT_EXCEEDED"}, NotSent, None),
        (403, {"errcode": "M_FORBIDDEN", "error": "not here"}, Undeliverable, None),
        (404, {"errcode": "M_NOT_FOUND"}, Undeliverable, None),
        (413, {"errcode": "M_TOO_LARGE"}, Undeliverable, None),
        (401, {"errcode": "M_UNKNOWN_TOKEN", "soft_logout": True}, NotSent, None),
        (500, {"errcode": "M_UNKNOWN"}, DeliveryError, None),
        (502, b"<html>bad gateway", DeliveryError, None),
        (200, b"<html>a portal", DeliveryError, None),
        (200, b"[]", DeliveryError, None),
        (None, None, DeliveryError, None),
    ],
)
async def test_what_an_answer_means_for_a_message(tmp_path, status, answer, kind, wait):
    def script(method, where):
        if "/send/" in where:
            return None if status is None else (status, answer)
        return usual(method, where)

    async with homeserver(script) as (url, _):
        platform = bot(url, tmp_path)
        await platform.open(FakeConsole())
        with pytest.raises(DeliveryError) as caught:
            await platform.send(Chat("!r:s"), SAID, "key")
        await platform.close()
    assert type(caught.value) is kind
    assert getattr(caught.value, "retry_after", None) == wait
    assert TOKEN not in str(caught.value)


async def test_a_homeserver_that_is_away_got_nothing(tmp_path):
    async with homeserver(usual) as (url, _):
        platform = bot(url, tmp_path)
        await platform.open(FakeConsole())
        await platform._connection.rooms.get("!r:s")
        platform._connection.server.url = "http://127.0.0.1:1"
        with pytest.raises(NotSent):
            await platform.send(Chat("!r:s"), SAID, "key")
        await platform.close()
    with pytest.raises(NotSent, match="not connected"):
        await platform.send(Chat("!r:s"), SAID, "key")
    with pytest.raises(Cut):
        await bot("http://127.0.0.1:1", tmp_path / "other").open(FakeConsole())


@pytest.mark.parametrize("config", [{"homeserver": ""}, {"homeserver": "x"}])
async def test_what_only_a_person_can_mend(tmp_path, config, monkeypatch):
    async def url(name):
        return "http://127.0.0.1:1"

    if config["homeserver"]:
        monkeypatch.setattr("hermes_platform_matrix.connection.homeserver_url", url)
    platform = Matrix(Config(**config), lambda _: "", tmp_path, LOG)
    with pytest.raises(UserError, match=r"no homeserver is set|neither an access token nor a password") as caught:
        await platform.open(FakeConsole())
    assert caught.value.hint


async def test_a_token_that_runs_out_parks_the_platform(tmp_path):
    gone = []

    def script(method, where):
        if gone:
            return 401, {"errcode": "M_UNKNOWN_TOKEN", "error": "gone"}
        gone.append("/sync" in where or None)
        gone[:] = [g for g in gone if g]
        return usual(method, where)

    async with homeserver(script) as (url, _):
        platform = bot(url, tmp_path)
        await platform.open(FakeConsole())
        with pytest.raises(UserError, match="not valid"):
            await asyncio.wait_for(anext(platform.receive()), 10)
        await platform.close()


async def test_a_short_cut_is_borne_and_a_lasting_one_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("hermes_platform_matrix.feed._LONGEST_PAUSE", 0.01)
    left = [3]
    event = {
        "type": "m.room.message",
        "sender": "@a:s",
        "event_id": "$e",
        "content": {"msgtype": "m.text", "body": "x"},
    }

    def script(method, where):
        if "/sync" not in where:
            return usual(method, where)
        left[0] -= 1
        if left[0] in (2, 0):
            return 200, {"next_batch": f"s{left[0]}", "rooms": {"join": {"!r:s": {"timeline": {"events": [event]}}}}}
        return (502, b"") if left[0] == 1 else None

    async with homeserver(script) as (url, requests):
        platform = bot(url, tmp_path)
        await platform.open(FakeConsole())
        stream = platform.receive()
        assert (await asyncio.wait_for(anext(stream), 10)).event_id == "$e"  # the first sync of all is not for us
        with pytest.raises(Cut):
            await asyncio.wait_for(anext(stream), 20)
        await platform.close()
    assert sum("/sync" in where for _, where in requests) == 9


async def test_one_odd_event_stops_nothing(tmp_path):
    odd = [{}, {"type": 7}, {"sender": "@a:s", "event_id": "$0", "type": "m.room.message", "content": {"body": []}}]
    odd += [{"sender": "@a:s", "event_id": "$1", "type": "m.room.encrypted", "content": {"ciphertext": 3}}]
    odd += [
        {"sender": "@a:s", "event_id": "$2", "type": "m.room.message", "content": {"msgtype": "m.image", "body": "x"}}
    ]
    good = {"sender": "@a:s", "event_id": "$3", "type": "m.room.message", "content": {"msgtype": "m.text", "body": "x"}}
    turn = [0]

    def script(method, where):
        if "/sync" not in where:
            return usual(method, where)
        turn[0] += 1
        room = {"timeline": {"events": [*odd, good] if turn[0] == 2 else []}}
        return 200, {"next_batch": f"s{turn[0]}", "rooms": {"join": {"!r:s": room}}}

    async with homeserver(script) as (url, _):
        platform = bot(url, tmp_path)
        await platform.open(FakeConsole())
        stream = platform.receive()
        heard = [await asyncio.wait_for(anext(stream), 10) for _ in range(2)]
        await platform.close()
    assert [e.event_id for e in heard] == ["$2", "$3"]
    assert "could not be fetched" in heard[0].message.parts[0].text


async def test_a_file_is_never_read_beyond_the_limit():
    async with homeserver(lambda *_: (200, b"x" * 1_000_000)) as (url, _):
        server = Homeserver(url)
        assert await server.download("/f", 999_999) is None
        assert await server.download("/f", 1_000_000) == b"x" * 1_000_000
        await server.close()


async def test_what_doctor_says(tmp_path):
    async def findings(url, token=TOKEN):
        config = Config(homeserver=url, access_token=token)
        return await check_account(config, lambda v: "" if v.startswith("env:") else v, tmp_path).run()

    async with homeserver(usual) as (url, _):
        told = await findings(url)
        assert [f.level for f in told] == ["ok", "ok"]
        assert "@bot:s" in told[0].text
        assert (await findings(url, "env:NOTHING"))[0].level == "fault"
    async with homeserver(lambda *_: (401, {"errcode": "M_UNKNOWN_TOKEN"})) as (url, _):
        told = await findings(url)
        assert (told[0].level, bool(told[0].fix)) == ("fault", True)
        assert TOKEN not in told[0].text
    assert (await findings("http://127.0.0.1:1"))[0].level == "fault"
    assert (await findings(""))[0].level == "ok"
    assert not list(tmp_path.iterdir()), "doctor changed something"


async def test_an_account_is_checked_before_it_is_kept():
    async def found(url, **said):
        return await AccountStep().test({"homeserver": url, "user": "", "password": "", "token": ""} | said)

    def script(method, where):
        return (200, {"user_id": "@bot:s", "access_token": "new"}) if where.endswith("/login") else usual(method, where)

    async with homeserver(script) as (url, requests):
        assert await found(url, token=TOKEN) == f"{url} knows the bot as @bot:s."
        assert await found(url, user="@bot:s", password="pw") == f"{url} knows the bot as @bot:s."
        assert [where.rpartition("/")[2] for _, where in requests] == ["whoami", "login", "logout"]
        for said in ({}, {"user": "@bot:s"}, {"password": "pw"}):
            with pytest.raises(UserError, match="Matrix"):
                await found(url, **said)
    async with homeserver(lambda *_: (401, {"errcode": "M_UNKNOWN_TOKEN"})) as (url, _):
        with pytest.raises(UserError, match="not valid"):
            await found(url, token=TOKEN)
    async with homeserver(lambda *_: (403, {"errcode": "M_FORBIDDEN", "error": "no"})) as (url, _):
        with pytest.raises(UserError, match="was refused for @bot:s"):
            await found(url, user="@bot:s", password="pw")
    with pytest.raises(Cut):
        await found("http://127.0.0.1:9", token=TOKEN)


async def test_errors_show_no_token():
    async with homeserver(lambda *_: (403, {"errcode": "M_FORBIDDEN", "error": "no"})) as (url, _):
        server = Homeserver(url, TOKEN)
        with pytest.raises(Refused) as caught:
            await server.ask("GET", "/x", query={"a": "b"})
        await server.close()
    assert TOKEN not in f"{caught.value!r} {caught.value} {vars(caught.value)}"


async def test_edits_and_signs_fail_like_messages(tmp_path):
    refusal = [(429, {"errcode": "M_LIMIT_EXCEEDED", "retry_after_ms": 10})]

    def script(method, where):
        return refusal[0] if "/send/" in where or "/typing/" in where else usual(method, where)

    async with homeserver(script) as (url, requests):
        platform = bot(url, tmp_path)
        await platform.open(FakeConsole())
        with pytest.raises(NotSent):
            await platform.edit(Sent(chat="!r:s", message_id="$1"), SAID)
        with pytest.raises(NotSent):
            await platform.react(Chat("!r:s"), "$1", "👀")
        await platform.show(Chat("!r:s"), Started(session_id="s", turn_id="t", provider="p", model="m"))
        refusal[0] = (400, {"errcode": "M_DUPLICATE_ANNOTATION"})
        await platform.react(Chat("!r:s"), "$1", "👀")
        refusal[0] = None
        with pytest.raises(DeliveryError):
            await platform.react(Chat("!r:s"), "$1", "👀")
        before = len(requests)
        empty = Message(role="assistant", parts=())
        await platform.edit(Sent(chat="!r:s", message_id="$1"), empty)
        assert not any("/send/" in where for _, where in requests[before:])
        assert await platform.send(Chat("!r:s"), empty, "k") is None
        await platform.close()


async def test_a_file_is_tried_again_and_then_told_of(tmp_path, monkeypatch):
    answers: list = []

    def script(method, where):
        return answers.pop(0)

    async def no_pause(seconds):
        pauses.append(seconds)

    pauses: list = []
    monkeypatch.setattr("hermes_platform_matrix.media.asyncio.sleep", no_pause)
    async with homeserver(script) as (url, requests):
        media = Media(Homeserver(url), tmp_path / "media", 100, 7)
        content = {"url": "mxc://s/x", "body": "a.txt", "info": {"mimetype": "text/plain"}}
        limited = (429, {"errcode": "M_LIMIT_EXCEEDED", "retry_after_ms": 2000})
        answers[:] = [limited, None, (200, b"hello")]
        blob = await media.fetch(content)
        assert (tmp_path / "media" / blob.path.rpartition("/")[2]).read_bytes() == b"hello"
        assert pauses == [2.0, 2]
        answers[:] = [(404, {"errcode": "M_UNRECOGNIZED"}), (200, b"older")]
        await media.fetch(content)
        assert requests[-1][1] == "/_matrix/media/v3/download/s/x"
        for said, why in (((404, {"errcode": "M_NOT_FOUND"}), "does not give it"), (None, "did not answer")):
            answers[:] = [said] * 3
            with pytest.raises(NoFile, match=why):
                await media.fetch(content)
        for wrong in ({}, {"url": "https://s/x"}, {"url": "mxc://s/../x"}, {"url": 7}, {"file": {}}):
            with pytest.raises(NoFile, match="where it is"):
                await media.fetch(wrong)
        with pytest.raises(NoFile, match="101 bytes"):
            await media.fetch(content | {"info": {"size": 101}})
        answers[:] = [(200, b"hello")]
        with pytest.raises(NoFile, match="encrypted"):
            await media.fetch({"file": {"url": "mxc://s/x"}, "body": "a"})
        await media._server.close()


async def test_old_files_go(tmp_path):
    import os

    async with homeserver(lambda *_: (200, b"hello")) as (url, _):
        media = Media(Homeserver(url), tmp_path, 100, 1)
        old = tmp_path / "old.txt"
        old.write_text("x")
        os.utime(old, (0, 0))
        await media.fetch({"url": "mxc://s/x", "body": "a.txt"})
        assert [p.name.partition("-")[2] for p in tmp_path.iterdir()] == ["a.txt"]
        await media._server.close()


async def test_logging_in_says_what_is_missing(tmp_path):
    def password(value):
        return "pw" if "PASSWORD" in value else ""

    def script(method, where):
        return (200, {"access_token": "t", "user_id": "@bot:s", "device_id": "D"}) if "login" in where else (500, {})

    async with homeserver(script) as (url, _):
        server = Homeserver(url)
        with pytest.raises(UserError, match=r"platforms\.matrix\.user"):
            await Login(Config(homeserver=url), password, tmp_path).enter(server)
        login = Login(Config(homeserver=url, user="bot"), password, tmp_path)
        made = await login.enter(server)
        assert (made.user, made.device, "t" in repr(made).split("@")[0]) == ("@bot:s", "D", True)
        assert made.key not in repr(made)
        with pytest.raises(Refused):
            await login.enter(server)  # it cannot be asked whose token it is: that is not the person's to mend
        login.forget_token()
        again = await login.enter(server)
        assert (again.device, again.key) == (made.device, made.key)
        (tmp_path / "credentials.json").write_text("{")
        with pytest.raises(UserError, match="cannot be read"):
            await login.enter(server)
        await server.close()


async def test_a_server_name_leads_to_its_api(monkeypatch):
    said: list = []

    async def ask(self, method, where, *more, **options):
        assert (self.url, where) == ("https://example.org", "/.well-known/matrix/client")
        if isinstance(said[0], Exception):
            raise said[0]
        return said[0]

    monkeypatch.setattr(Homeserver, "ask", ask)
    for answer, url in (
        ({"m.homeserver": {"base_url": "https://m.example.org/"}}, "https://m.example.org"),
        (Refused(404, "", "", None, {}), "https://example.org"),
        ({"m.homeserver": {}}, "https://example.org"),
    ):
        said[:] = [answer]
        assert await homeserver_url("example.org") == url
    said[:] = [{"m.homeserver": {"base_url": "http://evil"}}]
    with pytest.raises(UserError, match="not https"):
        await homeserver_url("example.org")
    said[:] = [Cut("away", asked=False)]
    with pytest.raises(Cut):
        await homeserver_url("example.org")
    assert await homeserver_url("http://127.0.0.1:8008/") == "http://127.0.0.1:8008"


async def test_doctor_tells_of_devices_and_keys(tmp_path):
    store = AccountStore(store_file(tmp_path, "@bot:s"))

    async def told(script=usual, **settings):
        async with homeserver(script) as (url, _):
            settings = {"access_token": TOKEN, "homeserver": url} | settings
            check = check_account(
                Config(**settings), lambda v: "pw" if "PASS" in v else v.replace("env:", ""), tmp_path
            )
            return [(f.level, f.text.partition(": ")[2]) for f in await check.run()][-1]

    assert await told() == ("ok", "device D is signed by its account.")
    store.put("waiting", "$1", {})
    assert await told() == ("warning", "1 messages wait for their keys.")
    store.put("D", "unsigned", "no key")
    assert await told() == ("warning", "device D is not signed: no key.")
    store.close()
    assert (await told(lambda *_: (200, {"user_id": "@bot:s"})))[1].startswith("the token has no device")
    assert (await told(lambda *_: (502, {})))[0] == "fault"


@pytest.mark.long
async def test_an_invitation_is_tried_again_and_given_up_when_refused(tmp_path, monkeypatch):
    answers = [(429, {"errcode": "M_LIMIT_EXCEEDED", "retry_after_ms": 1}), None, (403, {"errcode": "M_FORBIDDEN"})]
    member = {"type": "m.room.member", "state_key": "@bot:s", "sender": "@a:s", "content": {"membership": "invite"}}
    told, done = [{"!r:s": {"invite_state": {"events": [{"type": "m.room.name"}, member]}}}], asyncio.Event()

    def script(method, where):
        if where.endswith("/join/%21r%3As"):
            said = answers.pop(0)
            if not answers:
                done.set()
            return said
        if "/sync" in where:
            return 200, {"next_batch": "s1", "rooms": {"invite": told.pop()} if told else {}}
        return usual(method, where)

    async with homeserver(script) as (url, _):
        platform = bot(url, tmp_path)
        await platform.open(FakeConsole())
        hearing = asyncio.ensure_future(anext(platform.receive(), None))
        await asyncio.wait_for(done.wait(), 20)
        await platform.close()
        assert await hearing is None
    assert answers == []


@pytest.mark.parametrize(("trouble", "heard"), [((502, {}), ["$1", "$2"]), ((403, {"errcode": "M_FORBIDDEN"}), ["$2"])])
async def test_an_event_waits_for_what_it_needs_and_is_left_out_only_when_refused(tmp_path, trouble, heard):
    troubles = [trouble]
    turn = [0]

    def event(name):
        content = {"msgtype": "m.text", "body": "x"}
        return {"sender": "@a:s", "event_id": name, "type": "m.room.message", "content": content}

    def script(method, where):
        if where.endswith("/members") and troubles:
            return troubles.pop()
        if "/sync" not in where:
            return usual(method, where)
        turn[0] += 1
        room = {"timeline": {"events": [event("$1"), event("$2")] if turn[0] == 2 else []}}
        return 200, {"next_batch": f"s{turn[0]}", "rooms": {"join": {"!r:s": room}}}

    async with homeserver(script) as (url, _):
        platform = bot(url, tmp_path)
        await platform.open(FakeConsole())
        stream = platform.receive()
        assert [(await asyncio.wait_for(anext(stream), 10)).event_id for _ in heard] == heard
        await platform.close()


async def test_polls_places_threads_and_people(tmp_path):
    """What goes out, and what is said of who is there."""
    levels = {"users": {"@ada:s": 100, "@bob:s": 10, "@odd:s": "100"}}

    def answer(method, where):
        if where.endswith("/members"):
            people = [("@ada:s", "join", "Ada"), ("@bob:s", "invite", "Bob"), ("@cy:s", "leave", "Cy")]
            rows = [
                {"type": "m.room.member", "state_key": i, "content": {"membership": m, "displayname": n}}
                for i, m, n in people
            ]
            return 200, {"chunk": rows}
        if "/state/m.room.power_levels" in where:
            return 200, levels
        return usual(method, where)

    async with homeserver(answer) as (url, requests):
        made = bot(url, tmp_path)
        await made.open(FakeConsole())
        chat, poll = Chat("!r:s"), Poll(question="When?", choices=["now", "then"])
        await made.send(chat, Message(role="assistant", parts=(poll, Location(latitude=1, longitude=2))), "k")
        thread = await made.make_thread(chat, "Apart")
        with pytest.raises(UserError, match="no threads in threads"):
            await made.make_thread(thread, "Deeper")
        assert thread == Chat("!r:s", "$1")
        ada = Member(id="@ada:s", name="Ada", admin=True)
        assert await made.members(chat) == [ada, Member(id="@bob:s", name="Bob")]
        assert await made.members(chat, "@ada:s") == [ada]
        assert await made.members(chat, "@cy:s") == []
        levels["users"] = "nonsense"
        assert not any(one.admin for one in await made.members(chat))
        await made.close()
    sent = [where.split("/send/")[1].split("/")[0] for _, where in requests if "/send/" in where]
    assert sent == ["org.matrix.msc3381.poll.start", "m.room.message", "m.room.message"]
