"""What doctor says about the wall around the commands of a backend, the same for each of them."""

from collections.abc import Awaitable, Callable, Sequence

from hermes_backend_kit.probes import PROBES
from hermes_backend_kit.proof import Proof, proved
from hermes_backend_kit.walls import no_wall
from hermes_core.errors import HermesError
from hermes_core.kinds import Backend
from hermes_core.types import Finding, Wall

__all__ = ["of_wall"]

_EACH = 8  # of so many probes one is tried: doctor waits for no plugin longer than some seconds


async def of_wall(
    backend: Backend,
    home: str,
    *,
    full: bool,
    fix: str,
    prove: Callable[..., Awaitable[Proof]] = proved,
    quick: bool = True,
) -> list[Finding]:
    """Say which wall is there and what it does not keep; try some of what it must stop, in ``full`` all of that.

    ``home`` is the home of Hermes, ``fix`` mends a wall that is missing or lets something through. A place that is not
    ``quick`` to open is tried in full only.
    """
    wall = backend.wall or no_wall()
    if wall.name == "none":
        text = f"no wall is around commands; missing: {'; '.join(wall.missing)}"
        return [Finding(level="fault" if full else "warning", text=text, fix=fix)]
    if not full and not quick:
        return [Finding(level="ok", text=f"{_said(wall)}; hermes doctor --walls tries it")]
    try:
        proof = await prove(backend, home, PROBES if full else PROBES[::_EACH])
    except HermesError as error:
        return [Finding(level="fault", text=error.text, fix=error.hint or fix)]
    return [_verdict(proof, fix, full=full)]


def _verdict(proof: Proof, fix: str, *, full: bool) -> Finding:
    if proof.through:
        many = f"{len(proof.through)} of {len(proof.tried)}"
        text = f"the wall {proof.wall.name} lets through {many}: {'; '.join(proof.through)}"
        return Finding(level="fault", text=text, fix=fix)
    tried = f"{len(proof.tried)} things that it must stop were tried: all were stopped"
    anywhere = [probe for probe in PROBES if not probe.file]
    if len(proof.tried) < len(anywhere) and full:
        tried += f" ({len(anywhere) - len(proof.tried)} more need a Python there)"
    more = "" if full else "; hermes doctor --walls tries all"
    return Finding(level="ok", text=f"{_said(proof.wall)}. {tried}{more}")


def _said(wall: Wall) -> str:
    missing: Sequence[str] = wall.missing
    return f"commands run behind the wall {wall.name}{'; missing: ' if missing else ''}{'; '.join(missing)}"
