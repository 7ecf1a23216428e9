"""What ``hermes doctor --deep`` asks: whether a model for vectors answers."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.types import Check, Finding
from hermes_memory_kit.vectors import look_at_vectors

__all__ = ["check_meaning"]


def check_meaning(ctx: PluginContext) -> Check:
    """Whether memories are found by what they mean, or by words alone."""

    async def run() -> Sequence[Finding]:
        by_meaning, by_words = "memories are found by meaning: {}".format, "memories are found by words alone"
        return [await look_at_vectors(ctx, by_meaning, by_words, "warning")]

    return Check(name="memory by meaning", run=run)
