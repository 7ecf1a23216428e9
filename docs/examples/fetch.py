"""Reads a page: a tool with effects, resource keys and an error the model can act on."""

# /// hermes
# api = 1
# name = "raw-page"
# kind = "tool"
# summary = "Reads web pages as they are."
#
# [contributes]
# tools = ["raw_page"]
#
# [permissions]
# network = ["*"]
# ///

from hermes_core import hookimpl, option, settings, tool
from hermes_core.context import UrlRules
from hermes_core.errors import ToolError
from hermes_core.types import Effect
from hermes_tool_kit.addresses import check_url
from hermes_tool_kit.fetching import fetch


@settings
class Page:
    url: str = option("The address.")


def host_of(page: Page) -> list[str]:
    # What is no URL raises OutOfReach here, and the call is refused in its words.
    return [f"host:{check_url(page.url, UrlRules(allow_private=True)).host}"]


def make_tool(urls: UrlRules):
    @tool(toolset="web", effects={Effect.NETWORK}, touches=host_of, untrusted=True, idempotent=True, seconds=30)
    async def raw_page(page: Page) -> str:
        """Read a web page as it is, without running its scripts."""
        answer = await fetch(page.url, urls, limit=1_000_000, seconds=20)
        if answer.moved:
            return f"This page is at {answer.moved} now."
        if answer.status != 200:
            raise ToolError(f"{answer.url} was answered with {answer.status}.", hint="Try another page.")
        return answer.body.decode("utf-8", "replace")

    return raw_page


@hookimpl
def register_tools(ctx):
    return [make_tool(ctx.urls)]
