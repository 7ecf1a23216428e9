"""Which platforms a gateway serves: those that a person named, or those that are set up."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_core.kinds import Platform
from hermes_core.types import Feature
from hermes_platform_gateway.config import platform_settings

__all__ = ["served"]


def served(ctx: PluginContext, names: Sequence[str] = ()) -> tuple[Sequence[Platform], str]:
    """The platforms of these names, or those that are set up; and what is wrong with the others.

    Raises UnknownName, and UserError when none that is wanted can be had.
    """
    offered = ctx.plugins.offered("platforms")
    for name in names:
        if name not in offered:
            raise UnknownName("platform", name, offered, hint=f"pip install hermes-platform-{name}")
    wanted = list(names) or [name for name in offered if ctx.host.is_set_up(name)]
    gone = [] if names else sorted(ctx.host.section("platforms").keys() - set(offered))
    there = [name for name in gone if platform_settings(ctx, name).enabled is not False]
    problems = [f"Platform {name} is not installed: pip install hermes-platform-{name}" for name in there]
    found, faults = ctx.host.contributed("platforms", wanted)
    if missing := [name for name in wanted if name not in found]:
        why = "; ".join(fault.error for fault in faults) or "it is not enabled"
        problems.append(f"Platform {', '.join(sorted(missing))} cannot be served: {why}")
        if names or not found:
            raise UserError("\n".join(problems))
    return [one for one in found.values() if Feature.LIVE not in one.features], "\n".join(problems)
