"""The API as a platform: it listens while it is open. People write and read over HTTP, so nothing is sent to them."""

import asyncio
import sys
from collections.abc import AsyncIterator, Coroutine
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, Undeliverable, UserError
from hermes_core.kinds import Console, Platform
from hermes_core.types import Chat, Envelope, Message, Principal, Sent
from hermes_platform_api.config import Config

if TYPE_CHECKING:
    from hermes_platform_api.server import Server
    from hermes_platform_api.service import Service

__all__ = ["Api"]


class Api(Platform):
    """``address`` is where it listens, known after ``open``."""

    name = "api"
    exclusive = False
    account = "api"

    def __init__(self, ctx: PluginContext, config: Config | None = None) -> None:
        self._ctx = ctx
        self._config: Config = config or ctx.config or Config()
        self._server: Server | None = None
        self._service: Service | None = None
        self._closed = asyncio.Event()
        self._going: asyncio.Task[None] | None = None
        self.address = ""

    async def open(self, console: Console) -> None:
        """Listen. Raises UserError for a port in use and for keys that are none."""
        from hermes_platform_api.going_on import go_on, play_orders
        from hermes_platform_api.guard import Guard, is_loopback
        from hermes_platform_api.keys import MAIN, Keys
        from hermes_platform_api.mounts import mounts
        from hermes_platform_api.server import Server, application, listen
        from hermes_platform_api.service import Service

        config = self._config
        keys = Keys(self._ctx.secrets, config.keys)
        listening = listen(config.host, config.port)
        self._service = Service(config, self._ctx)
        served = mounts(self._ctx.plugins.routes())
        app = Guard(
            application(self._service, served, self._ctx.owner),
            keys,
            host=config.host,
            hosts=config.hosts,
            origins=config.origins,
            mounts=served,
            owner=self._ctx.owner,
            closed=self._is_closed,
        )
        self._server, self._closed = Server(app, listening, connections=config.max_connections), asyncio.Event()
        await self._service.begun.look()
        await self._server.start()
        host, port = listening.getsockname()[:2]
        self.address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        self._ctx.log.info("listening on %s", self.address)
        _say(f"The API listens on {self.address}/v1")
        for one in served:
            _say(
                f"{one.plugin} is served at {self.address}{one.short or one.path}"
                + (", to anybody" if one.public else "")
            )
        if keys.made:
            shown = f" and is shown this once: {keys.made}" if sys.stderr.isatty() else ""
            _say(f"Its key was made now{shown}\nIt is kept as {MAIN} in {self._ctx.paths.home / '.env'}.")
        going = go_on(self._ctx, self._service.turns, self._service.begun, config.keys.values(), config.run_seconds)
        orders = play_orders(self._ctx, self._service.turns, config.keys.values())
        self._going = asyncio.create_task(self._one_by_one(self._logged(going), orders))
        if not is_loopback(config.host):
            _say("Other machines can reach it. Keys travel in the clear: put TLS in front of it.")

    async def _one_by_one(self, *works: Coroutine[None, None, None]) -> None:
        try:
            for work in works:
                await work
        finally:
            for work in works:
                work.close()  # of what never began

    async def _logged(self, work: Coroutine[None, None, None]) -> None:
        try:
            await work
        except HermesError as error:  # it serves all the same
            self._ctx.log.warning("what was cut off could not go on: %s", error)

    async def receive(self) -> AsyncIterator[Envelope]:
        """Nothing: what is said over HTTP is answered there. Ends on close."""
        server = self._server
        if server is not None:
            ended, closed = asyncio.ensure_future(server.ended()), asyncio.ensure_future(self._closed.wait())
            try:
                await asyncio.wait({ended, closed}, return_when=asyncio.FIRST_COMPLETED)
                if ended.done() and not closed.done():
                    ended.result()
            finally:
                if self._service is not None:  # nobody listens any more, so nothing new is begun
                    self._service.turns.places.refuse()
                ended.cancel()
                closed.cancel()
                await asyncio.wait({ended, closed})
        return
        yield

    async def send(self, chat: Chat, message: Message, key: str) -> Sent | None:
        """Refused: nobody can be written to who did not ask. Raises Undeliverable."""
        raise Undeliverable("The API only answers: nothing can be sent to its clients.")

    async def _is_closed(self, who: Principal) -> bool:
        """Whether nobody hears somebody, at any door. Raises UserError where that cannot be read."""
        rights = await self._ctx.host.rights(who)
        if not rights.role:
            raise UserError(rights.refused)
        return rights.silent

    def end(self) -> None:
        """Let ``receive`` end."""
        self._closed.set()

    async def close(self, *, leaving: bool = False) -> None:
        """Let what runs end, for some seconds; then interrupt it, and stop listening.

        ``leaving``: the process ends. Then what runs, or waits for its client, goes on at the next start instead.
        """
        self._closed.set()
        if self._going:
            self._going.cancel()
        service, self._service = self._service, None
        server, self._server = self._server, None
        try:
            if service is not None:
                await service.turns.places.rest(self._config.drain_seconds)
                if leaving:
                    await service.turns.leave()
        finally:
            if service is not None:
                await service.turns.close()
            if server is not None:
                await server.stop()


def _say(text: str) -> None:
    """Tell whoever started it. A key is for a terminal only: what is not one may be a log."""
    print(text, file=sys.stderr)  # noqa: T201
