"""What ``hermes doctor --deep`` finds out about the daemon, its image and its limits."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_backend_docker.backend import Docker
from hermes_backend_docker.config import Config
from hermes_core.errors import UserError
from hermes_core.kinds import Workspace
from hermes_core.types import Check, Finding

if TYPE_CHECKING:
    from hermes_backend_kit.probes import Probe
    from hermes_backend_kit.proof import Proof

__all__ = ["check_daemon", "check_walls"]

_MEND = "Set backends.docker.image to another one, and look at how your daemon is set up: docker info."
_LIMITS = {"MemoryLimit": "memory", "CpuCfsQuota": "cpus", "PidsLimit": "pids"}


def check_daemon(config: Config, home: Path) -> Check:
    """Whether commands could run now, and behind which walls."""

    async def run() -> Sequence[Finding]:
        from hermes_backend_docker import daemon
        from hermes_backend_docker.sdk import DockerException

        try:
            address = await asyncio.to_thread(daemon.find, config.host)
            client = await daemon.client(address)
        except UserError as error:
            if config == Config():  # installed with everything else, and nobody asked for it
                return [Finding(level="ok", text=f"not set up: {error.text}", fix=error.hint)]
            return [Finding(level="warning", text=error.text, fix=error.hint)]
        try:
            return await daemon.blocking(address, lambda: _look(client, config, home, address.url))
        except (DockerException, UserError) as error:
            return [Finding(level="warning", text=f"the daemon refuses: {daemon.said(error)}")]
        finally:
            client.close()

    return Check(name="docker", run=run)


def check_walls(backend: Docker, home: Path) -> Check:
    """What commands in a container must not be able to do; tried in one that is made for it, and taken away."""

    async def look(*, full: bool) -> Sequence[Finding]:
        from hermes_backend_kit.findings import of_wall

        return await of_wall(backend, str(home), full=full, fix=_MEND, prove=_proved, quick=False)

    return Check(name="walls", run=lambda: look(full=False), full=lambda: look(full=True))


async def _proved(backend: Docker, home: str, probes: "Sequence[Probe]") -> "Proof":
    from hermes_backend_docker.workspace import Inside
    from hermes_backend_kit.proof import proved

    async def discard(place: Workspace) -> None:
        if isinstance(place, Inside):
            await place.discard()

    return await proved(backend, home, probes, close=discard)


def _look(client: Any, config: Config, home: Path, url: str) -> list[Finding]:
    from hermes_backend_docker.sdk import ImageNotFound

    info, version = client.info(), client.version()
    rootless = any("name=rootless" in option for option in info.get("SecurityOptions") or ())
    engine = "Podman" if any("odman" in str(c.get("Name")) for c in version.get("Components") or ()) else "Docker"
    found = [Finding(level="ok", text=f"{engine} {version['Version']} at {url}{', rootless' if rootless else ''}")]
    missing = [setting for field, setting in _LIMITS.items() if info.get(field) is False and getattr(config, setting)]
    if missing:
        text = f"this daemon cannot limit {', '.join(missing)}; commands run without"
        found.append(Finding(level="warning", text=text, fix="Rootless: let systemd delegate the cgroup controllers."))
    if not any("name=seccomp" in option for option in info.get("SecurityOptions") or ()):
        found.append(Finding(level="warning", text="this daemon filters no system calls (seccomp)"))
    try:
        client.inspect_image(config.image)
        found.append(Finding(level="ok", text=f"the image {config.image} is here"))
    except ImageNotFound:
        text = f"the image {config.image} is not here; it is pulled when it is first needed"
        found.append(Finding(level="warning", text=text, fix=f"docker pull {config.image}"))
    label = {"label": [f"hermes.home={home}"]}
    containers, volumes = client.containers(all=True, filters=label), client.volumes(filters=label)["Volumes"] or ()
    running = sum(one.get("State") == "running" for one in containers)
    text = f"{len(containers)} containers of this home, {running} running; {len(volumes)} folders kept in volumes"
    return [*found, Finding(level="ok", text=text)]
