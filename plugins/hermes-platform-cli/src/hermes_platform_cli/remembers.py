"""Whether the memory that the settings name is there: one that is not enabled is not asked, and cannot say so."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import Finding, PluginRow

__all__ = ["look_at_memory", "missing_memory", "tell_missing"]


def missing_memory(ctx: PluginContext) -> Finding | None:
    """Return what is wrong with ``memory.provider``: a plugin that is not enabled has it, or none at all."""
    settings = ctx.host.section("memory")
    name = settings.provider
    if not name or any(_has(one, name) and one.enabled for one in _likely(ctx, name)):
        return None
    owners = [one for one in ctx.plugins.list() if _has(one, name)]
    if any(one.enabled for one in owners):  # what else is wrong with a plugin is told by its name
        return None
    if owners:
        text = f"nothing is remembered: memory.provider is {name}, and {owners[0].label} is not enabled"
        return Finding(level="fault", text=text, fix=f"{ctx.program} plugins enable {owners[0].label}")
    if settings == type(settings)():  # nobody named it
        return None
    text = f"nothing is remembered: memory.provider is {name}, and no plugin here has such a memory"
    there = ", ".join(sorted(ctx.plugins.offered("memories")))
    return Finding(level="fault", text=text, fix=f"{ctx.program} config set memory.provider NAME; there is: {there}")


def _has(plugin: PluginRow, name: str) -> bool:
    return name in plugin.contributes.get("memories", ())


def _likely(ctx: PluginContext, name: str) -> Sequence[PluginRow]:
    """Return the plugin that is called as its memory is, at once: to look at all of them costs every start."""
    try:
        return [ctx.plugins.find(f"memory/{name}")]
    except UserError:
        return []


async def look_at_memory(ctx: PluginContext) -> Sequence[Finding]:
    """Say which memory is in use."""
    if wrong := missing_memory(ctx):
        return [wrong]
    return [Finding(level="ok", text=ctx.host.section("memory").provider or "none: memory.provider is empty")]


def tell_missing(ctx: PluginContext) -> None:
    """Say on stderr what is wrong with it, before somebody talks to who will not remember."""
    if wrong := missing_memory(ctx):
        import click

        click.echo(f"{wrong.text[:1].upper()}{wrong.text[1:]}. Mend: {wrong.fix}", err=True)
