"""Calls that take longer than a request should: their client gets a handle, and asks after them.

The extension ``io.modelcontextprotocol/tasks`` of 2026-07-28: https://modelcontextprotocol.io/seps/2663-tasks-extension.
A client that does not say with its request that it knows them waits for the result as ever.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hermes_core.errors import UserError
from hermes_core.types import Principal
from hermes_platform_mcp_serve.ongoing import Ongoing

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

__all__ = ["IDENTIFIER", "Tasks", "knows_tasks", "needed"]

IDENTIFIER = "io.modelcontextprotocol/tasks"
_KEPT = 3600.0  # seconds from its begin that a task is kept; one that works still is ended then
_MOST = 200  # tasks that are kept
_AGAIN = 1000  # milliseconds after which a client may ask again
_NEEDED: dict[str, Any] = {"requiredCapabilities": {"extensions": {IDENTIFIER: {}}}}


def knows_tasks(request: Any) -> bool:
    """Tell whether the client said with its request that it knows tasks."""
    from mcp_types import ClientCapabilities
    from mcp_types.version import MODERN_PROTOCOL_VERSIONS

    session = request.session
    can = ClientCapabilities(extensions={IDENTIFIER: {}})
    return session.protocol_version in MODERN_PROTOCOL_VERSIONS and session.check_client_capability(can)


def needed() -> Exception:
    """Return the error for who does not know tasks and would have to."""
    from mcp.shared.exceptions import MCPError
    from mcp_types import MISSING_REQUIRED_CLIENT_CAPABILITY

    return MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, f"It needs {IDENTIFIER}.", _NEEDED)


class _Task:
    """Work that is asked after, and when it was something else last."""

    def __init__(self, work: Ongoing) -> None:
        self.work = work
        self.begun = self.changed = datetime.now(UTC)
        self._stopped = False
        work.told = self._tell
        work.task.add_done_callback(lambda _: self._tell())
        self._limit = asyncio.get_running_loop().call_later(_KEPT, self.stop)

    def _tell(self) -> None:
        self.changed = datetime.now(UTC)

    @property
    def old(self) -> bool:
        """Whether it need not be kept any more."""
        return self.work.task.done() and (datetime.now(UTC) - self.begun).total_seconds() > _KEPT

    def stop(self) -> None:
        """End the work, if it has not ended."""
        self._limit.cancel()
        self._stopped = not self.work.task.done()
        self.work.task.cancel()

    def handle(self) -> dict[str, Any]:
        """Return what stands for it."""
        return {
            "taskId": self.work.name,
            "status": self._status(),
            "createdAt": self.begun.isoformat(timespec="milliseconds"),
            "lastUpdatedAt": self.changed.isoformat(timespec="milliseconds"),
            "ttlMs": int(_KEPT * 1000),
            "pollIntervalMs": _AGAIN,
        }

    def _status(self) -> str:
        task = self.work.task
        if not task.done():
            return "cancelled" if self._stopped else "input_required" if self.work.open else "working"
        if task.cancelled():
            return "cancelled"
        return "completed" if task.exception() is None else "failed"

    def state(self) -> dict[str, Any]:
        """Return all that there is to say of it."""
        found = self.handle()
        if found["status"] == "input_required":
            found["inputRequests"] = {key: _plain(one) for key, one in self.work.open.items()}
        if found["status"] == "completed":
            found["result"] = _plain(self.work.task.result())
        if found["status"] == "failed":
            found["error"] = _error(self.work.task.exception())
        return found


def _plain(model: Any) -> Any:
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)


def _error(error: BaseException | None) -> dict[str, Any]:
    from mcp.shared.exceptions import MCPError
    from mcp_types import INTERNAL_ERROR

    if isinstance(error, MCPError):
        return {"code": error.code, "message": error.message}
    return {"code": INTERNAL_ERROR, "message": "Something went wrong here. `hermes logs` says what."}


Lost = Callable[["Tasks", Principal, str], Awaitable[dict[str, Any] | None]]
Dropped = Callable[[Principal, str], Awaitable[bool]]


class Tasks:
    """The tasks of a server. ``lost`` tells of one of an earlier life of this process what became of it; or None.

    ``dropped`` ends such a one, and says whether there is one.
    """

    def __init__(
        self, owner: Callable[[Any], Principal], lost: Lost | None = None, dropped: Dropped | None = None
    ) -> None:
        self._owner, self._lost, self._dropped = owner, lost, dropped
        self._there: dict[str, _Task] = {}

    def take(self, work: Ongoing) -> dict[str, Any]:
        """Return the handle of work that goes on. It can be asked after from now on. Raises UserError for too many."""
        if work.name in self._there:  # somebody else found it again meanwhile
            work.task.cancel()
            return {"resultType": "task", **self._there[work.name].handle()}
        for name in [name for name, one in self._there.items() if one.old]:
            del self._there[name]
        if len(self._there) >= _MOST:
            ended = next((name for name, one in self._there.items() if one.work.task.done()), None)
            if ended is None:
                work.task.cancel()
                raise UserError(f"{_MOST} calls are at work already.")
            del self._there[ended]
        task = self._there[work.name] = _Task(work)
        return {"resultType": "task", **task.handle()}

    def serve(self, server: "Server[Any]") -> None:
        """Have a server say that it has tasks, and answer for them."""
        from hermes_platform_mcp_serve.task_requests import Named, Update

        server.extensions[IDENTIFIER] = {}
        server.add_request_handler("tasks/get", Named, self._get)
        server.add_request_handler("tasks/update", Update, self._update)
        server.add_request_handler("tasks/cancel", Named, self._cancel)

    def _found(self, request: Any, name: str) -> _Task | None:
        from hermes_platform_mcp_serve.task_requests import check_name

        if not knows_tasks(request):
            raise needed()
        check_name(request, name)
        found = self._there.get(name)
        return found if found is not None and found.work.owner == self._owner(request) else None

    async def _get(self, request: Any, params: Any) -> dict[str, Any]:
        task = self._found(request, params.task_id)
        if task is not None:
            return task.state()
        told = await self._lost(self, self._owner(request), params.task_id) if self._lost else None
        if told is None:
            raise _unknown()
        return told

    async def _update(self, request: Any, params: Any) -> dict[str, Any]:
        task = self._found(request, params.task_id)
        if task is None:
            raise _unknown()
        task.work.answer(params.input_responses)
        return {}

    async def _cancel(self, request: Any, params: Any) -> dict[str, Any]:
        task = self._found(request, params.task_id)
        if task is not None:
            task.stop()
        elif self._dropped is None or not await self._dropped(self._owner(request), params.task_id):
            raise _unknown()
        return {}


def _unknown() -> Exception:
    from mcp.shared.exceptions import MCPError
    from mcp_types import INVALID_PARAMS

    return MCPError(INVALID_PARAMS, "There is no such task.")
