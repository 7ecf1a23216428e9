"""``hermes gguf list``: the files there."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.types import Command

if TYPE_CHECKING:
    import click

__all__ = ["commands"]

_GB = 1e9


def commands(ctx: PluginContext) -> Sequence[Command]:
    """Give them."""
    return [Command(name="gguf list", build=partial(_list, ctx))]


def _list(ctx: PluginContext) -> "click.Command":
    import click

    from hermes_tables.tables import emit, json_option

    @click.command("list")
    @json_option
    def command(as_json: bool) -> None:
        """Print the GGUF files there, for how many tokens each was made, and the memory it needs as it is set.

        Files are looked for in providers.gguf.folder, which is `models` in the home where it is not set.
        """
        from hermes_provider_llamacpp.files import found, free_memory
        from hermes_provider_llamacpp.provider import folder_of

        folder, said = folder_of(ctx), ctx.endpoints.get("gguf")
        wanted = said.context if said else 0
        rows: list[dict[str, object]] = [
            {
                "model": one.name,
                "made_for": one.header.context or "",
                "room": one.room(wanted),
                "file_gb": round(one.size / _GB, 2),
                "memory_gb": round(one.memory(one.room(wanted)) / _GB, 2),
                "problem": one.problem,
            }
            for one in found(folder)
        ]
        empty = f"There is no GGUF file in {folder}."
        emit(rows, ("model", "made_for", "room", "file_gb", "memory_gb", "problem"), as_json=as_json, empty=empty)
        if rows and (free := free_memory()):
            click.echo(f"{free / _GB:.1f} GB of memory are free.", err=True)

    return command
