"""What the browser's tools cost beside bare playwright: ``benchmarks/browser.py [--rounds N]``.

Both drive the same kind of browser (the same program, behind the same wall and way out) over the same local pages: open
a page and read its tree, click and read, type and read. Rounds alternate. Ours also judges each call, watches requests
and dialogs, waits for what an act began, and tells what is new. The bound is 1.2 of the bare time over all steps.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

BOUND = 1.2
ROWS = "".join(f"<li><a href=/{i}>Row {i}</a> <button>Do {i}</button></li>" for i in range(100))
PAGE = f"<title>Page</title><h1>Page</h1><input aria-label=Name><a href=/next>Next</a><ul>{ROWS}</ul>".encode()


class Pages(BaseHTTPRequestHandler):
    """One page, by every name."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def made(folder: Path) -> tuple[Any, Any]:
    """The tools' plugin context and tool context."""
    import hermes_tool_browser
    from hermes_core.context import UrlRules
    from hermes_core.plugins.manifest import read_manifest
    from hermes_core.testing.fake_context import FakeToolContext, plugin_context
    from hermes_core.testing.fakes import FakeWorkspace
    from hermes_tool_browser.config import Config

    manifest = read_manifest(Path(hermes_tool_browser.__file__).with_name("hermes-plugin.toml"))
    ctx = plugin_context(manifest, folder, config=Config(), urls=UrlRules(allow_private=True))
    resources = [*hermes_tool_browser.register_resources(ctx)]
    return ctx, FakeToolContext(FakeWorkspace(folder=folder), resources=resources)


class Ours:
    """The tools."""

    def __init__(self, ctx: Any, context: Any) -> None:
        import hermes_tool_browser

        self.ctx, self.context = ctx, context
        self.tools = {tool.name: tool for tool in hermes_tool_browser.register_tools(ctx)}

    async def call(self, name: str, **arguments: Any) -> None:
        """One call, judged."""
        from hermes_core.agent.arguments import parse_arguments
        from hermes_core.types import ToolCall
        from hermes_tool_browser.effects import judged

        tool = self.tools[name]
        judged(self.ctx, self.context.session, ToolCall(id=self.context.call_id, name=name, arguments=arguments))
        await tool.run(self.context, parse_arguments(tool, arguments))

    def ref(self, words: str) -> str:
        """The reference of an element."""
        from hermes_tool_browser.lasting import open_one

        browsing = open_one(self.ctx, self.context.session.id)
        assert browsing
        assert browsing.tab.snapshot
        elements = browsing.tab.snapshot.elements
        return next(ref for ref, element in elements.items() if element.name == words)

    async def steps(self, url: str) -> dict[str, float]:
        """Milliseconds of each step."""
        times, began = {}, time.perf_counter()
        await self.call("browser_navigate", url=url)
        times["open"], began = (time.perf_counter() - began) * 1000, time.perf_counter()
        await self.call("browser_click", ref=self.ref("Do 50"))
        times["click"], began = (time.perf_counter() - began) * 1000, time.perf_counter()
        await self.call("browser_type", ref=self.ref("Name"), text="some words")
        times["type"], began = (time.perf_counter() - began) * 1000, time.perf_counter()
        await self.call("browser_click", ref=self.ref("Next"))
        times["follow"] = (time.perf_counter() - began) * 1000
        return times


async def bare(page: Any, url: str) -> dict[str, float]:
    """The same steps by playwright alone."""
    times, began = {}, time.perf_counter()
    await page.goto(url, wait_until="domcontentloaded")
    await page.title()
    tree = await page.aria_snapshot(mode="ai")
    times["open"], began = (time.perf_counter() - began) * 1000, time.perf_counter()
    await page.locator(f"aria-ref={_ref(tree, 'Do 50')}").click()
    await page.title()
    tree = await page.aria_snapshot(mode="ai")
    times["click"], began = (time.perf_counter() - began) * 1000, time.perf_counter()
    await page.locator(f"aria-ref={_ref(tree, 'Name')}").fill("some words")
    await page.title()
    tree = await page.aria_snapshot(mode="ai")
    times["type"], began = (time.perf_counter() - began) * 1000, time.perf_counter()
    await page.locator(f"aria-ref={_ref(tree, 'Next')}").click()
    await page.wait_for_url("**/next", wait_until="domcontentloaded")
    await page.title()
    await page.aria_snapshot(mode="ai")
    times["follow"] = (time.perf_counter() - began) * 1000
    return times


def _ref(tree: str, name: str) -> str:
    line = next(line for line in tree.splitlines() if f'"{name}"' in line)
    return line.partition("[ref=")[2].partition("]")[0]


async def measured(rounds: int) -> dict[str, tuple[list[float], list[float]]]:
    """Milliseconds of each step, ours and bare."""
    from hermes_tool_browser.backends import Local
    from hermes_tool_browser.driver import Driver

    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/"
    times: dict[str, tuple[list[float], list[float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        ctx, context = made(Path(folder))
        ours, driver, backend = Ours(ctx, context), Driver(), Local(ctx)
        running = await driver.take()
        browser = await backend.open(running.playwright)
        page = await browser.new_page(viewport={"width": 1280, "height": 800})
        for number in range(rounds + 1):
            pair = (await ours.steps(url), await bare(page, url))
            for step in pair[0] if number else ():  # the first warms up
                for kept, one in zip(times.setdefault(step, ([], [])), pair, strict=True):
                    kept.append(one[step])
        await browser.close()
        await backend.close()
        await driver.give(running)
        await context.close()
    server.shutdown()
    return times


def main() -> int:
    """Print a table; 1 when the bound is broken."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=15)
    times = asyncio.run(measured(options.parse_args().rounds))
    whole = [0.0, 0.0]
    print(f"{'step':10}{'ours':>10}{'bare':>10}{'ratio':>8}")
    for step, (mine, theirs) in times.items():
        pair = statistics.median(mine), statistics.median(theirs)
        whole = [whole[0] + pair[0], whole[1] + pair[1]]
        print(f"{step:10}{pair[0]:8.1f}ms{pair[1]:8.1f}ms{pair[0] / pair[1]:8.2f}")
    ratio = whole[0] / whole[1]
    print(f"{'all':10}{whole[0]:8.1f}ms{whole[1]:8.1f}ms{ratio:8.2f}  (bound {BOUND})")
    return int(ratio > BOUND)


if __name__ == "__main__":
    sys.exit(main())
