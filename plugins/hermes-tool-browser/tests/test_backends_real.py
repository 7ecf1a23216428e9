"""A browser that runs already, and those of services by fakes of their documented interface over a real one."""

import asyncio
import json
import os
import subprocess
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import pytest_asyncio

from hermes_tool_browser.finding import found

pytestmark = [pytest.mark.real, pytest.mark.timeout(180), pytest.mark.asyncio(loop_scope="module")]
KEY = "key-of-the-person-1234567890"


@pytest_asyncio.fixture(loop_scope="module")
async def running(tmp_path):
    """A Chromium with an address, as a person starts one."""
    words = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--remote-debugging-port=0",
        f"--user-data-dir={tmp_path}/p",
    ]
    with tempfile.TemporaryDirectory(prefix="hb-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        env = {**os.environ, "HOME": str(tmp_path), "TMPDIR": folder}
        pipe = subprocess.PIPE
        process = subprocess.Popen(  # noqa: ASYNC220 - its first lines are read in a thread
            [found(), *words], stderr=pipe, stdout=subprocess.DEVNULL, text=True, env=env
        )
        assert process.stderr

        def address() -> str:
            for line in process.stderr:
                if "DevTools listening on" in line:
                    return line.split()[-1]
            raise AssertionError("it did not start")

        url = await asyncio.to_thread(address)
        yield url.replace("ws://", "http://").partition("/devtools")[0]
        process.terminate()
        process.wait(10)
        process.stderr.close()


class Fake:
    """A service that lends browsers; ``asked`` keeps its requests."""

    def __init__(self, address: str, status: int = 200) -> None:
        self.asked: list[tuple[str, str, dict, str]] = []
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                key = self.headers["X-BB-API-Key"] or self.headers["X-Browser-Use-API-Key"] or ""
                fake.asked.append((self.command, self.path, body, key))
                answer = json.dumps({"id": "b-1", "connectUrl": address, "cdpUrl": address}).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            do_PATCH = do_POST

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def fake(request):
    made = []

    def make(address: str, status: int = 200) -> Fake:
        made.append(Fake(address, status))
        return made[-1]

    yield make
    for one in made:
        one.close()


async def test_a_running_browser_is_used_and_left_running(make, site, running):
    bench = make(backend="cdp", cdp_url=running)
    assert "Words of it." in await bench.call("navigate", url=f"{site.url}/plain")
    assert "To the form" in await bench.call("snapshot")
    assert "not opened" in await bench.fails("navigate", url="http://169.254.169.254/")
    await bench.call("navigate", url=f"{site.url}/download")
    await bench.call("click", ref=bench.ref("The report"))
    assert "stays on its own machine" in await bench.fails("save", download=1, path="x")
    await bench.context.close()
    assert "Words of it." in await make(backend="cdp", cdp_url=running).call("navigate", url=f"{site.url}/plain")


async def test_an_address_that_answers_nothing_is_said_without_it(make):
    bench = make(backend="cdp", cdp_url="http://127.0.0.1:1/?token=abcdefgh")
    said = await bench.fails("navigate", url="http://127.0.0.1:8000/")
    assert "cannot be reached" in said
    assert "abcdefgh" not in said
    assert "needs the address" in await make(backend="cdp").fails("navigate", url="http://127.0.0.1:8000/")


ROWS = {
    "browserbase": ("/v1/sessions", "POST", {"status": "REQUEST_RELEASE"}, "BROWSERBASE_API_KEY"),
    "browser-use": ("/api/v3/browsers", "PATCH", {"action": "stop"}, "BROWSER_USE_API_KEY"),
}


@pytest.mark.parametrize("name", ROWS)
async def test_a_browser_of_a_service_is_asked_for_and_given_back(name, make, site, running, fake):
    path, method, body, secret = ROWS[name]
    service = fake(running)
    secrets = {secret: KEY, "BROWSERBASE_PROJECT_ID": "p-1"}
    bench = make(backend=name, service_url=service.url, secrets=secrets)
    assert "Words of it." in await bench.call("navigate", url=f"{site.url}/plain")
    (asked,) = service.asked
    assert asked[:2] == ("POST", path)
    assert asked[3] == KEY
    assert asked[2]["timeout"] > 0
    assert asked[2].get("projectId") == ("p-1" if name == "browserbase" else None)
    notes = bench.ctx.paths.data / "asked-for"
    assert [one.name for one in notes.iterdir()] == [f"{name}.b-1"]
    await bench.context.close()
    assert service.asked[1] == (method, f"{path}/b-1", body, KEY)
    assert not [*notes.iterdir()]


async def test_what_a_killed_hermes_asked_for_is_given_back_by_the_next(make, site, running, fake):
    service = fake(running)
    bench = make(backend="browserbase", service_url=service.url, secrets={"BROWSERBASE_API_KEY": KEY})
    notes = bench.ctx.paths.data / "asked-for"
    notes.mkdir(parents=True)
    (notes / "browserbase.b-old").write_text("999999999")
    await bench.call("navigate", url=f"{site.url}/plain")
    assert ("POST", "/v1/sessions/b-old", {"status": "REQUEST_RELEASE"}, KEY) in service.asked


@pytest.mark.parametrize(
    ("status", "words"), [(401, "does not take the key"), (429, "no more browsers"), (500, "HTTP 500")]
)
async def test_what_a_service_says_is_told_without_the_key(status, words, make, fake):
    service = fake("http://127.0.0.1:1", status)
    bench = make(backend="browser-use", service_url=service.url, secrets={"BROWSER_USE_API_KEY": KEY})
    said = await bench.fails("navigate", url="http://127.0.0.1:8000/")
    assert words in said
    assert KEY not in said
    assert "BROWSER_USE_API_KEY=…" in await make(backend="browser-use").fails("navigate", url="http://127.0.0.1:8000/")
