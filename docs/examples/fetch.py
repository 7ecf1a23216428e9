"""Reads a page: a tool with effects, resource keys and an error the model can act on."""

# /// hermes
# api = 1
# name = "fetch"
# kind = "tool"
# summary = "Reads web pages as they are."
#
# [contributes]
# tools = ["fetch"]
#
# [permissions]
# network = ["*"]
# ///

import asyncio

from hermes_core import hookimpl, option, settings, tool
from hermes_core.errors import ToolError
from hermes_core.options import matches_re
from hermes_core.types import Effect


@settings
class Page:
    url: str = option("The address.", validator=matches_re(r"https?://\S+"))


def host_of(page: Page) -> list[str]:
    from urllib.parse import urlsplit

    return [f"host:{urlsplit(page.url).hostname}"]


@tool(toolset="web", effects={Effect.NETWORK}, touches=host_of, untrusted=True, idempotent=True, seconds=30)
async def fetch(page: Page) -> str:
    """Read a web page as it is, without running its scripts."""
    return await asyncio.to_thread(read, page.url)


def read(url: str) -> str:
    from urllib.request import urlopen

    try:
        with urlopen(url, timeout=20) as answer:
            return answer.read(1_000_000).decode("utf-8", "replace")
    except OSError as error:
        raise ToolError(f"{url} cannot be read: {error}", hint="Check the address, or try another page.") from error


@hookimpl
def register_tools():
    return [fetch]
