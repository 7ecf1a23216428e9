"""The tool ``vault_fetch``: one HTTP request with values of the vault in its headers or body, to where they belong."""

import re
from collections.abc import Mapping
from typing import Literal

from hermes_core.context import PluginContext, UrlRules
from hermes_core.errors import OutOfReach, ToolError, UserError
from hermes_core.kinds import Tool, ToolContext, tool
from hermes_core.options import option, settings
from hermes_core.types import Effect, ToolCall
from hermes_tool_vault.consent import Use, agreed, owned
from hermes_tool_vault.filling import Filled, fill
from hermes_tool_vault.items import HANDLE, Item, origin_of
from hermes_tool_vault.sealed import vault_of

__all__ = ["effects_of", "make_fetch"]

_LIMIT = 2_000_000  # bytes of an answer
_FIELD = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_OWN = frozenset({"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "expect"})


@settings
class Fetch:
    """What the model gives."""

    url: str = option("")
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = option("", default="GET")
    headers: dict[str, str] = option('such as {"Authorization": "Bearer {{vault:NAME}}"}', factory=dict)
    body: str = option("", default="")


def effects_of(call: ToolCall) -> frozenset[Effect]:
    """What one call does: a GET looks, anything else sends; filling asks by itself, with the page that is open."""
    if call.name == "vault_fill":
        return frozenset({Effect.ASK})
    arguments = call.arguments
    looks = arguments.get("method", "GET") == "GET" and not arguments.get("body")
    return frozenset({Effect.NETWORK, Effect.ASK} | (set() if looks else {Effect.SEND}))


def make_fetch(ctx: PluginContext) -> Tool:
    """The tool."""
    vault = vault_of(ctx)

    @tool(
        toolset="vault",
        effects={Effect.NETWORK, Effect.SEND, Effect.ASK},
        untrusted=True,
        touches=_hosts,
        seconds=90.0,
    )
    async def vault_fetch(context: ToolContext, arguments: Fetch) -> str:
        """Make one HTTP request with handles of `vault_list` in its headers or body, to the site they are bound to.
        Redirects are not followed."""
        owned(ctx, context)
        if "{{vault" in arguments.url or HANDLE.search(arguments.url):
            raise ToolError("Not sent: a value in an address is written into logs.", hint="Use `headers` or `body`.")
        if not HANDLE.search("\n".join([*arguments.headers.values(), arguments.body])):
            raise ToolError("Not sent: nothing of the vault is used. Fetch it without.")
        _sound(arguments.headers)
        origin = _origin(arguments.url)

        def bind(item: Item, part: str, place: str) -> Use:
            allowed = ("origin",) if place == "body" else ("origin", "header")
            for binding in item.bindings:
                if binding.kind in allowed and binding.target == origin:
                    method = "" if arguments.method == "GET" else f"{arguments.method} "
                    return Use(item=item, part=part, binding=binding, place=f"{method}{origin} ({place})")
            kind = "--origin" if place == "body" else "--header or --origin"
            raise UserError(
                f"{item.name} is not bound to the {place} of requests to {origin}.",
                hint=f"A person may say so: {ctx.program} vault bind {item.name}, with {kind}",
            )

        texts = {f"header {name}": value for name, value in arguments.headers.items()} | {"body": arguments.body}
        filled = fill(vault, texts, bind)
        subject = f"vault_fetch({arguments.method} {arguments.url})"
        await agreed(ctx, context, filled.uses, subject, {"method": arguments.method, "url": arguments.url, **texts})
        return await _send(ctx, arguments, filled)

    return vault_fetch


async def _send(ctx: PluginContext, arguments: Fetch, filled: Filled) -> str:
    from hermes_tool_kit.fetching import Order, fetch

    texts = filled.texts()
    headers = {name: texts[f"header {name}"] for name in arguments.headers}
    if any("\r" in value or "\n" in value or not value.isascii() for value in headers.values()):
        raise ToolError("Not sent: a value holds signs that no header can carry.", retry=False)
    order = Order(arguments.method, headers, texts["body"].encode())
    try:
        answer = await fetch(arguments.url, ctx.urls, order=order, limit=_LIMIT)
    except OutOfReach as error:
        raise OutOfReach(filled.hide(error.text), opened=error.opened) from None
    except ToolError as error:
        raise ToolError(filled.hide(error.text), retry=error.retry) from None
    if answer.moved:
        return filled.hide(f"HTTP {answer.status}: it sends you on, which was not followed: {answer.moved}")
    body = filled.hide(answer.body.decode(errors="replace"))
    return "\n".join(filter(None, (f"HTTP {answer.status}", body, answer.cut and f"Not whole: {answer.cut}.")))


def _hosts(arguments: Fetch) -> list[str]:
    from hermes_tool_kit.addresses import check_url

    return [f"host:{check_url(arguments.url, UrlRules(allow_private=True)).host}"]


def _origin(url: str) -> str:
    """The origin of what would be opened, as it is opened. Raises OutOfReach."""
    from hermes_tool_kit.addresses import check_url

    target = check_url(url, UrlRules(allow_private=True))
    host = f"[{target.host}]" if ":" in target.host else target.host
    return origin_of(f"{target.scheme}://{host}:{target.port}")


def _sound(headers: Mapping[str, str]) -> None:
    """Raises ToolError for what is no header, and for those that say where a request goes or ends."""
    for name, value in headers.items():
        if not _FIELD.fullmatch(name) or name.lower() in _OWN or name.lower().startswith("proxy-"):
            raise ToolError(f"Not sent: {name[:80]!r} is no header that can be given.")
        if not value.isascii() or not value.isprintable():
            raise ToolError(f"Not sent: the header {name} holds signs that no header can carry.")
