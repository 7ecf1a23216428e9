"""A browser in a process that may be killed on its way."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

from hermes_core.context import PluginContext, UrlRules
from hermes_core.testing.forks import serve
from hermes_tool_browser.backends import Local
from hermes_tool_browser.browsing import Browsing
from hermes_tool_browser.config import Config
from hermes_tool_browser.driver import Driver


async def work(url: str, wall: str) -> None:
    config = Config(wall=wall)  # type: ignore[arg-type]  # one of its words
    ctx = cast("PluginContext", SimpleNamespace(config=config, urls=UrlRules(allow_private=True)))
    browsing = Browsing(ctx, Local(ctx), Driver())
    print("begins", flush=True)
    await browsing.open()
    print("opened", flush=True)
    page: Any = browsing.tab.page
    for _ in range(3):
        await page.goto(f"{url}/scroll")
        await browsing.look(browsing.tab)
    await browsing.close()
    print("closed", flush=True)


def play(url: str, wall: str) -> None:
    asyncio.run(work(url, wall))


if __name__ == "__main__":
    serve(play)
