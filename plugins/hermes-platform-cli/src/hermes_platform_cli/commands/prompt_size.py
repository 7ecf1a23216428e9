"""``hermes prompt-size``: where the bytes of the first request go, part by part, to the last byte."""

import json
from collections.abc import Sequence

import click
from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.control import ModelsBroker
from hermes_core.types import JSON, Message, PromptBlock, Request, Text
from hermes_tables.tables import emit, json_option

__all__ = ["make_prompt_size"]

_TOKEN = 4  # bytes of a request in a token, roughly


def make_prompt_size(ctx: PluginContext) -> click.Command:
    """``prompt-size``."""

    @click.command()
    @click.option("--message", default="Hello.", show_default=True, help="What the person says.")
    @json_option
    async def command(message: str, as_json: bool) -> None:
        """Where the bytes of a new session's first request go. They add up to what is sent to the model's service.

        Tokens are estimated at four bytes each. `envelope` is what the service's format adds. A model on this machine
        is sent nothing; then there is no envelope.
        """
        sizes = await _sizes(ctx.models, message)
        total = sum(size for _, size in sizes)
        rows = [_row(part, size, total) for part, size in [*sizes, ("total", total)]]
        emit(rows, ("part", "bytes", "tokens", "share"), as_json=as_json, empty="")

    return command


def _row(part: str, size: int, total: int) -> dict[str, object]:
    return {"part": part, "bytes": size, "tokens": size // _TOKEN, "share": f"{100 * size / total:.1f} %"}


async def _sizes(models: ModelsBroker, message: str) -> list[tuple[str, int]]:
    blocks, request = await models.opening(Message(role="user", parts=(Text(text=message),)))
    sizes = [*_blocks(blocks), *await _tools(models, request), ("message", _inside(message))]
    if whole := len(await models.body(request)):
        sizes.append(("envelope", whole - sum(size for _, size in sizes)))
    return sizes


def _blocks(blocks: Sequence[PromptBlock]) -> list[tuple[str, int]]:
    return [(f"prompt/{b.name}", _inside(b.text if i == 0 else f"\n\n{b.text}")) for i, b in enumerate(blocks)]


def _inside(text: JSON) -> int:
    """The bytes a text takes inside of a JSON string."""
    return len(json.dumps(text, ensure_ascii=False).encode("utf-8", "replace")) - 2


async def _tools(models: ModelsBroker, request: Request) -> list[tuple[str, int]]:
    """What each tool adds to the request, in order."""
    sizes, last = [], len(await models.body(evolve(request, tools=())))
    for number, spec in enumerate(request.tools, 1):
        size = len(await models.body(evolve(request, tools=request.tools[:number]))) if last else 0
        shape = {"name": spec.name, "description": spec.description, "parameters": spec.schema}
        alone = _inside({"type": "function", "function": shape}) + 2
        sizes.append((f"tool/{spec.name}", size - last if last else alone))
        last = size
    return sizes
