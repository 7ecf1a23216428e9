"""Having a service make a picture or a video: asked once, waited for, and taken up again after a death.

What was asked for is written down before it is asked, and again with where to look for it once the service said that.
Whoever comes after a death looks there, and asks for nothing a second time.
"""

import asyncio
import hashlib
import json
import tomllib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

from attrs import field

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError, UserError
from hermes_core.kinds import ToolContext
from hermes_core.types import Blob
from hermes_core.values import frozen
from hermes_tool_images.config import Config
from hermes_tool_kit.services import Asking, address, decoded, filled, inside

__all__ = ["Order", "Row", "finished", "made", "noted", "rows", "unfinished"]

_ANSWER = 60_000_000  # bytes of a picture, or of an answer with one
_VIDEO = 200_000_000
_ONCE = 120.0  # seconds of one request
_FIRST, _MOST = 1.0, 15.0  # seconds between two looks


@frozen(kw_only=True)
class Row:
    """One service. ``draw`` and ``film`` are how it is asked for each; empty: it does not do that."""

    title: str
    key: str
    base: str
    headers: Mapping[str, str]
    checked: str  # what its requests and answers were compared with
    draw: Mapping[str, Any] = field(factory=dict)
    film: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class Order:
    """What is wanted: ``verb`` is draw or film."""

    verb: str
    prompt: str
    size: str = ""
    picture: Blob | None = None


@cache
def rows() -> Mapping[str, Row]:
    """All services by name."""
    text = Path(__file__).with_name("services.toml").read_text("utf-8")
    return {name: Row(**row) for name, row in tomllib.loads(text).items()}


@asynccontextmanager
async def noted(ctx: PluginContext, context: ToolContext) -> AsyncIterator[None]:
    """Forget what a call asked for once it came to an end: what was made is written by then, or never will be."""
    try:
        yield
    finally:
        note, session = _note(context), context.session
        await asyncio.shield(ctx.documents.delete(note, owner=session.owner, session_id=session.id))


async def made(ctx: PluginContext, context: ToolContext, service: str, order: Order) -> bytes:
    """What a service makes of an order, within ``noted``. Raises HermesError."""
    asking, how = _chosen(ctx, service, order.verb)
    names = _names(ctx, how, order)
    path = how.get("edits_path", how["path"]) if order.picture is not None else how["path"]
    url, body = address(asking.root, path, names), json.dumps(filled(how["json"], names)).encode()
    asking.key(ctx)
    note = _note(context)
    owner, session = context.session.owner, context.session.id
    await ctx.documents.put(note, {}, owner=owner, session_id=session)
    said = await asking.ask(ctx, "POST", url, body, "application/json", limit=_ANSWER, seconds=_ONCE)
    if "state" in how:
        job = {"service": service, "verb": order.verb, **_job(asking, how, said)}
        await ctx.documents.put(note, job, owner=owner, session_id=session)
        said = await _waited(ctx, context, asking, how, job)
    return await _taken(ctx, asking, how, said, order.verb)


async def unfinished(ctx: PluginContext, context: ToolContext) -> Mapping[str, Any] | None:
    """What a call that a death cut had asked for; None where it had asked for nothing."""
    kept = await ctx.documents.get(_note(context), owner=context.session.owner, session_id=context.session.id)
    return kept.value if kept is not None else None


async def finished(ctx: PluginContext, context: ToolContext, job: Mapping[str, Any]) -> bytes:
    """What came of what was asked for before a death, within ``noted``. Raises HermesError."""
    if not job:
        raise ToolError("It was cut off while the service was asked; nobody knows whether it makes anything.")
    asking, how = _chosen(ctx, str(job["service"]), str(job["verb"]))
    return await _taken(ctx, asking, how, await _waited(ctx, context, asking, how, job), str(job["verb"]))


def _note(context: ToolContext) -> str:
    call = hashlib.sha256(f"{context.session.turn} {context.call_id}".encode()).hexdigest()[:32]
    return f"job-{call}"


def _config(ctx: PluginContext) -> Config:
    return ctx.config if isinstance(ctx.config, Config) else Config()


def _chosen(ctx: PluginContext, service: str, verb: str) -> tuple[Asking, Mapping[str, Any]]:
    row = rows().get(service)
    how: Mapping[str, Any] = getattr(row, verb) if row is not None else {}
    if row is None or not how:
        can = ", ".join(sorted(name for name, one in rows().items() if getattr(one, verb)))
        raise UserError(f"tools.images.{verb}_with names {service!r}, which is none.", hint=f"There is: {can}.")
    asking = Asking(
        title=row.title, secret=row.key, base=row.base, headers=row.headers, instead=_config(ctx).service_url
    )
    return asking, how


def _names(ctx: PluginContext, how: Mapping[str, Any], order: Order) -> dict[str, str]:
    import base64

    config, picture = _config(ctx), order.picture
    model = config.draw_model if order.verb == "draw" else config.film_model
    usual = how.get("edits", how["model"]) if picture is not None else how["model"]
    data = base64.b64encode(picture.data or b"").decode() if picture is not None else ""
    kind = picture.media_type if picture is not None else ""
    return {
        "prompt": order.prompt,
        "size": order.size,
        "model": model or str(usual),
        "image": f"data:{kind};base64,{data}" if data else "",
        "image_data": data,
        "image_type": kind,
        "image_as": "image_url" if data else "",
    }


def _job(asking: Asking, how: Mapping[str, Any], said: bytes) -> dict[str, str]:
    """Where to look for what was asked for, and where it is then."""
    if "poll_at" in how:
        return {"poll": str(inside(asking.title, said, how["poll_at"])),
                "result": str(inside(asking.title, said, how["result_at"]))}  # fmt: skip
    name = {"id": str(inside(asking.title, said, how["id"]))}
    return {"poll": address(asking.root, how["poll"], name), "result": ""}


async def _waited(
    ctx: PluginContext, context: ToolContext, asking: Asking, how: Mapping[str, Any], job: Mapping[str, Any]
) -> bytes:
    """The answer that says that it is done, or holds it. Raises ToolError."""
    pause, misses = _FIRST, 0
    try:
        async with asyncio.timeout(_config(ctx).seconds):
            while True:
                try:
                    said = await asking.ask(ctx, "GET", str(job["poll"]), limit=_ANSWER, seconds=_ONCE)
                except ToolError as error:
                    misses += 1
                    if not error.retry or misses > 5:
                        raise
                    said = b"{}"
                else:
                    misses = 0
                state = _state(asking, how, said)
                if state in how["done"]:
                    _must_be_good(asking, how, said)
                    break
                if state in how.get("failed", ()):
                    raise ToolError(f"{asking.title} could not make it ({state}).")
                context.progress(f"{asking.title}: {state or 'at work'}\n")
                await asyncio.sleep(pause)
                pause = min(pause * 1.5, _MOST)
            if result := str(job.get("result") or ""):
                return await asking.ask(ctx, "GET", result, limit=_ANSWER, seconds=_ONCE)
            return said
    except TimeoutError:
        raise ToolError(f"{asking.title} did not make it within {_config(ctx).seconds} seconds.", retry=False) from None


def _state(asking: Asking, how: Mapping[str, Any], said: bytes) -> str:
    try:
        found = inside(asking.title, said, how["state"])
    except ToolError:
        return ""
    return str(found)[:40].lower()


def _must_be_good(asking: Asking, how: Mapping[str, Any], said: bytes) -> None:
    if "error" not in how:
        return
    try:
        why = inside(asking.title, said, how["error"])
    except ToolError:
        return
    raise ToolError(f"{asking.title} could not make it: {str(why)[:300]}", retry=False)


async def _taken(ctx: PluginContext, asking: Asking, how: Mapping[str, Any], said: bytes, verb: str) -> bytes:
    """The picture or the video that an answer holds, or says the address of. Raises HermesError."""
    from hermes_tool_kit.fetching import fetch

    found = inside(asking.title, said, how["answer"])
    if how["code"] != "url":
        return decoded(asking.title, found, how["code"])
    url, most = str(found), _VIDEO if verb == "film" else _ANSWER
    if asking.belongs(url):
        return await asking.ask(ctx, "GET", url, limit=most, seconds=_ONCE)
    answer = await fetch(url, ctx.urls, limit=most, seconds=_ONCE, other_sites=True)
    if answer.status != 200 or answer.cut or not answer.body:
        raise ToolError(f"What {asking.title} made could not be fetched: HTTP {answer.status} {answer.cut}".rstrip())
    return answer.body
