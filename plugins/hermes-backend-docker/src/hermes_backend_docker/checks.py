"""What ``hermes doctor --deep`` finds out about the daemon, its image and its limits."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hermes_backend_docker.config import Config
from hermes_core.errors import UserError
from hermes_core.types import Check, Finding

__all__ = ["check_daemon"]

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
