"""Finds secrets in texts by their look and by what stands around them, so that the kernel can mask them."""

from collections.abc import Iterable

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.kinds import Masker
from hermes_core.types import Command


@hookimpl
def register_maskers(ctx: PluginContext) -> Iterable[Masker]:
    """The masker ``secrets``."""
    from hermes_tool_redaction.masker import Secrets

    return [Secrets()]


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Iterable[Command]:
    """The command ``redact``."""
    from hermes_tool_redaction.command import make_redact

    return [Command(name="redact", build=lambda: make_redact(ctx.masks))]
