"""What ``hermes doctor --deep`` asks: whether mem0 is there and a model for vectors answers."""

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

from hermes_core.context import PluginContext
from hermes_core.types import Check, Finding
from hermes_memory_kit.vectors import look_at_vectors

__all__ = ["check_models"]


def check_models(ctx: PluginContext) -> Check:
    """Whether mem0 can remember anything."""

    async def run() -> Sequence[Finding]:
        try:
            there = version("mem0ai")
        except PackageNotFoundError:
            return [Finding(level="fault", text="mem0 is not installed", fix="pip install mem0ai")]
        lacking = f"mem0 {there} cannot remember"
        return [await look_at_vectors(ctx, f"mem0 {there}, with vectors of {{}}".format, lacking, "fault")]

    return Check(name="mem0", run=run)
