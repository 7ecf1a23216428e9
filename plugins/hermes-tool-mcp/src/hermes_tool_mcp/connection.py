"""One connection to one server: made, watched and ended by one task, and used by any number of calls.

Every call ends: with an answer, with the end of the server, or at its deadline. What ended is connected to again by
the next call, after pauses that grow to a few seconds and no further.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from hermes_core.errors import HermesError, ToolError
from hermes_core.kinds import ToolContext
from hermes_tool_mcp.config import ServerSettings
from hermes_tool_mcp.handle import Handle
from hermes_tool_mcp.listing import listed
from hermes_tool_mcp.lists import Listed

if TYPE_CHECKING:
    from mcp import Client

__all__ = ["Connection", "Ended", "Opens", "Spoken", "plain"]

T = TypeVar("T")
Opens = Callable[[Callable[[str], None]], AbstractAsyncContextManager[tuple[Any, Callable[[], str]]]]

PAUSES = (0.0, 0.5, 1.0, 2.0, 4.0)  # seconds before the next try, after so many that failed
_PATIENCE = 5.0  # seconds that a server may take to end
_SIGN = 3.0  # seconds in which one that let a deadline pass has to show that it lives: then the next call is in time
_CALM = 0.2  # seconds between two times that a server is asked what it has


class Ended(ToolError):
    """The connection ended while something was done on it."""


class Spoken(ToolError):
    """What is said of a server, in its own words."""


class Connection:
    """``opens`` gives the streams of a new connection, and what the server said to people; it is told when they end.

    ``beside`` are the callbacks of the protocol, ``learned`` is told what the server has whenever that is asked.
    """

    def __init__(
        self,
        name: str,
        server: ServerSettings,
        opens: Opens,
        learned: Callable[[Listed], None],
        log: logging.Logger,
        beside: "Callable[[Connection], dict[str, Any]]" = lambda _: {},
    ) -> None:
        self.name, self.server = name, server
        self.calls: list[ToolContext] = []  # those that run now, oldest first: whom the server may ask something
        self.why = ""  # it is not connected
        self.listed: Listed | None = None  # what it said last that it has
        self._opens, self._learned, self._log, self._beside = opens, learned, log, beside
        self._task: asyncio.Task[None] | None = None
        self._up: asyncio.Future[Client] | None = None
        self._over = asyncio.Event()
        self._failed, self._tried = 0, 0.0
        self._looking: asyncio.Task[bool] | None = None  # whether one that was late lives still
        self._ending: asyncio.Task[None] | None = None
        self._learning: set[asyncio.Task[None]] = set()
        self._changed = False  # what it has, as it says, since it was asked
        self._left: dict[str, str] = {}  # tools that cannot be used, and why

    @property
    def alive(self) -> bool:
        """Whether it is connected now."""
        up = self._up
        return (
            up is not None and up.done() and not up.cancelled() and up.exception() is None and not self._over.is_set()
        )

    # --- its life -------------------------------------------------------------------------------------------------

    async def client(self) -> "Client":
        """Return the client, connected. Raises ToolError within ``connect_timeout`` seconds."""
        await self._sure()
        if self._task is None or self._task.done() or self._over.is_set():
            await self._begin()
        assert self._up is not None, "it was begun"
        if self.alive:
            return self._up.result()
        try:
            async with asyncio.timeout(self.server.connect_timeout):
                return await asyncio.shield(self._up)
        except TimeoutError:
            self._failed += 1
            self._over.set()
            self._ending = asyncio.ensure_future(self._end())  # whoever waits has waited long enough
            raise ToolError(
                f"The MCP server {self.name} did not answer within {self.server.connect_timeout:g} s."
            ) from None

    async def _begin(self) -> None:
        left = self._tried + PAUSES[min(self._failed, len(PAUSES) - 1)] - time.monotonic()
        if left > 0 and self._failed:
            raise Spoken(
                f"The MCP server {self.name} is not there: {self.why or 'it ended'}.",
                hint=f"It is tried again in {left:.0f} s at the earliest.",
            )
        await self.close()
        self._over, self._tried = asyncio.Event(), time.monotonic()
        self._up = asyncio.get_running_loop().create_future()
        self._up.add_done_callback(lambda up: up.cancelled() or up.exception())  # maybe nobody waits any more
        self._task = asyncio.ensure_future(self._live(self._up, self._over))

    async def _live(self, up: "asyncio.Future[Client]", over: asyncio.Event) -> None:
        told: list[Callable[[], str]] = []

        def ended(why: str) -> None:
            self.why = self.why or why
            over.set()

        self.why = ""
        try:
            async with AsyncExitStack() as stack:
                client = await self._connected(stack, ended, told)
                await self._ask_again(client)
                if not up.done():
                    up.set_result(client)
                self._failed = 0
                listening = await self._listening(client)
                try:
                    await over.wait()
                finally:
                    for task in (*listening, *self._learning):
                        task.cancel()
        except asyncio.CancelledError:
            self.why = self.why or "it was ended"
            raise
        except BaseException as error:
            self._failed += 1
            first = _first(error)
            self.why = plain(first)
            if isinstance(first, HermesError) and not up.done():  # of us, with its mend
                up.set_exception(ToolError(first.text, hint=first.hint, retry=False))
            if not isinstance(error, Exception | BaseExceptionGroup):
                raise
        finally:
            over.set()
            if not up.done():
                up.set_exception(self._gone("".join(said() for said in told)))

    async def _connected(
        self, stack: AsyncExitStack, ended: Callable[[str], None], told: list[Callable[[], str]]
    ) -> "Client":
        from mcp import Client
        from mcp_types import Implementation

        from hermes_tool_mcp.sifting import Sifted
        from hermes_tool_mcp.tasks import Tasks

        streams, said = await stack.enter_async_context(self._opens(ended))
        told.append(said)
        client = Client(
            _Opened((Sifted(streams[0], self._left), streams[1])),
            client_info=Implementation(name="hermes", version=_version()),
            message_handler=self._hear,
            cache=None,
            extensions=[Tasks()],
            **self._beside(self),
        )
        return await stack.enter_async_context(client)

    def _gone(self, said: str) -> ToolError:
        told = f" It said: {_line(said[-600:])}" if said else ""
        return Spoken(f"The MCP server {self.name} is not there: {(self.why or 'it ended').rstrip('.')}.{told}")

    async def _sure(self) -> None:
        """End a server that was late and shows no sign; whoever calls next is told of another one."""
        looking = self._looking
        if looking is None:
            return
        lives = await asyncio.shield(looking)
        if self._looking is looking:  # else somebody else has seen to it
            self._looking = None
            if self.alive and not lives:
                self.why = "it did not answer"
                await self.close()

    async def ended(self) -> None:
        """Wait until it is not connected any more."""
        await self._over.wait()

    async def close(self) -> None:
        """End it, and what was started for it."""
        if self._ending is not None:
            await asyncio.wait([self._ending])
            self._ending = None
        await self._end()

    async def _end(self) -> None:
        self._over.set()
        self._looking = None
        task, self._task = self._task, None
        if task is None or task is asyncio.current_task():
            return
        if self._up is not None and not self._up.done():
            task.cancel()  # it is not told that it is over while it waits for the first word
        done, _ = await asyncio.wait([task], timeout=_PATIENCE)
        if not done:
            task.cancel()
            await asyncio.wait([task], timeout=_PATIENCE)

    # --- its use --------------------------------------------------------------------------------------------------

    async def call(
        self, tool: str, arguments: dict[str, Any], context: ToolContext, *, again: bool = False, seconds: float = 0.0
    ) -> Any:
        """Call a tool of the server. One that may be made ``again`` is, where the server ended under it.

        Raises ToolError.
        """

        async def heard(progress: float, total: float | None, message: str | None) -> None:
            of = f" of {total:g}" if total else ""
            context.progress(f"{message or 'at work'} ({progress:g}{of})\n")

        async def work(client: "Client") -> Any:
            from hermes_tool_mcp.tasks import under

            handle = Handle(lambda said: context.progress(f"{_line(said)}\n"))
            return await under(handle, lambda: client.call_tool(tool, arguments, progress_callback=heard))

        self.calls.append(context)
        try:
            return await self.use(work, again=again, seconds=seconds)
        finally:
            self.calls.remove(context)

    async def use(self, work: "Callable[[Client], Awaitable[T]]", *, again: bool = True, seconds: float = 0.0) -> T:
        """Do something with the client, by the deadline of a call. Raises ToolError."""
        from mcp.shared.exceptions import MCPError

        for last in (False, True):
            client = await self.client()
            try:
                return await self._bounded(client, work(client), seconds or self.server.timeout)
            except Ended:
                if last or not again:
                    raise
            except MCPError as error:
                if error.message == "Session terminated" and not last:  # it does not know us any more, so did nothing
                    await self.close()
                    continue
                raise Spoken(f"The MCP server {self.name} refused: {error.message}") from error
            except HermesError:
                raise
            except Exception as error:
                raise Spoken(f"The MCP server {self.name} failed: {plain(error)}") from error
        raise AssertionError("the second time returns or raises")

    async def _bounded(self, client: "Client", work: Awaitable[T], seconds: float) -> T:
        task = asyncio.ensure_future(work)
        gone = asyncio.ensure_future(self._over.wait())
        try:
            done, _ = await asyncio.wait({task, gone}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if task in done and not (gone in done and task.exception() is not None):
                return task.result()
            if gone in done:
                raise Ended(
                    f"The MCP server {self.name} ended while it worked: {self.why or 'it ended'}.",
                    hint="Nobody knows what it did. Look before you call it again.",
                )
            if self._looking is None:
                self._looking = asyncio.ensure_future(_lives(client))
            raise ToolError(f"The MCP server {self.name} did not answer within {seconds:g} s.")
        finally:
            for one in (task, gone):
                one.cancel()
            await asyncio.wait({task, gone}, timeout=_PATIENCE)

    # --- what it has ----------------------------------------------------------------------------------------------

    async def _ask_again(self, client: "Client") -> None:
        self.listed = await listed(client, self.server, self._left)
        self._learned(self.listed)

    async def _hear(self, message: Any) -> None:
        if type(message).__name__ in ("ToolListChangedNotification", "PromptListChangedNotification"):
            self.learn_again()

    def learn_again(self) -> None:
        """Ask what it has now, one time after another: a server may say without end that this changes."""
        self._changed = True
        if self._learning:
            return

        async def learn() -> None:
            while self._changed and self._up is not None and self.alive:
                self._changed = False
                with suppress(Exception):  # it will be asked again, and a call says what is wrong
                    async with asyncio.timeout(self.server.connect_timeout):
                        await self._ask_again(self._up.result())
                await asyncio.sleep(_CALM)

        task = asyncio.ensure_future(learn())
        self._learning.add(task)
        task.add_done_callback(self._learning.discard)

    async def _listening(self, client: "Client") -> Sequence["asyncio.Task[None]"]:
        """Hear of changes where the protocol wants that asked for."""
        from mcp_types.version import MODERN_PROTOCOL_VERSIONS

        tools = client.server_capabilities.tools
        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS or not (tools and tools.list_changed):
            return ()

        async def listen() -> None:
            with suppress(Exception):
                async with client.listen(tools_list_changed=True, prompts_list_changed=True) as heard:
                    async for _ in heard:
                        self.learn_again()

        return (asyncio.ensure_future(listen()),)


class _Opened:
    """Streams that are open, as the SDK wants to open them."""

    def __init__(self, streams: tuple[Any, Any]) -> None:
        self._streams = streams

    async def __aenter__(self) -> tuple[Any, Any]:
        return self._streams

    async def __aexit__(self, *_: object) -> None:
        return None


async def _lives(client: "Client") -> bool:
    """Find out whether a server that was late lives still. It is not ended for that: nobody may want it any more."""
    try:
        async with asyncio.timeout(_SIGN):
            await _pinged(client)
    except Exception:  # noqa: BLE001 - any answer but a good one
        return False
    return True


async def _pinged(client: "Client") -> None:
    from mcp_types.version import MODERN_PROTOCOL_VERSIONS

    if client.protocol_version in MODERN_PROTOCOL_VERSIONS:
        await client.list_tools()
    else:
        await client.session.send_ping()


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def plain(error: BaseException) -> str:
    """Say in one line what an error is; of a group what its first says."""
    error = _first(error)
    if isinstance(error, HermesError):
        return error.text
    return _line(str(error))[:500] or type(error).__name__


def _line(text: str) -> str:
    """Return text of a server on one line, with nothing in it that a terminal obeys."""
    return "".join(one for one in " ".join(text.split()) if one.isprintable())


def _version() -> str:
    from hermes_core import __version__

    return __version__
