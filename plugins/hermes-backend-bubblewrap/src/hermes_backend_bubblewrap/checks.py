"""What doctor says about the sandbox."""

import platform
from pathlib import Path

from hermes_backend_bubblewrap.backend import Bubblewrap
from hermes_backend_bubblewrap.config import Config
from hermes_backend_bubblewrap.recipe import limits_of
from hermes_backend_kit.findings import of_wall
from hermes_backend_wall import bwrap, limits, seccomp
from hermes_core.errors import HermesError
from hermes_core.types import Finding


async def findings(config: Config, home: Path) -> list[Finding]:
    """Make one and look: what cannot be is a fault, what is weaker than it could be a warning."""
    try:
        sandbox = await Bubblewrap(config, home).probe()
    except HermesError as error:
        return [Finding(level="fault", text=error.text, fix=error.hint)]
    version = ".".join(map(str, bwrap.version(bwrap.program())))
    found = [Finding(level="ok", text=f"a sandbox can be made (bwrap {version})")]
    if not seccomp.program():
        text = f"system calls are not filtered: their numbers on {platform.machine()} are not known here"
        found.append(Finding(level="warning", text=text, fix="The other walls hold; or use the backend docker."))
    groups = limits.Groups(limits_of(config))
    groups.remove()
    if config.memory_mb and not groups.weighs:
        text = f"no control group for memory: the bound of {config.memory_mb} MB holds for each process, not for all"
        found.append(
            Finding(level="warning", text=text, fix="Lower backends.bubblewrap.memory_mb if that is too much.")
        )
    if config.network:
        text = "backends.bubblewrap.network is on: commands reach this machine's services, and are asked about"
        found.append(Finding(level="warning", text=text, fix="hermes config unset backends.bubblewrap.network"))
        if "scope" not in sandbox.strong:
            text = (
                "abstract Unix sockets of this machine can be reached too; Linux 6.12 or newer closes them (Landlock)"
            )
            found.append(Finding(level="warning", text=text, fix="Turn the network off, or update the kernel."))
    return found


async def of_walls(config: Config, home: Path, *, full: bool = False) -> list[Finding]:
    """Try what a sandbox must not let through; in ``full`` all of that."""
    return await of_wall(Bubblewrap(config, home), str(home), full=full, fix="Use the backend docker.")
