"""What ``hermes doctor --deep`` asks: whether the server answers."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError
from hermes_core.types import Check, Finding
from hermes_memory_honcho.memory import HonchoMemory

__all__ = ["check_server"]


def check_server(ctx: PluginContext) -> Check:
    """Whether anything can be remembered."""

    async def run() -> Sequence[Finding]:
        try:
            kept = await HonchoMemory.of(ctx).search(ctx.owner, "", 1_000_000)
        except ToolError as error:
            return [Finding(level="fault", text=error.text, fix=error.hint)]
        return [Finding(level="ok", text=f"the server answers, and knows {len(kept)} things of you")]

    return Check(name="honcho", run=run)
