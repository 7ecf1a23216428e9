"""Puts the files, changes and pages that a message refers to with @ below it."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Completer
from hermes_core.types import Envelope, Principal, Text


@hookimpl
def register_completers(ctx: PluginContext) -> Sequence[Completer]:
    """What follows an ``@``."""
    from hermes_tool_references.completion import References

    return [References(ctx)]


@hookimpl
async def transform_incoming(
    ctx: PluginContext, envelope: Envelope, owner: Principal, cwd: str, context: int
) -> Envelope | None:
    """Put what a message refers to below it. A model's words, and those of other people, refer to nothing."""
    if not ctx.config.enabled or owner.person != Principal().person or envelope.platform not in ctx.config.platforms:
        return None
    if not any("@" in part.text for part in envelope.message.parts if isinstance(part, Text)):
        return None
    from hermes_tool_references.expansion import expanded

    return await expanded(ctx, envelope, owner, cwd, context)
