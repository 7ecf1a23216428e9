"""What doctor says about the wall."""

from hermes_backend_local.config import Config
from hermes_backend_local.workspace import plan_of
from hermes_backend_wall.plan import INSTALL, NO_WALL
from hermes_backend_wall.probes import PROBES, refuted
from hermes_core.context import PluginPaths
from hermes_core.errors import HermesError
from hermes_core.types import Finding

_EACH = 8  # of so many probes one is tried: doctor waits for no plugin longer than some seconds


async def findings(config: Config | None, paths: PluginPaths, *, full: bool = False) -> list[Finding]:
    """Make it in an empty folder and try some of what it must not let through; in ``full`` all of that."""
    plan = plan_of(config or Config(), paths)
    if plan is None:
        text = f"no wall is around commands; missing: {NO_WALL[0]}"
        return [Finding(level="fault" if full else "warning", text=text, fix=INSTALL)]
    try:
        probes = PROBES if full else PROBES[::_EACH]
        wall, let_through = await refuted(plan, probes)
    except HermesError as error:
        return [Finding(level="fault", text=error.text, fix=error.hint)]
    if let_through:
        text = f"the wall {wall.name} lets through {len(let_through)} of {len(probes)}: {'; '.join(let_through)}"
        return [Finding(level="fault", text=text, fix="Set backends.local.wall to another one.")]
    missing = f"; missing: {'; '.join(wall.missing)}" if wall.missing else ""
    tried = f"{len(probes)} things that it must stop were tried: all were stopped"
    more = "" if full else "; hermes doctor --walls tries all"
    return [Finding(level="ok", text=f"commands run behind the wall {wall.name}{missing}. {tried}{more}")]
