"""``hermes prompt-size``: where the bytes of the first request go, part by part, to the last byte."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import click
from attrs import evolve

from hermes_core.cli.scope import Scope
from hermes_core.kinds import Provider
from hermes_core.tables import emit, json_option
from hermes_core.types import JSON, Message, PromptBlock, Request, Text

_TOKEN = 4  # bytes of a request in a token, roughly


@click.command("prompt-size")
@click.option("--message", default="Hello.", show_default=True, help="What the person says.")
@json_option
@click.pass_obj
def prompt_size(scope: Scope, message: str, as_json: bool) -> None:
    """Where the bytes of a new session's first request go. They add up to what is sent to the model's service.

    Tokens are estimated at four bytes each. `envelope` is what the service's format adds. A model on this machine
    is sent nothing; then there is no envelope.
    """
    sizes = asyncio.run(_sizes(scope, message))
    total = sum(size for _, size in sizes)
    rows = [_row(part, size, total) for part, size in [*sizes, ("total", total)]]
    emit(rows, ("part", "bytes", "tokens", "share"), as_json=as_json, empty="")


def _row(part: str, size: int, total: int) -> dict[str, Any]:
    return {"part": part, "bytes": size, "tokens": size // _TOKEN, "share": f"{100 * size / total:.1f} %"}


async def _sizes(scope: Scope, message: str) -> list[tuple[str, int]]:
    from hermes_core.agent.offering import offered
    from hermes_core.agent.prompt import ordered, prompt_text

    async with scope.hermes() as hermes:
        runtime = hermes.runtime
        session = await runtime.take_up(origin="cli")
        prompt, route = await runtime.prompt(session), await runtime.routed()
        said = (Message(role="system", parts=(Text(text=prompt_text(prompt)),)), _said(message))
        specs = (await offered(runtime, session)).tools
        request = Request(model=route.model, messages=said, tools=specs, options=runtime.options())
        sizes = [*_blocks(ordered(prompt.blocks)), *await _tools(route.provider, request)]
        sizes.append(("message", _inside(message)))
        if whole := len(await route.provider.body(request)):
            sizes.append(("envelope", whole - sum(size for _, size in sizes)))
    return sizes


def _said(text: str) -> Message:
    return Message(role="user", parts=(Text(text=text),))


def _blocks(blocks: Sequence[PromptBlock]) -> list[tuple[str, int]]:
    full = [b for b in blocks if b.text]
    return [(f"prompt/{b.name}", _inside(b.text if i == 0 else f"\n\n{b.text}")) for i, b in enumerate(full)]


def _inside(text: JSON) -> int:
    """The bytes a text takes inside of a JSON string."""
    return len(json.dumps(text, ensure_ascii=False).encode("utf-8", "replace")) - 2


async def _tools(provider: Provider, request: Request) -> list[tuple[str, int]]:
    """What each tool adds to the request, in order."""
    sizes, last = [], len(await provider.body(evolve(request, tools=())))
    for number, spec in enumerate(request.tools, 1):
        size = len(await provider.body(evolve(request, tools=request.tools[:number]))) if last else 0
        shape = {"name": spec.name, "description": spec.description, "parameters": spec.schema}
        alone = _inside({"type": "function", "function": shape}) + 2
        sizes.append((f"tool/{spec.name}", size - last if last else alone))
        last = size
    return sizes
