"""What ``hermes doctor --deep`` asks of a memory by meaning: whether a model for vectors answers."""

from collections.abc import Callable
from typing import Literal

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.types import Finding, MediaRequest

__all__ = ["look_at_vectors"]

_FIX = "hermes config set auxiliary.embed.provider NAME, and auxiliary.embed.model"


async def look_at_vectors(
    ctx: PluginContext, found: Callable[[str], str], lacking: str, level: Literal["fault", "warning"]
) -> Finding:
    """Ask for one vector: ``found`` says it of the model's name; ``lacking`` of why there is none, at a ``level``."""
    try:
        answer = await ctx.llm.media("embed", MediaRequest(texts=("hello",)), task="embed")
    except HermesError as error:
        return Finding(level=level, text=f"{lacking}: {error}", fix=_FIX)
    return Finding(level="ok", text=found(answer.model))
