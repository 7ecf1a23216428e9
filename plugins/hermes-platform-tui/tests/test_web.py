"""`hermes web`: who gets in, what they see, and that nobody is left behind."""

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import aiohttp
import pytest
from click.testing import CliRunner

from hermes_core.errors import UserError
from hermes_platform_tui.web import build, child, surroundings, token_from
from hermes_platform_tui.web import visitor as visitors
from hermes_platform_tui.web.server import Site, listen

pytestmark = pytest.mark.real_time
TOKEN = "t" * 40
SCREEN, TALKER = (Path(__file__).with_name(f"web_{name}.py") for name in ("child", "talker"))
with_a_screen = pytest.mark.parametrize("program", [SCREEN], ids=["screen"])


class Server:
    """A server that runs, and a client that may or may not be let in."""

    def __init__(self, site: Site, port: int, folder: Path) -> None:
        self.site, self.port, self.folder = site, port, folder
        self.base = f"http://127.0.0.1:{port}"
        self.client = aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True))

    async def get(self, path: str, **options: object) -> tuple[int, str, aiohttp.ClientResponse]:
        async with self.client.get(self.base + path, allow_redirects=False, **options) as response:
            return response.status, await response.text(), response

    async def enter(self) -> None:
        assert (await self.get(f"/?token={TOKEN}"))[0] == 303

    async def open(self, query: str = "?width=60&height=20", **headers: str) -> aiohttp.ClientWebSocketResponse:
        return await self.client.ws_connect(self.base + "/ws" + query, headers={"Origin": self.base, **headers})

    def processes(self) -> list[int]:
        return [int(path.name[4:]) for path in self.folder.glob("pid-*")]


@pytest.fixture
def program() -> Path:
    """What a visitor gets: where it need not be a screen, what starts in no time."""
    return TALKER


@pytest.fixture
async def server(tmp_path: Path, program: Path) -> AsyncIterator[Server]:
    listening = listen("127.0.0.1", 0)
    environ = {**os.environ, "HERMES_WEB_TOKEN": TOKEN}
    environ = surroundings(Scope(tmp_path), environ)
    site = Site([sys.executable, str(program), str(tmp_path)], environ, TOKEN, visitors=2)
    await site.start(listening)
    one = Server(site, listening.getsockname()[1], tmp_path)
    yield one
    await one.client.close()
    await site.stop()
    assert not [process for process in one.processes() if alive(process)]


class Scope:
    """What of the command line's scope is used."""

    def __init__(self, folder: Path, profile: str = "default", **flags: object) -> None:
        self.flags = flags
        self.home = type("Home", (), {"base": folder, "profile": profile, "brand": "hermes", "cache": folder / "cache"})


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def until(seen: Callable[[], object]) -> None:
    async with asyncio.timeout(20):
        while not seen():
            await asyncio.sleep(0.02)


async def read(page: aiohttp.ClientWebSocketResponse, wanted: str) -> str:
    """What the page is sent, until something is in it."""
    text = ""
    async with asyncio.timeout(20):
        while wanted not in text:
            message = await page.receive()
            assert message.type in (aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT), f"{message}\n{text!r}"
            text += message.data.decode() if isinstance(message.data, bytes) else message.data
    return text


async def ended(page: aiohttp.ClientWebSocketResponse) -> str:
    text = b""
    async with asyncio.timeout(20):
        async for message in page:
            text += message.data if isinstance(message.data, bytes) else message.data.encode()
    return text.decode()


PATHS = ["/", "/ws", "/page.js", "/static/js/textual.js", "/static/", "/download/abc", "/nothing", "/%2e%2e/etc/passwd"]


@pytest.mark.parametrize("path", PATHS)
async def test_nothing_is_shown_without_the_token(server: Server, path: str) -> None:
    status, text, response = await server.get(path, headers={"Origin": server.base})
    assert status == 401
    assert "?token=" in text
    assert TOKEN not in text
    assert response.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    "path",
    ["/?token=", "/?token=wrong", f"/?token={TOKEN}x", f"/?token={TOKEN[:-1]}", f"/?token={TOKEN}&token={TOKEN}"],
)
async def test_a_wrong_token_gets_no_cookie(server: Server, path: str) -> None:
    status, text, response = await server.get(path)
    assert status == 403
    assert "Set-Cookie" not in response.headers
    assert TOKEN not in text


async def test_the_token_counts_nowhere_but_in_the_first_address(server: Server) -> None:
    for headers in (
        {"Referer": f"{server.base}/?token={TOKEN}"},
        {"Authorization": f"Bearer {TOKEN}"},
        {"Cookie": f"hermes-web-{server.port}={TOKEN}"},
        {"Cookie": f"token={TOKEN}"},
    ):
        assert (await server.get("/", headers=headers))[0] == 401
    assert (await server.get(f"/page.js?token={TOKEN}"))[0] == 401


async def test_the_token_becomes_a_cookie_that_scripts_and_other_sites_cannot_use(server: Server) -> None:
    status, _, response = await server.get(f"/?token={TOKEN}")
    assert (status, response.headers["Location"]) == (303, "/")
    cookie = response.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert TOKEN not in cookie
    status, text, response = await server.get("/")
    assert status == 200
    assert "textual-terminal" in text
    policy = response.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "frame-ancestors 'none'" in policy
    assert response.headers["Referrer-Policy"] == "no-referrer"
    assert "Server" not in response.headers


async def test_followed_from_another_page_the_way_in_is_a_step_of_our_own(server: Server) -> None:
    status, text, response = await server.get(f"/?token={TOKEN}", headers={"Sec-Fetch-Site": "cross-site"})
    assert status == 200
    assert 'content="0;url=/"' in text
    assert "SameSite=Strict" in response.headers["Set-Cookie"]


async def test_everything_the_page_asks_for_comes_from_here(server: Server) -> None:
    await server.enter()
    asked = re.findall(r'(?:src|href)="([^"]+)"', (await server.get("/"))[1])
    styles = [text for path in asked if path.endswith(".css") for text in [(await server.get(path))[1]]]
    asked += [path for text in styles for path in re.findall(r"url\(\"?([^\")]+)\"?\)", text)]
    asked.remove("data:,")
    assert len(asked) == 6
    for path in asked:
        assert path.startswith("/")
        async with server.client.get(server.base + path) as response:
            assert response.status == 200, path
            assert response.headers["Cache-Control"] == "no-store"
    assert (await server.get("/static/"))[0] == 403
    assert (await server.get("/static/../server.py"))[0] == 404
    assert (await server.get("/static/%2e%2e/server.py"))[0] in (403, 404)


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1:1", "127.0.0.1", "localhost.evil:{port}", ""]
)
async def test_a_name_that_somebody_points_here_is_refused(server: Server, host: str) -> None:
    await server.enter()
    for path in ("/", f"/?token={TOKEN}", "/page.js"):
        assert (await server.get(path, headers={"Host": host.format(port=server.port)}))[0] in (400, 403)
    with pytest.raises(aiohttp.WSServerHandshakeError, match=r"40[03]"):
        await server.open(Host=host.format(port=server.port))


async def test_our_own_names_are_answered(server: Server) -> None:
    for host in ("127.0.0.1", "localhost", "LOCALHOST", "[::1]"):
        assert (await server.get("/", headers={"Host": f"{host}:{server.port}"}))[0] == 401


ORIGINS = ["http://evil.example", "null", "http://127.0.0.1:1", "http://localhost:{port}", "file://", ""]


@pytest.mark.parametrize("origin", ORIGINS)
async def test_another_pages_socket_is_refused(server: Server, origin: str) -> None:
    await server.enter()
    with pytest.raises(aiohttp.WSServerHandshakeError, match="403"):
        await server.open(Origin=origin.format(port=server.port))
    assert server.processes() == []


async def test_a_socket_without_an_origin_is_refused(server: Server) -> None:
    await server.enter()
    with pytest.raises(aiohttp.WSServerHandshakeError, match="403"):
        await server.client.ws_connect(server.base + "/ws")


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_another_page_may_not_embed_what_is_here(server: Server, site: str) -> None:
    await server.enter()
    headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Dest": "script"}
    for path in ("/page.js", "/", "/static/js/textual.js"):
        assert (await server.get(path, headers=headers))[0] == 403
    assert (await server.get("/", headers={"Sec-Fetch-Site": site, "Sec-Fetch-Dest": "iframe"}))[0] == 403


async def test_nothing_can_be_posted(server: Server) -> None:
    await server.enter()
    async with server.client.post(server.base + "/") as response:
        assert response.status == 405


@with_a_screen
async def test_the_first_frame_is_shown_and_keys_and_sizes_arrive(server: Server) -> None:
    await server.enter()
    page = await server.open()
    text = await read(page, "size 60x20")
    assert "hello from" in text
    assert "no token" in text
    await page.send_str("not json")
    await page.send_str("[]")
    await page.send_json(["resize", {"width": 10**30, "height": "x"}])
    await page.send_json(["stdin", "\ud800"])
    await page.send_json(["ping", "7"])
    await read(page, '["pong", "7"]')
    await page.send_json(["resize", {"width": 70, "height": 30}])
    await read(page, "size 70x30")
    await page.send_json(["stdin", "x"])
    await ended(page)
    await until(lambda: server.site.visitors == 0)


@with_a_screen
async def test_a_process_ends_with_its_visitor(server: Server) -> None:
    await server.enter()
    page = await server.open()
    await read(page, "hello from")
    [process] = server.processes()
    page._response.connection.transport.abort()  # a cable is pulled
    await until(lambda: not alive(process))
    await until(lambda: server.site.visitors == 0)


async def test_a_process_that_hangs_is_killed(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visitors, "_PATIENCE", 0.3)
    await server.enter()
    page = await server.open()
    await read(page, "hello from")
    await page.send_json(["stdin", "h"])
    await until((server.folder / "hung").exists)
    await page.close()
    await until(lambda: not alive(server.processes()[0]))


async def test_more_visitors_than_there_is_room_for_are_told(server: Server) -> None:
    await server.enter()
    pages = [await server.open() for _ in range(2)]
    for page in pages:
        await read(page, "hello from")
    third = await server.open()
    assert "open in 2 browsers already" in await read(third, "with more.")
    assert server.site.visitors == 2
    assert len(server.processes()) == 2
    await pages[0].close()
    await until(lambda: server.site.visitors == 1)
    again = await server.open()
    await read(again, "hello from")


@with_a_screen
async def test_only_addresses_of_the_web_are_opened(server: Server) -> None:
    await server.enter()
    page = await server.open()
    await read(page, "hello from")
    await page.send_json(["stdin", "o"])
    text = await read(page, "open_url")
    assert "https://example.org/" in text
    assert "javascript" not in text


@with_a_screen
async def test_a_delivered_file_is_never_a_page(server: Server) -> None:
    await server.enter()
    page = await server.open()
    await read(page, "hello from")
    await page.send_json(["stdin", "d"])
    key = re.search(r'"deliver_file_start", "([^"]+)"', await read(page, "deliver_file_start"))[1]
    stranger = aiohttp.ClientSession()
    async with stranger, stranger.get(f"{server.base}/download/{key}") as response:
        assert response.status == 401
    reading = asyncio.create_task(ended(page))  # a page goes on reading while it downloads
    async with server.client.get(f"{server.base}/download/{key}") as response:
        assert await response.read() == b"<script>alert(1)</script>"
        assert response.headers["Content-Type"] == "application/octet-stream"
        assert response.headers["Content-Disposition"] == "attachment; filename*=UTF-8''a%22b.html"
        assert "sandbox" in response.headers["Content-Security-Policy"]
    assert (await server.get("/download/none"))[0] == 404
    await page.close()
    await reading


@pytest.mark.parametrize(("program", "key", "status"), [(TALKER, "f", 3), (SCREEN, "c", 7)], ids=["killed", "crashed"])
async def test_why_a_process_failed_is_shown_without_what_drives_a_terminal(
    server: Server, key: str, status: int
) -> None:
    await server.enter()
    page = await server.open()
    await read(page, "hello from")
    await page.send_json(["stdin", key])
    text = await ended(page)
    assert f"ended with status {status}" in text
    end = text[text.index("ended with") :]
    assert "no such model" in end
    assert "\x1b" not in end


def test_a_new_token_each_time() -> None:
    assert token_from({}) != token_from({})
    assert len(token_from({})) >= 43
    assert token_from({"HERMES_WEB_TOKEN": TOKEN}) == TOKEN
    for weak in ("short", "x" * 31, "x" * 20 + " " + "x" * 20, "é" * 40, "x" * 40 + "\n"):
        with pytest.raises(UserError, match="too weak") as error:
            token_from({"HERMES_WEB_TOKEN": weak})
        assert weak not in str(error.value)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.2", "example.org"])
def test_another_address_has_to_be_meant(tmp_path: Path, host: str) -> None:
    result = CliRunner().invoke(build(), ["--host", host], obj=Scope(tmp_path))
    assert isinstance(result.exception, UserError)
    assert "--expose" in str(result.exception)


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with listen("127.0.0.1", 0) as taken:
        result = CliRunner().invoke(build(), ["--port", str(taken.getsockname()[1])], obj=Scope(tmp_path))
    assert isinstance(result.exception, UserError)
    assert "in use" in str(result.exception)
    assert "--port 0" in str(result.exception)


def test_a_visitor_gets_this_program_with_the_flags_of_this_one(tmp_path: Path) -> None:
    program = tmp_path / "hermes"
    program.write_text("")
    scope = Scope(tmp_path, "work", model="m", toolsets="a,b", yolo=False, safe_mode=True, continue_=False)
    words = child(scope, str(program), "/py")
    assert words == [
        str(program),
        "--profile",
        "work",
        "--interface",
        "tui",
        "--model",
        "m",
        "--toolsets",
        "a,b",
        "--safe-mode",
    ]
    assert child(scope, "/nowhere/hermes", "/py")[:3] == ["/py", "-m", "hermes_core"]


def test_a_visitor_knows_neither_the_token_nor_the_servers_terminal(tmp_path: Path) -> None:
    environ = {"HERMES_WEB_TOKEN": "x", "TMUX": "1", "KITTY_WINDOW_ID": "2", "PATH": "/bin", "OPENAI_API_KEY": "k"}
    assert surroundings(Scope(tmp_path), environ) == {
        "PATH": "/bin",
        "OPENAI_API_KEY": "k",
        "HERMES_HOME": str(tmp_path),
    }
