"""What doctor asks of the search: whom it will ask, and whether the person's choice can be."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError
from hermes_core.types import Check, Finding
from hermes_tool_web.config import Config

__all__ = ["checks"]


def checks(ctx: PluginContext) -> Sequence[Check]:
    """One check, which connects to nobody."""

    async def search() -> Sequence[Finding]:
        from hermes_tool_web.search.chain import Chain

        config = ctx.config if isinstance(ctx.config, Config) else Config()
        try:
            asked = Chain(ctx, config).asked()
        except ToolError as error:
            return [Finding(level="fault", text=error.text, fix=error.hint)]
        return [Finding(level="ok", text=f"A search asks {asked}.")]

    return [Check(name="web", run=search, cheap=True)]
