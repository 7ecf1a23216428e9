"""A login in use: renewed before it ends, by one at a time, and once more where it was refused."""

import asyncio
import json
import stat
import sys
import time
from base64 import urlsafe_b64encode

import pytest

from hermes_core.errors import AuthError, Unavailable, UserError
from hermes_core.testing.model_service import http
from hermes_login.foreign import path_of
from hermes_login.kept import Kept
from hermes_login.service import load_service, parse_service
from hermes_login.tokens import Tokens


@pytest.fixture
async def kept(server, acme, login):
    """``await kept(ends=…)``: somebody is logged in; the access token."""

    async def keep(ends=0.0, **over):
        access, refresh = server.minted()
        tokens = Tokens(access=access, refresh=refresh, ends=ends, headers={"x-acme": "7"})
        await login().keep(Kept(token_url=acme().token_url, tokens=tokens, **over))
        return access

    return keep


async def test_what_counts_is_used_and_what_ends_soon_is_renewed_once_by_all(server, login, logins, kept):
    access = await kept(ends=time.time() + 3000)
    assert (await login().bearer()).token == access
    assert server.service.asked == []
    access = await kept(ends=time.time() + 200)  # less than five minutes
    found = await asyncio.gather(*(login().bearer() for _ in range(20)))
    [token] = {one.token for one in found}
    assert token != access
    assert server.is_good(token)
    assert server.refreshed == 1
    assert server.wrong == []
    assert found[0].headers == {"x-acme": "7"}
    file = logins.path("acme", "default")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


async def test_a_token_that_was_refused_is_renewed_once_by_all(server, login, kept):
    access = await kept(ends=time.time() + 3000)
    found = {one.token for one in await asyncio.gather(*(login().bearer(access) for _ in range(5)))}
    assert len(found) == 1
    assert access not in found
    assert server.refreshed == 1
    assert server.wrong == []


async def test_where_it_cannot_be_renewed_early_the_old_one_serves_to_its_end(server, login, kept):
    access = await kept(ends=time.time() + 200)
    server.hostile["/token"] = http(503, "<html>busy</html>", "text/html")
    assert (await login().bearer()).token == access
    with pytest.raises(Unavailable) as caught:
        await login().bearer(access)
    assert caught.value.transient


async def test_a_login_that_ended_says_so_and_asks_no_more(server, login, kept):
    await kept(ends=time.time() - 10)
    server.revoke()
    for _ in range(2):
        with pytest.raises(AuthError, match="has ended") as caught:
            await login().bearer()
        assert "hermes auth login acme" in caught.value.hint
    assert len(server.service.asked) == 1


async def test_one_who_waits_and_is_cancelled_loses_no_token(server, login, logins, kept):
    await kept(ends=1.0)
    task = asyncio.create_task(login().bearer())
    while not server.service.asked:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    tokens = logins.read("acme", "default").tokens
    assert server.refreshed == 1
    assert server.is_good(tokens.access)
    assert server.is_good(tokens.refresh)


async def test_whoever_logged_out_stays_logged_out(server, login, logins, kept):
    access = await kept(ends=time.time() + 3000)
    assert await login().forget()
    assert not await login().forget()
    with pytest.raises(AuthError, match="Nobody is logged in"):
        await login().bearer(access)
    assert logins.accounts("acme") == []
    assert list(logins.secrets()) == []


async def test_a_refresh_token_goes_nowhere_but_to_who_made_it(server, login, kept):
    await kept(ends=1.0)
    with pytest.raises(AuthError, match="elsewhere"):
        await login(token_url=f"{server.url}/other").bearer()
    assert server.service.asked == []


async def test_a_token_for_minutes_is_had_and_had_again(server, login, kept, logins):
    over = {"exchange_url": f"{server.url}/exchange", "early": 60}
    access = await kept()
    one = await login(**over).bearer()
    assert (one.token, one.base_url) == ("short-00000001-zQ7", server.url)
    assert (await login(**over).bearer()).token == one.token
    assert server.exchanged == 1
    two = await login(**over).bearer(one.token)
    assert two.token == "short-00000002-zQ7"
    assert {access, two.token} <= set(logins.secrets())
    server.revoke()
    with pytest.raises(AuthError, match="has ended"):
        await login(**over).bearer(two.token)


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ({"endpoints": {"api": "https://evil.example"}}, "not its own"),
        ({"endpoints": {"api": "http://127.0.0.1.evil.example"}}, "not its own"),
        ({"token": "short\r\nx: 1"}, "can be used"),
        ({"token": None}, "can be used"),
    ],
)
async def test_an_exchange_that_lies_is_told(server, login, kept, reply, text):
    await kept()
    server.reply = reply
    with pytest.raises(Unavailable, match=text):
        await login(exchange_url=f"{server.url}/exchange").bearer()


async def test_an_account_without_a_plan_is_told(server, login, kept):
    await kept()
    server.hostile["/exchange"] = http(403, json.dumps({"message": "No access to Copilot"}))
    with pytest.raises(AuthError, match="No access to Copilot"):
        await login(exchange_url=f"{server.url}/exchange").bearer()


async def test_a_login_that_ends_is_renewed_before_it_gives_a_token_for_minutes(server, login, kept, logins):
    await kept(ends=1.0)
    assert (await login(exchange_url=f"{server.url}/exchange").bearer()).token == "short-00000001-zQ7"
    assert (server.refreshed, server.exchanged, server.wrong) == (1, 1, [])
    assert logins.read("acme", "default").tokens.ends > time.time()


def _jwt(claims):
    data = claims if isinstance(claims, bytes) else json.dumps(claims).encode()
    return f"e30.{urlsafe_b64encode(data).rstrip(b'=').decode()}.sig-sig-sig"


@pytest.mark.parametrize(
    ("claims", "headers", "ends"),
    [
        ({"auth": {"id": "acc-9"}, "exp": 4e9}, {"x-id": "acc-9"}, 4e9),
        ({"auth": {"id": "acc\r\nx-evil: 1"}, "exp": True}, {}, 0),
        ({"auth": ["id"], "exp": "soon"}, {}, 0),
        ({"auth": {"id": 7}, "exp": 1e300}, {}, 0),
        ([1], {}, 0),
        (b"\xff{", {}, 0),
        (b"[" * 9_000, {}, 0),
    ],
)
async def test_what_a_token_says_of_itself_is_read_strictly(server, acme, login, logins, kept, claims, headers, ends):
    await kept(ends=1.0)
    server.expires_in = None
    server.reply = {"access_token": _jwt(claims)}
    await login(claims={"x-id": ["auth", "id"]}).bearer()
    tokens = logins.read("acme", "default").tokens
    assert (tokens.headers, tokens.ends) == ({"x-acme": "7", **headers}, ends)


@pytest.mark.parametrize(
    ("expires_in", "least"), [("3600", 3500), (3600.5, 3500), (-5, 0), (True, 0), (1e300, 0), ("x", 0)]
)
async def test_how_long_a_token_counts_is_read_strictly(server, login, logins, kept, expires_in, least):
    await kept(ends=1.0)
    server.expires_in = expires_in
    await login().bearer()
    ends = logins.read("acme", "default").tokens.ends
    assert ends - time.time() > least if least else ends == 0


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b"\xff", b'{"token_url": 1}', b"[" * 100_000])
async def test_a_file_that_is_broken_is_told(login, logins, kept, data):
    await kept()
    logins.path("acme", "default").write_bytes(data)
    with pytest.raises(AuthError, match="cannot be read"):
        await login().bearer()
    assert list(logins.secrets()) == []


async def test_what_another_program_keeps_is_read_and_never_renewed(server, login, logins, tmp_path, monkeypatch):
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    secret = "borrowed-token-1234"
    tokens = {"access_token": secret, "refresh_token": "r" * 20, "account_id": "acc-1"}
    path_of("codex").write_text(json.dumps({"tokens": tokens}))
    await login().keep(Kept(token_url="https://x.example", borrowed="codex"))
    found = await login().bearer()
    assert (found.token, found.headers) == (secret, {"chatgpt-account-id": "acc-1"})
    assert secret not in logins.path("acme", "default").read_text()
    assert list(logins.secrets()) == [secret]
    with pytest.raises(AuthError, match="has ended") as caught:
        await login().bearer(secret)
    assert "Use the Codex CLI once" in caught.value.hint
    assert server.service.asked == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "- a",
        "github.com: {user: a}",
        "github.com: {oauth_token: 'a b'}",
        "a: [",
        "!!python/name:os.system",
        "github.com: {oauth_token: 2026-99-99}",
    ],
)
async def test_a_file_of_gh_without_a_login_is_told(login, tmp_path, monkeypatch, text):
    monkeypatch.setenv("GH_CONFIG_DIR", str(tmp_path))
    path_of("gh").write_text(text)
    await login().keep(Kept(token_url="https://x.example", borrowed="gh"))
    with pytest.raises(AuthError, match="holds no login"):
        await login().bearer()
    path_of("gh").unlink()
    path_of("gh").symlink_to("/etc/passwd")
    with pytest.raises(AuthError, match="cannot be read"):
        await login().bearer()


async def test_what_a_dead_process_left_of_a_login_is_forgotten_with_it(login, logins):
    for name in ("default", "work"):
        logins.write("acme", name, Kept(token_url="https://x.example", tokens=Tokens(access="token-1234")))
    draft, other = (logins.path("acme", name).with_name(f".{name}.json.0a1b2c3d.new") for name in ("default", "work"))
    for path in (draft, other):
        path.write_bytes(logins.path("acme", "default").read_bytes())
    assert await login().forget()
    assert not draft.exists()
    assert other.exists()


@pytest.mark.parametrize("name", ["", "..", "../x", "a/b", "A", "a" * 60, ".x"])
def test_an_account_is_a_name_and_no_path(logins, name):
    with pytest.raises(UserError, match="no name"):
        logins.path("acme", name)


def test_rows_are_safe_and_say_what_terms_say():
    for name in ("copilot", "codex"):
        row = load_service(name)
        assert row.terms
        assert row.sources
        assert row.hosts
        assert not row.may_have_tokens("http://chatgpt.com")
        assert not row.may_have_tokens("https://evil.example")
    copilot = load_service("copilot")
    assert copilot.may_have_tokens("https://api.business.githubcopilot.com/x")
    assert not copilot.may_have_tokens("https://evilgithubcopilot.com")
    for url in ("http://evil.example/token", "ftp://a", ""):
        with pytest.raises(ValueError, match="https"):
            parse_service(
                {
                    "name": "a",
                    "title": "A",
                    "client_id": "c",
                    "flow": "device",
                    "device_url": "https://a.example",
                    "token_url": url,
                },
                where="a",
            )


SCRIPT = """
import asyncio, json, sys
from pathlib import Path
from hermes_login.kept import Logins
from hermes_login.renewing import Login
from hermes_login.service import parse_service
row = parse_service(json.loads(sys.argv[1]), where="acme")
print("ready", flush=True)
sys.stdin.readline()
print(asyncio.run(Login(row, Logins(Path(sys.argv[2])), "default", again="x").bearer()).token, flush=True)
"""


@pytest.mark.long
async def test_of_many_processes_one_renews_and_one_that_is_killed_holds_up_nobody(server, login, logins, kept):
    await kept(ends=1.0)
    script = [sys.executable, "-c", SCRIPT, json.dumps(server.row()), str(logins.folder)]
    pipe = asyncio.subprocess.PIPE
    many = [await asyncio.create_subprocess_exec(*script, stdin=pipe, stdout=pipe) for _ in range(4)]
    for one in many:
        assert await one.stdout.readline() == b"ready\n"
    stuck = asyncio.Event()

    async def hang(writer):
        stuck.set()
        await asyncio.Event().wait()

    real = server.service.by_path["/token"]
    server.service.by_path["/token"] = hang
    many[0].stdin.write(b"\n")
    await stuck.wait()  # it holds the lock, and its question is under way
    server.service.by_path["/token"] = real
    many[0].kill()
    results = await asyncio.gather(*(one.communicate(b"\n") for one in many[1:]))
    await many[0].communicate()
    assert len({out for out, _ in results}) == 1
    assert server.refreshed == 1
    assert server.wrong == []
