"""What doctor says about the wall, and where it is tried."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from attrs import evolve

from hermes_backend_kit.findings import of_wall
from hermes_backend_kit.probes import PROBES, Probe
from hermes_backend_kit.proof import Proof, proved
from hermes_backend_local.backend import Local, local, plan_of
from hermes_backend_local.config import Config
from hermes_backend_wall.plan import INSTALL
from hermes_core.context import PluginContext
from hermes_core.types import Finding

__all__ = ["findings", "proved_here"]


async def findings(ctx: PluginContext, *, full: bool = False) -> list[Finding]:
    """Make the wall in an empty folder and try some of what it must not let through; in ``full`` all of that."""

    async def prove(_backend: Local, _home: str, probes: Sequence[Probe]) -> Proof:
        return await proved_here(ctx, probes)

    fix = INSTALL if plan_of(ctx.config or Config(), ctx.paths) is None else "Set backends.local.wall to another one."
    return await of_wall(local(ctx), str(ctx.paths.home), full=full, fix=fix, prove=prove)


async def proved_here(ctx: PluginContext, probes: Sequence[Probe] = PROBES) -> Proof:
    """Try the wall as it is set up; the home of its commands is made for that, and goes with it. Raises HermesError."""
    plan = plan_of(ctx.config or Config(), ctx.paths)
    with tempfile.TemporaryDirectory(prefix="hermes-homes-") as homes:
        backend = Local(plan=evolve(plan, homes=Path(homes)) if plan else None)
        return await proved(backend, ctx.paths.home, probes)
