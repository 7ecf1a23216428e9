"""A workspace's hold on its container: finding it up, ending what was started in it, saying why it is gone."""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import Any
from uuid import uuid4

from attrs import evolve

from hermes_backend_docker import scripts
from hermes_backend_docker.attach import Refused
from hermes_backend_docker.command import Command, Site
from hermes_backend_docker.container import Plan, ensure
from hermes_backend_docker.daemon import Address, blocking, said
from hermes_backend_kit.files import sh
from hermes_core.environment import MARK
from hermes_core.errors import UserError

__all__ = ["Lease"]

ENDING = 20.0  # seconds that ending a command from inside may take before the container is killed
CLOSING = 8.0  # seconds its streams may stay open then; the daemon itself takes some where an orphan holds others open
PROBE = 30.0  # seconds a container may take to say what is in it


class Lease:
    """The container of one workspace. While it is held, a warden in the container waits for its end.

    The warden's input is a connection of this process, which the system closes however the process dies: then the
    warden ends what the workspace started. So there is nothing to write down and nothing to clear up after a crash.
    """

    def __init__(self, client: Any, address: Address, plan: Plan, log: logging.Logger) -> None:
        self.plan = plan
        self._client = client
        self._address = address
        self._log = log
        self._owner = uuid4().hex
        self._warden: Command | None = None
        self._lock = asyncio.Lock()
        self._killed = 0
        self.site = Site(address, client.api_version, "", self._owner)

    async def ready(self) -> Site:
        """The running container; started, or made anew, where it is not. Raises UserError."""
        async with self._lock:
            if self._warden is None or self._warden.over:
                await self._drop()
                self.site = await self._entered()
            return self.site

    async def _entered(self) -> Site:
        from hermes_backend_docker.sdk import APIError

        try:
            container = await blocking(self._address, lambda: ensure(self._client, self.plan, self._log))
            try:
                return await self._enter(container)
            except _Broken as broken:
                # A command may have broken what is in it, even sh. Its folder is elsewhere, and stays.
                self._log.warning("the container %s is made anew: %s", self.plan.name, broken)
            await blocking(self._address, lambda: self._client.remove_container(container, force=True))
            container = await blocking(self._address, lambda: ensure(self._client, self.plan, self._log))
            return await self._enter(container)
        except APIError as error:
            raise UserError(f"docker: the daemon refuses: {said(error)}.") from error
        except _Broken as broken:
            raise UserError(
                f"docker: the image {self.plan.image} cannot run commands: {broken}.",
                hint="It needs sh, grep, sleep, cat, head and rm; set backends.docker.image to another.",
            ) from broken

    async def _enter(self, container: str) -> Site:
        told = bytearray()
        site = evolve(self.site, container=container, init="")
        warden = Command(site, told.extend, lasting=True)
        words = sh(scripts.EVAL, warden.token, f"{MARK}={self._owner}.")
        env = {"HERMES_WARDEN": self._owner}
        try:
            async with asyncio.timeout(PROBE):
                await warden.begin(words, env, script=scripts.WARDEN, open_input=True)
                await warden.told()
            if warden.marks.status is None:
                raise _Broken(warden.marks.complaint or "it said nothing")
        except (Refused, TimeoutError) as error:
            await warden.close()
            raise _Broken(str(error) or "it does not answer") from error
        except BaseException:
            await warden.close()
            raise
        self._warden, self._killed = warden, warden.marks.killed
        bash, init, home, environ = bytes(told).split(b"\n", 3)
        base = (entry.decode(errors="replace").partition("=") for entry in environ.split(b"\0") if b"=" in entry)
        return evolve(
            site,
            bash=bash.decode(errors="replace"),
            init=init.decode(),
            home=home.decode(errors="replace"),
            base={name: value for name, _, value in base if name != "HERMES_WARDEN"},
        )

    async def check(self) -> bool:
        """Whether the container runs; where it does not, the next ``ready`` starts it."""
        try:
            state = await self._state()
        except UserError:
            state = None
        running = bool(state and state["Running"])
        if not running:
            await self._drop()
        return running

    async def lost(self) -> tuple[str, str]:
        """Why a command came to no end, and what to do: the container or the daemon went away under it."""
        look = "Whether it came to its end is not known; look before you run it again."
        try:
            for _ in range(20):  # a container that is going down still counts as running for a moment
                state = await self._state()
                if not (state and state["Running"]):
                    break
                await asyncio.sleep(0.05)
        except UserError as error:
            return f"The connection to the daemon was lost while the command ran. {error.text}", look
        finally:
            await self._drop()
        if state is None:
            return "The container was removed while the command ran.", look
        if state.get("OOMKilled"):
            limit = self.plan.create["memory"]
            return (
                f"The container's memory limit of {limit} was reached, and the command was killed.",
                "Use less memory at once, or ask the person to raise backends.docker.memory.",
            )
        if state["Running"]:
            return "The command's own shell was killed while the command ran.", look
        return "The container was stopped while the command ran.", look

    def ran_out(self, killed: int) -> bool:
        """Whether the memory limit ended a process since this was last asked."""
        before, self._killed = self._killed, killed
        return killed > before

    async def _state(self) -> Any:
        """The container's state; None when there is none. Raises UserError when the daemon cannot be asked."""
        from hermes_backend_docker.sdk import APIError

        try:
            name = self.site.container
            return (await blocking(self._address, lambda: self._client.inspect_container(name)))["State"]
        except APIError:
            return None

    async def _drop(self) -> None:
        warden, self._warden = self._warden, None
        if warden:
            await warden.close()

    async def end(self, command: Command, grace: int) -> None:
        """End a command and all it started. What cannot be ended from inside ends with the container."""
        if not command.begun:
            return
        await command.settle()
        if command.marks.started or not command.over:
            await self._end(f"{MARK}={command.run}", grace, [command])

    async def end_mine(self, grace: int, commands: Sequence[Command]) -> None:
        """End all that this workspace started."""
        await self._end(f"{MARK}={self._owner}.", grace, commands)

    async def _end(self, mark: str, grace: int, commands: Sequence[Command]) -> None:
        left = bytearray()
        killer = Command(self.site, left.extend)
        words = sh(scripts.EVAL, killer.token, mark, str(grace), self.site.init)
        try:
            async with asyncio.timeout(ENDING):
                await killer.begin(words, {}, script=scripts.KILL)
                marks = await killer.ended()
                if marks.complete and not left.strip():
                    async with asyncio.timeout(CLOSING):
                        for command in commands:
                            await command.silent()
                    return
        except (Refused, TimeoutError):
            pass
        finally:
            await killer.close()
        self._log.warning("the container %s is killed, because a command in it could not be ended", self.plan.name)
        await self._kill()

    async def _kill(self) -> None:
        from hermes_backend_docker.sdk import APIError

        with suppress(APIError, UserError):  # gone already, or the daemon is: then so is the command
            await blocking(self._address, lambda: self._client.kill(self.site.container))

    async def remove(self) -> None:
        """End the container, and take it away with its volume. Raises UserError."""
        plan = self.plan
        await blocking(self._address, lambda: self._client.remove_container(plan.name, force=True))
        if plan.volume:
            await blocking(self._address, lambda: self._client.remove_volume(plan.volume))

    async def close(self) -> None:
        """Let go; whatever this workspace still runs is ended by the warden."""
        await self._drop()
        await asyncio.to_thread(self._client.close)


class _Broken(Exception):
    """Nothing can be run in the container, for the reason in its words."""
