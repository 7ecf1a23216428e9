"""What ``hermes doctor --deep`` asks: whether a model for vectors answers."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.types import Check, Finding, MediaRequest

__all__ = ["check_meaning"]


def check_meaning(ctx: PluginContext) -> Check:
    """Whether memories are found by what they mean, or by words alone."""

    async def run() -> Sequence[Finding]:
        try:
            found = await ctx.llm.media("embed", MediaRequest(texts=("hello",)), task="embed")
        except HermesError as error:
            return [
                Finding(
                    level="warning",
                    text=f"memories are found by words alone: {error}",
                    fix="hermes config set auxiliary.embed.provider NAME, and auxiliary.embed.model",
                )
            ]
        return [Finding(level="ok", text=f"memories are found by meaning: {found.model}")]

    return Check(name="memory by meaning", run=run)
