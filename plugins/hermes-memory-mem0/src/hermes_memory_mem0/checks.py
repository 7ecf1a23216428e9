"""What ``hermes doctor --deep`` asks: whether mem0 is there and a model for vectors answers."""

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.types import Check, Finding, MediaRequest

__all__ = ["check_models"]


def check_models(ctx: PluginContext) -> Check:
    """Whether mem0 can remember anything."""

    async def run() -> Sequence[Finding]:
        try:
            there = version("mem0ai")
        except PackageNotFoundError:
            return [Finding(level="fault", text="mem0 is not installed", fix="pip install mem0ai")]
        try:
            found = await ctx.llm.media("embed", MediaRequest(texts=("hello",)), task="embed")
        except HermesError as error:
            return [
                Finding(
                    level="fault",
                    text=f"mem0 {there} cannot remember: {error}",
                    fix="hermes config set auxiliary.embed.provider NAME, and auxiliary.embed.model",
                )
            ]
        return [Finding(level="ok", text=f"mem0 {there}, with vectors of {found.model}")]

    return Check(name="mem0", run=run)
