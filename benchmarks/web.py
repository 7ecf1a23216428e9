"""What the web's tools cost beside the bare libraries: ``benchmarks/web.py [--rounds N]``.

Both ask the same server on loopback, each time on a new connection. A page: ours by ``web_fetch``, judged, numbered
and cleaned; theirs by one httpx2 client and html-to-markdown with the same options. A search: ours by ``web_search``
with one service; theirs by httpx2, JSON and the same lines of text. A feed: ours; theirs by httpx2 and defusedxml.
Rounds alternate. The bound is 1.2 of the bare time over all.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

BOUND = 1.2
TEXT = "Some words of a paragraph with <b>bold</b> ones and <a href=/x>a link</a>, as pages have them. "
PAGE = (
    "<!doctype html><title>Page</title><nav><a href=/>Home</a></nav><main><h1>Page</h1>"
    + "".join(f"<h2>Part {n}</h2><p>{TEXT * 4}</p><ul><li>one<li>two</ul>" for n in range(60))
    + "<table>"
    + "<tr><td>a<td>b<td>c</tr>" * 40
    + "</table></main>"
).encode()
RESULTS = [{"url": f"https://page.example/{n}", "title": f"Title {n}", "content": TEXT * 3} for n in range(10)]
FOUND = json.dumps({"query": "words", "results": RESULTS, "response_time": 1.0}).encode()
ITEM = "<item><title>Entry</title><link>https://page.example/</link><description>" + "words " * 40
FEED = ("<rss><channel><title>Feed</title>" + f"{ITEM}</description></item>" * 50 + "</channel></rss>").encode()
ANSWERS = {
    "/page": ("text/html; charset=utf-8", PAGE),
    "/search": ("application/json", FOUND),
    "/feed": ("application/rss+xml", FEED),
}


class Server(BaseHTTPRequestHandler):
    """The page, the answer of the service, the feed."""

    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        kind, body = ANSWERS[self.path.partition("?")[0]]
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def made(folder: Path, url: str) -> dict[str, Callable[[], Awaitable[object]]]:
    """The steps by our tools."""
    from attrs import evolve

    import hermes_tool_web
    from hermes_core.agent.arguments import parse_arguments
    from hermes_core.context import UrlRules
    from hermes_core.plugins.manifest import read_manifest
    from hermes_core.testing.fake_context import FakeToolContext, plugin_context
    from hermes_core.testing.fakes import FakeWorkspace
    from hermes_core.types import ToolCall
    from hermes_tool_web.config import Config
    from hermes_tool_web.judging import judged
    from hermes_tool_web.search import chain
    from hermes_tool_web.search.services import services

    rows = {name: evolve(row, url=f"{url}/search") for name, row in services().items()}
    chain.services = lambda: rows
    manifest = read_manifest(Path(hermes_tool_web.__file__).with_name("hermes-plugin.toml"))
    config = Config(search=["tavily"])
    ctx = plugin_context(manifest, folder, config=config, urls=UrlRules(allow_private=True))
    context = FakeToolContext(FakeWorkspace(folder=folder))
    tools = {tool.name: tool for tool in hermes_tool_web.register_tools(ctx)}

    async def call(name: str, arguments: dict[str, Any]) -> object:
        tool = tools[name]
        params = parse_arguments(tool, arguments)
        assert tool.touches
        list(tool.touches(params))
        await judged(ctx, context.session, ToolCall(id="1", name=name, arguments=arguments))
        return await tool.run(context, params)

    return {
        "page": lambda: call("web_fetch", {"url": f"{url}/page"}),
        "search": lambda: call("web_search", {"query": "words", "limit": 10}),
        "feed": lambda: call("web_fetch", {"url": f"{url}/feed"}),
    }


def bare(url: str) -> dict[str, Callable[[], Awaitable[object]]]:
    """The steps by the libraries alone."""
    import httpx2
    from defusedxml.ElementTree import fromstring
    from html_to_markdown import ConversionOptions, convert

    client = httpx2.AsyncClient(trust_env=False)

    async def page() -> object:
        answer = await client.get(f"{url}/page")
        options = ConversionOptions(
            extract_metadata=False,
            skip_images=True,
            autolinks=False,
            base_url=url,
            hidden_content="drop",
            strip_tags=["a"],
        )
        return convert(answer.text, options).content

    async def search() -> object:
        answer = await client.post(f"{url}/search", json={"query": "words", "max_results": 10})
        return "\n".join(f"{row['title']}\n{row['url']}\n{row['content'][:400]}" for row in answer.json()["results"])

    async def feed() -> object:
        answer = await client.get(f"{url}/feed")
        parts = ("title", "link", "description")
        rows = [[item.findtext(part, "") for part in parts] for item in fromstring(answer.content).iter("item")]
        return "\n".join(" ".join(row) for row in rows)

    return {"page": page, "search": search, "feed": feed}


async def measured(rounds: int) -> dict[str, list[tuple[float, float]]]:
    """Milliseconds of each step, ours and bare, pair by pair."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    times: dict[str, list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = made(Path(folder), url), bare(url)
        for number in range(rounds + 3):
            for step in ours:
                pair = await _timed(ours[step]), await _timed(theirs[step])
                if number >= 3:  # the first ones warm up
                    times.setdefault(step, []).append(pair)
    server.shutdown()
    return times


async def _timed(step: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    assert await step()
    return (time.perf_counter() - began) * 1000


def main() -> int:
    """Print a table; 1 when the bound is broken."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=60)
    times = asyncio.run(measured(options.parse_args().rounds))
    print(f"{'step':10}{'ours':>10}{'bare':>10}{'ratio':>8}")
    times["all"] = [(sum(a for a, _ in one), sum(b for _, b in one)) for one in zip(*times.values(), strict=True)]
    ratio = 0.0
    for step, pairs in times.items():
        ours, theirs = statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs)
        ratio = statistics.median(a / b for a, b in pairs)
        print(f"{step:10}{ours:8.1f}ms{theirs:8.1f}ms{ratio:8.2f}{f'  (bound {BOUND})' if step == 'all' else ''}")
    return int(ratio > BOUND)


if __name__ == "__main__":
    sys.exit(main())
