"""Tasks of a server: a call that it answers with a handle, which is asked after until the work has ended.

The extension ``io.modelcontextprotocol/tasks`` of 2026-07-28: https://modelcontextprotocol.io/seps/2663-tasks-extension.
A server alone decides which call becomes a task. To whoever called it is a call like any other: it ends with the
result, with what went wrong, or at its deadline, when the server is told that nobody waits any more.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from mcp.client.context import ClientRequestContext
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    CallToolResult,
    EmptyResult,
    ErrorData,
    InputRequests,
    Request,
    RequestParams,
    Result,
)

from hermes_core.errors import ToolError
from hermes_tool_mcp.handle import Handle

if TYPE_CHECKING:
    from mcp.client.session import ClientSession

__all__ = ["Tasks", "finished", "under"]

_PAUSE, _LONGEST = 0.5, 10.0  # seconds between two looks: where the server does not say, and at most
_SHORTEST = 0.02
_QUESTIONS = 10  # of one task
_AWAY = (0.5, 1.0, 2.0, 4.0)  # seconds before it is asked again after each time that it did not answer
_KNOWN = (INVALID_PARAMS, METHOD_NOT_FOUND, MISSING_REQUIRED_CLIENT_CAPABILITY)  # answers that will not change
_PATIENCE = 2.0  # seconds until a server must have heard that nobody waits any more
T = TypeVar("T", bound=Result)
_HANDLE: ContextVar[Handle | None] = ContextVar("handle", default=None)


class _Begun(Result):
    """The handle that stands for a result."""

    result_type: Literal["task"] = "task"
    task_id: str
    poll_interval_ms: float | None = None


class _State(Result):
    """What has become of it."""

    status: Literal["working", "input_required", "completed", "failed", "cancelled"]
    status_message: str | None = None
    poll_interval_ms: float | None = None
    input_requests: InputRequests | None = None
    result: dict[str, Any] | None = None
    error: ErrorData | None = None


class _Named(RequestParams):
    task_id: str


class _Answered(_Named):
    input_responses: dict[str, Any]


class _Get(Request[_Named, Literal["tasks/get"]]):
    method: Literal["tasks/get"] = "tasks/get"
    name_param = "taskId"


class _Update(Request[_Answered, Literal["tasks/update"]]):
    method: Literal["tasks/update"] = "tasks/update"
    name_param = "taskId"


class _Cancel(Request[_Named, Literal["tasks/cancel"]]):
    method: Literal["tasks/cancel"] = "tasks/cancel"
    name_param = "taskId"


class Tasks(ClientExtension):
    """Says that Hermes knows tasks, and brings each that a call becomes to its end."""

    identifier = "io.modelcontextprotocol/tasks"

    def claims(self) -> Sequence[ResultClaim[Any]]:
        """Claim the results that are handles."""
        return (ResultClaim(result_type="task", model=_Begun, resolve=_resolved),)


async def under(handle: Handle, work: Callable[[], Awaitable[Any]]) -> Any:
    """Do work whose task, if it becomes one, is named in ``handle``."""
    _HANDLE.set(handle)  # of this task alone: each call is one
    return await work()


async def _resolved(begun: _Begun, context: ClaimContext) -> CallToolResult:
    handle = _HANDLE.get() or Handle()
    handle.task, handle.pause = begun.task_id, begun.poll_interval_ms
    return await finished(context.session, handle)


async def finished(session: "ClientSession", handle: Handle) -> CallToolResult:
    """Ask after a task until it has ended, and return its result. Raises MCPError, ToolError.

    Whoever stops waiting, for whatever reason, has the server told. A connection that ends does not end the task.
    """
    try:
        state = await _ended(session, handle)
    except BaseException:
        with suppress(Exception):  # it goes on there then, and nobody hears of it
            async with asyncio.timeout(_PATIENCE):
                await session.send_request(_Cancel(params=_Named(task_id=handle.task)), EmptyResult)
        raise
    if state.status == "failed":
        raise MCPError.from_error_data(state.error or ErrorData(code=-32603, message="it failed"))
    if state.status == "cancelled":
        raise ToolError("The server stopped this call before it was done.")
    return CallToolResult.model_validate(state.result or {"content": []}, by_name=False)


async def _ended(session: "ClientSession", handle: Handle) -> _State:
    """Return what has become of a task once it has ended, and answer what it asks until then."""
    while True:
        await asyncio.sleep(_pause(handle.pause))
        state = await _sent(session, _Get(params=_Named(task_id=handle.task)), _State)
        handle.pause = state.poll_interval_ms
        handle.tell(state.status_message)
        if state.status in ("completed", "failed", "cancelled"):
            return state
        await _answer(session, handle, state.input_requests or {})


async def _sent(session: "ClientSession", request: _Get | _Update, kind: type[T]) -> T:
    """Return the answer to a request, which may be made twice. Raises MCPError and others.

    A server that is away for a moment has the task still, and an answer that it has already is passed over.
    """
    for pause in (*_AWAY, None):
        try:
            return await session.send_request(request, kind)
        except Exception as error:
            if pause is None or (isinstance(error, MCPError) and error.code in _KNOWN):
                raise
            await asyncio.sleep(pause)
    raise AssertionError("the last time returns or raises")


def _pause(told: float | None) -> float:
    return _PAUSE if told is None else min(max(told / 1000, _SHORTEST), _LONGEST)


async def _answer(session: "ClientSession", handle: Handle, asked: Mapping[str, Any]) -> None:
    """Answer what the work waits for, each question once, as if the server had asked by itself. Raises MCPError."""
    for key, request in asked.items():
        if key in handle.answered:
            continue
        if len(handle.answered) >= _QUESTIONS:
            raise ToolError(f"The server asked more than {_QUESTIONS} times during one call.", retry=False)
        context = ClientRequestContext(session=session, request_id=f"{handle.task} {key}")
        answer = await session.dispatch_input_request(context, request)
        if isinstance(answer, ErrorData):
            raise MCPError.from_error_data(answer)
        handle.answered.add(key)
        given = {key: answer.model_dump(by_alias=True, mode="json", exclude_none=True)}
        update = _Update(params=_Answered(task_id=handle.task, input_responses=given))
        await _sent(session, update, EmptyResult)
