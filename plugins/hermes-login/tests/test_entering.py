"""A person logs in: by a code that they type, or with a browser that comes back."""

import asyncio
import json
from urllib.parse import parse_qs, urlsplit

import pytest

from hermes_core.errors import HermesError, UserError
from hermes_core.testing.model_service import http
from hermes_login.entering import log_in


@pytest.fixture
def enter():
    """``await enter(service)``: the tokens, what was shown, and how long was waited between two questions."""

    async def run(service, answer=""):
        shown, waited = [], []

        async def show(prompt):
            shown.append(prompt)
            return await answer(prompt) if callable(answer) else answer

        async def sleep(seconds):
            waited.append(seconds)

        return await log_in(service, show, sleep=sleep), shown, waited

    return run


async def test_a_code_is_typed_and_no_question_comes_too_early(server, acme, enter):
    server.pending += ["authorization_pending", "slow_down", "authorization_pending"]
    tokens, [prompt], waited = await enter(acme())
    assert server.is_good(tokens.access)
    assert server.is_good(tokens.refresh)
    assert (prompt.url, prompt.code) == (f"{server.url}/activate", "WDJB-MJHT")
    assert waited == [5, 5, 10, 10]  # RFC 8628, 3.5: five seconds more after slow_down, and for good
    assert server.wrong == []
    assert tokens.access not in repr(tokens)
    assert tokens.refresh not in repr(tokens)


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (["access_denied"], "refused"),
        (["expired_token"], "in time"),
        (["authorization_pending"] * 400, "in time"),
        (["slow_down"] * 400, "in time"),
        (["incorrect_client_credentials"], "ended the login"),
    ],
)
async def test_a_code_that_comes_to_nothing_is_told(server, acme, enter, said, text):
    server.pending += said
    server.interval = 60
    with pytest.raises(UserError, match=text):
        await enter(acme())


BEGUN = {"device_code": "device-code-0001", "user_code": "WDJB-MJHT", "expires_in": 900, "interval": 5}
HUGE = b'HTTP/1.1 200 X\r\ncontent-type: application/json\r\ncontent-length: 99999999\r\n\r\n{"a": "' + b"x" * 600_000


@pytest.mark.parametrize(
    ("path", "reply"),
    [
        ("/device", http(200, "<html>Log in to the network</html>", "text/html")),
        ("/device", http(200, "[]")),
        ("/device", http(200, "{")),
        ("/device", http(302, "", location="http://127.0.0.1:9/device")),
        ("/device", HUGE),
        ("/device", http(200, "[" * 100_000)),
        ("/device", http(200, json.dumps({**BEGUN, "verification_uri": "http://evil.example/activate"}))),
        ("/device", http(200, json.dumps({**BEGUN, "verification_uri": "http://127.0.0.1@evil.example/"}))),
        ("/device", http(200, json.dumps({**BEGUN, "verification_uri": "javascript:alert(1)"}))),
        (
            "/device",
            http(200, json.dumps({**BEGUN, "user_code": "\x1b]0;gone\x07", "verification_uri": "http://127.0.0.1/a"})),
        ),
        ("/device", http(200, json.dumps({**BEGUN, "device_code": ["a"], "verification_uri": "http://127.0.0.1/a"}))),
        ("/device", http(429, json.dumps({"error": {"message": "\x1b[31mtoo many", "code": "rate"}}))),
        ("/token", http(302, "", location="http://127.0.0.1:9/token")),
        ("/token", http(200, "<html>", "text/html")),
        ("/token", http(200, json.dumps({"access_token": "abcdefgh\r\nx-evil: 1"}))),
        ("/token", http(200, json.dumps({"access_token": "abcdefgh ijkl"}))),
        ("/token", http(200, json.dumps({"access_token": "a" * 20_000}))),
        ("/token", http(200, json.dumps({"access_token": "abcdefgh", "token_type": "mac"}))),
        ("/token", http(200, json.dumps({"access_token": "abcdefgh", "refresh_token": "a\x00bcdefgh"}))),
        ("/token", http(200, json.dumps({"access_token": {"a": 1}}))),
        ("/token", http(200, "{}")),
    ],
)
async def test_a_hostile_server_gets_nothing_and_is_told(server, acme, enter, path, reply):
    server.hostile[path] = reply
    with pytest.raises(HermesError) as caught:
        await enter(acme())
    assert "\x1b" not in str(caught.value)
    assert "Acme" in caught.value.text
    assert all(asked.path in ("/device", "/token") for asked in server.service.asked)


@pytest.mark.parametrize("far", [False, True], ids=["browser here", "over SSH"])
async def test_a_browser_comes_back(server, acme, enter, monkeypatch, far):
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setenv("SSH_CONNECTION", "1.2.3.4 5 6.7.8.9 22" if far else "")
    visits = []

    async def agree(prompt):
        if prompt.paste:
            reply = await asyncio.open_connection("127.0.0.1", urlsplit(prompt.url).port)
            reply[1].write(f"GET /authorize?{urlsplit(prompt.url).query} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            head = (await reply[0].read()).decode()
            reply[1].close()
            return head.partition("location: ")[2].split()[0]
        visits.append(asyncio.create_task(server.agree(prompt.url)))
        return ""

    tokens, [prompt], _ = await enter(acme(flow="browser"), agree)
    assert server.is_good(tokens.access)
    assert server.wrong == []
    assert prompt.paste is far
    for visit in visits:
        assert b"You may close this page" in await visit


async def test_an_answer_of_another_login_is_not_heard(server, acme, enter, monkeypatch):
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    replies = []

    async def visit(page):
        query = {name: values[0] for name, values in parse_qs(urlsplit(page).query).items()}
        back = urlsplit(query["redirect_uri"])
        for target in (
            "/callback?code=evil&state=wrong",
            "/callback?code=evil",
            f"/other?code=e&state={query['state']}",
            "/" * 20_000,
        ):
            reader, writer = await asyncio.open_connection("127.0.0.1", back.port)
            writer.write(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            try:
                replies.append((await reader.read())[:12])
            except OSError:
                replies.append(b"")
            writer.close()
        await server.agree(page)

    visits = []

    async def agree(prompt):
        visits.append(asyncio.create_task(visit(prompt.url)))
        return ""

    tokens, _, _ = await enter(acme(flow="browser"), agree)
    await asyncio.gather(*visits)
    assert replies[:3] == [b"HTTP/1.1 404"] * 3
    assert b"200" not in replies[3]
    assert server.is_good(tokens.access)
    assert server.wrong == []


@pytest.mark.parametrize(
    ("pasted", "text"),
    [
        ("http://localhost:1/callback?code=a&state=wrong", "another login"),
        ("http://localhost:1/callback?code=a", "another login"),
        ("http://localhost:1/callback?error=access_denied&error_description=No%1b[2J", "refused the login: No"),
        ("", "no code"),
        ("two words", "no code"),
        ("a-code-nobody-gave", "gave no token"),
    ],
)
async def test_what_is_pasted_is_held_against_this_login(acme, enter, monkeypatch, pasted, text):
    monkeypatch.setenv("SSH_CONNECTION", "1.2.3.4 5 6.7.8.9 22")
    with pytest.raises(UserError, match=text) as caught:
        await enter(acme(flow="browser"), pasted)
    assert "\x1b" not in str(caught.value)


async def test_ports_that_others_have_are_told(acme, enter, monkeypatch):
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    taken = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = taken.sockets[0].getsockname()[1]
    with pytest.raises(UserError, match=f"port {port} of this machine only"):
        await enter(acme(flow="browser", redirect_ports=[port]))
    taken.close()
