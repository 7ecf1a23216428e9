"""The backend ``docker``."""

import asyncio
import logging
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from hermes_backend_docker.config import Config
from hermes_core.errors import UserError
from hermes_core.kinds import Backend, Workspace
from hermes_core.types import Feature, Folder, Wall

__all__ = ["Docker"]


class Docker(Backend):
    """Opens a container for each folder."""

    name = "docker"

    def __init__(
        self, config: Config, home: Path, log: logging.Logger, environ: Mapping[str, str] | None = None
    ) -> None:
        self._config = config
        self._home = home
        self._log = log
        self._environ = os.environ if environ is None else environ
        self._swept = False
        walls = {Feature.OFFLINE} if not config.network else set()
        if walls and not config.mount:
            walls |= {Feature.ISOLATED}
        self.features = frozenset({Feature.BACKGROUND, *walls})

    @property
    def wall(self) -> Wall:  # type: ignore[override]
        """See Backend."""
        from hermes_backend_docker.walls import wall_of

        return wall_of(network=self._config.network, mount=self._config.mount)

    async def open(self, key: str, also: Sequence[Folder] = ()) -> Workspace:
        """The container of a folder, running. Raises UserError when there is no daemon, image or permission."""
        from hermes_backend_docker import container, daemon
        from hermes_backend_docker.lease import Lease
        from hermes_backend_docker.sdk import APIError
        from hermes_backend_docker.workspace import Inside

        address = await asyncio.to_thread(daemon.find, self._config.host)
        client = await daemon.client(address)
        try:
            info = await daemon.blocking(address, client.info)
            if info.get("OSType", "linux") != "linux":
                raise UserError("docker: the daemon runs Windows containers.", hint="Switch it to Linux containers.")
            plan = container.plan(self._config, key, self._home, address, info)
            lease = Lease(client, address, plan, self._log)
            try:
                await lease.ready()
            except BaseException:
                await lease.close()
                raise
            if not self._swept:
                self._swept = True
                args = (client, self._home, self._config.keep_days, plan.name, self._log)
                with suppress(UserError, APIError):  # old ones are in nobody's way
                    await daemon.blocking(address, lambda: container.sweep(*args))
        except APIError as error:
            client.close()
            raise UserError(f"docker: the daemon refuses: {daemon.said(error)}.") from error
        except BaseException:
            client.close()
            raise
        return Inside(lease, self._config.forward_env, self._environ)

    async def ready(self) -> bool:
        """Whether a daemon answers now. Its image may still have to be pulled."""
        from hermes_backend_docker import daemon

        try:
            return await daemon.alive(await asyncio.to_thread(daemon.find, self._config.host))
        except UserError:
            return False
