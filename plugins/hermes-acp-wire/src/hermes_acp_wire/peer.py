"""One side of a JSON-RPC connection over lines: it asks, is asked, and each may take back what it asked.

The standard library alone: an agent answers the first line of its editor before anything large is imported.
"""

import asyncio
import contextlib
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

__all__ = [
    "AUTH_REQUIRED",
    "CANCELLED",
    "INTERNAL",
    "INVALID_PARAMS",
    "INVALID_REQUEST",
    "LARGEST",
    "NOT_FOUND",
    "NO_METHOD",
    "PARSE",
    "Answered",
    "Gone",
    "Peer",
    "RpcError",
]

JSON: TypeAlias = Any
Handler: TypeAlias = Callable[[str, Mapping[str, Any]], Awaitable[JSON]]

LARGEST = 64 << 20  # bytes of a line: a message may hold pictures
PARSE, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
CANCELLED, AUTH_REQUIRED, NOT_FOUND = -32800, -32000, -32002  # of the Agent Client Protocol
_CANCEL = "$/cancel_request"
_HELD = 1 << 20  # bytes that wait to be written; above, whoever sends waits
_LAST = 0.3  # seconds for what was asked last, once nothing more comes
log = logging.getLogger("hermes.acp")


class RpcError(Exception):
    """An error as the other side is told it, or told us."""

    def __init__(self, code: int, message: str, data: JSON = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data

    def shape(self) -> dict[str, JSON]:
        """Return it as JSON."""
        return {"code": self.code, "message": self.message} | ({} if self.data is None else {"data": self.data})


class Gone(Exception):
    """The other side went away, and answers nothing any more."""


class Answered:
    """A result, and what is begun once it is on its way: what comes of it is told after it."""

    def __init__(self, result: JSON, then: Callable[[], Awaitable[Any]]) -> None:
        self.result, self.then = result, then


class Peer:
    """One side. ``answer`` is given each request and notification that comes; what it returns is the result.

    Everything that comes is begun in the order in which it came, and nothing waits for the end of what came before.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, answer: Handler) -> None:
        self._reader, self._writer, self._answer = reader, writer, answer
        self._asked: dict[int, asyncio.Future[JSON]] = {}
        self._doing: dict[str, asyncio.Task[JSON]] = {}
        self._tasks = set[asyncio.Task[Any]]()
        self._number = 0
        self.gone = False

    async def serve(self) -> None:
        """Hear the other side until it goes away. What is being done for it then is left to ``close``."""
        try:
            while line := await self._line():
                self._heard(line)
            if self._tasks:  # whoever wrote and closed may still read
                await asyncio.wait(self._tasks, timeout=_LAST)
        finally:
            self._lost()

    async def request(self, method: str, params: Mapping[str, JSON]) -> JSON:
        """Ask, and wait for the result; cancelled, it takes the question back. Raises RpcError and Gone."""
        if self.gone:
            raise Gone(method)
        self._number += 1
        number = self._number
        waiting: asyncio.Future[JSON] = asyncio.get_running_loop().create_future()
        self._asked[number] = waiting
        try:
            await self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            return await waiting
        except asyncio.CancelledError:
            if not self.gone and (waiting.cancelled() or not waiting.done()):  # who cancels us cancels it
                self._write({"jsonrpc": "2.0", "method": _CANCEL, "params": {"requestId": number}})
            raise
        finally:
            self._asked.pop(number, None)

    async def notify(self, method: str, params: Mapping[str, JSON]) -> None:
        """Tell; nothing comes back. Who went away is told nothing."""
        await self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def spawn(self, work: Awaitable[Any]) -> "asyncio.Task[Any]":
        """Do something beside, until ``close``."""
        task: asyncio.Task[Any] = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def close(self) -> None:
        """End what is being done, and say nothing more."""
        self._lost()
        tasks = [one for one in self._tasks if one is not asyncio.current_task()]
        for one in tasks:
            one.cancel()
        if tasks:
            await asyncio.wait(tasks)
        with contextlib.suppress(OSError, RuntimeError):
            self._writer.close()

    # --- hearing ----------------------------------------------------------------------------------------------------

    async def _line(self) -> bytes:
        """The next line; empty where none comes any more."""
        while True:
            try:
                line = await self._reader.readuntil(b"\n")
            except asyncio.IncompleteReadError as error:
                line = error.partial  # the last line may have no end
                if not line.strip():
                    return b""
            except asyncio.LimitOverrunError:  # longer than any message: where the next one begins nobody knows
                self._refuse(None, RpcError(PARSE, f"A message has at most {LARGEST:,} bytes."))
                return b""
            except OSError:
                return b""
            if line.strip():
                return line

    def _heard(self, line: bytes) -> None:
        try:
            told = json.loads(line)
        except (ValueError, RecursionError):
            self._refuse(None, RpcError(PARSE, "This line is no JSON."))
            return
        if isinstance(told, list) and told:
            self.spawn(self._batch(told))
        elif (work := self._one(told)) is not None:
            self.spawn(self._reply(work))

    async def _reply(self, work: "asyncio.Task[JSON]") -> None:
        if (reply := await work) is not None and not self.gone:
            await self._send(_plain(reply))
            self._follow(reply)

    async def _batch(self, told: list[JSON]) -> None:
        works = [work for one in told if (work := self._one(one)) is not None]
        if works:
            replies = [reply for reply in await asyncio.gather(*works) if reply is not None]
            if replies and not self.gone:
                await self._send([_plain(reply) for reply in replies])
                for reply in replies:
                    self._follow(reply)

    def _follow(self, reply: JSON) -> None:
        if isinstance(answered := reply.get("result"), Answered):
            self.spawn(answered.then())

    def _one(self, told: JSON) -> "asyncio.Task[JSON] | None":
        """Begin what a message wants: a task that gives the reply to it, None where there is none."""
        if not isinstance(told, dict) or told.get("jsonrpc", "2.0") != "2.0":
            return self.spawn(_given(_error(None, RpcError(INVALID_REQUEST, "This is no JSON-RPC 2.0 message."))))
        method, name, params = told.get("method"), told.get("id"), told.get("params")
        if method is None and ("result" in told or "error" in told):
            self._settle(told)
            return None
        if not isinstance(method, str) or not isinstance(name, str | int | None) or isinstance(name, bool):
            return self.spawn(_given(_error(None, RpcError(INVALID_REQUEST, "A request has a method and an id."))))
        params = {} if params is None else params
        if method == _CANCEL and "id" not in told:
            self._take_back(params)
            return None
        if not isinstance(params, dict):
            wrong = RpcError(INVALID_PARAMS, "The parameters of a request are an object.")
            return self.spawn(_given(_error(name, wrong))) if "id" in told else None
        if "id" not in told:
            return self.spawn(self._told(method, params))
        task = self.spawn(self._done(method, params, name))
        self._doing[_key(name)] = task
        task.add_done_callback(lambda _: self._doing.pop(_key(name), None))
        return task

    async def _told(self, method: str, params: Mapping[str, JSON]) -> None:
        try:
            await self._answer(method, params)
        except (RpcError, Gone):  # nobody waits for an answer
            pass
        except Exception:
            log.exception("%s failed", method)

    async def _done(self, method: str, params: Mapping[str, JSON], name: str | int | None) -> JSON:
        try:
            return {"jsonrpc": "2.0", "id": name, "result": await self._answer(method, params)}
        except RpcError as error:
            return _error(name, error)
        except asyncio.CancelledError:
            if self.gone:
                raise
            return _error(name, RpcError(CANCELLED, "It was cancelled."))
        except Gone:
            return None
        except Exception:  # whoever asked waits for an answer, whatever is wrong here
            log.exception("%s failed", method)
            return _error(name, RpcError(INTERNAL, "It failed inside; the log says how."))

    def _settle(self, told: Mapping[str, JSON]) -> None:
        waiting = self._asked.get(told.get("id", 0)) if isinstance(told.get("id"), int) else None
        if waiting is None or waiting.done():
            return
        error = told.get("error")
        if isinstance(error, dict):
            code = error.get("code")
            code = code if isinstance(code, int) else INTERNAL
            waiting.set_exception(RpcError(code, str(error.get("message", "")), error.get("data")))
        else:
            waiting.set_result(told.get("result"))

    def _take_back(self, params: JSON) -> None:
        name = params.get("requestId") if isinstance(params, dict) else None
        if task := self._doing.get(_key(name)):
            asyncio.get_running_loop().call_soon(task.cancel)  # it has begun by then, and says that it was cancelled

    def _lost(self) -> None:
        self.gone = True
        for waiting in self._asked.values():
            if not waiting.done():
                waiting.set_exception(Gone("the other side went away"))

    # --- saying -----------------------------------------------------------------------------------------------------

    def _refuse(self, name: str | int | None, error: RpcError) -> None:
        self._write(_error(name, error))

    async def _send(self, told: JSON) -> None:
        self._write(told)
        if not self.gone and self._writer.transport.get_write_buffer_size() > _HELD:
            with contextlib.suppress(OSError):
                await self._writer.drain()

    def _write(self, told: JSON) -> None:
        if self._writer.is_closing():
            self._lost()
            return
        text = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
        self._writer.write(text.encode("utf-8", "replace") + b"\n")


def _error(name: str | int | None, error: RpcError) -> dict[str, JSON]:
    return {"jsonrpc": "2.0", "id": name, "error": error.shape()}


def _plain(reply: JSON) -> JSON:
    answered = reply.get("result")
    return reply | {"result": answered.result} if isinstance(answered, Answered) else reply


def _key(name: JSON) -> str:
    return json.dumps(name)


async def _given(reply: JSON) -> JSON:
    return reply
