"""The requests of clients, one method for each, as the SDK's bindings hand them on."""

import base64
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager

from a2a.server.context import ServerCallContext
from a2a.server.events import Event
from a2a.server.request_handlers.request_handler import RequestHandler
from a2a.types import (
    AgentCard,
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse,
    ListTasksRequest,
    ListTasksResponse,
    Message,
    SendMessageRequest,
    SubscribeToTaskRequest,
    Task,
    TaskPushNotificationConfig,
)
from a2a.utils.errors import (
    A2AError,
    ExtendedAgentCardNotConfiguredError,
    InternalError,
    InvalidParamsError,
    InvalidRequestError,
    PushNotificationNotSupportedError,
    UnsupportedOperationError,
)

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.types import Principal
from hermes_platform_a2a.content import STATES, task_of
from hermes_platform_a2a.tasks import Tasks

__all__ = ["Handler"]

_PAGE, _MOST = 50, 100  # tasks of a page: unless said otherwise, and at most
_BROKE = "Something went wrong here. The server's log says what."


class Handler(RequestHandler):
    """Each person's tasks, by their key."""

    def __init__(self, ctx: PluginContext, tasks: Tasks) -> None:
        self._ctx, self._tasks = ctx, tasks

    async def on_message_send(self, params: SendMessageRequest, context: ServerCallContext) -> Task | Message:
        """Begin a task or go on with one, and wait for its end or its question, unless it is not to be waited for."""
        async with self._told():
            _refuse_push(params)
            live = await self._tasks.send(_owner(context), params.message)
            if not params.configuration.return_immediately:
                await live.rest()
            wanted = params.configuration
            return _short(live.task, wanted.history_length if wanted.HasField("history_length") else None)

    async def on_message_send_stream(
        self, params: SendMessageRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event]:
        """Do the same, and tell what happens meanwhile."""
        async with self._told():
            _refuse_push(params)
            live = await self._tasks.send(_owner(context), params.message)
            async with aclosing(live.watch(whole=False)) as events:
                async for event in events:
                    yield event

    async def on_subscribe_to_task(
        self, params: SubscribeToTaskRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event]:
        """Tell what happens in a task from now on."""
        async with self._told():
            live = await self._tasks.find(_owner(context), params.id)
            if live.over:
                raise UnsupportedOperationError("This task is over: get it.")
            async with aclosing(live.watch(whole=True)) as events:
                async for event in events:
                    yield event

    async def on_get_task(self, params: GetTaskRequest, context: ServerCallContext) -> Task | None:
        """Return a task as it is now."""
        async with self._told():
            live = await self._tasks.find(_owner(context), params.id)
            return _short(live.task, params.history_length if params.HasField("history_length") else None)

    async def on_list_tasks(self, params: ListTasksRequest, context: ServerCallContext) -> ListTasksResponse:
        """Return a page of tasks, changed last first."""
        async with self._told():
            size = params.page_size if params.HasField("page_size") else _PAGE
            if not 1 <= size <= _MOST:
                raise InvalidParamsError(f"page_size is from 1 to {_MOST}.")
            history = params.history_length if params.HasField("history_length") else 0
            if history < 0:
                raise InvalidParamsError("history_length is not negative.")
            if params.status and params.status not in STATES:
                return ListTasksResponse(tasks=[], page_size=size, total_size=0)
            found, many = await self._tasks.page(
                _owner(context),
                context=params.context_id,
                state=STATES[params.status] if params.status else "",
                since=params.status_timestamp_after.ToNanoseconds() / 1e9,
                before=_cursor(params.page_token),
                most=size + 1,
                artifacts=params.include_artifacts,
            )
            shown, more = found[:size], len(found) > size
            token = _token(shown[-1].updated, shown[-1].id) if more else ""
            tasks = [_short(task_of(row), history) for row in shown]
            return ListTasksResponse(tasks=tasks, next_page_token=token, page_size=size, total_size=many)

    async def on_cancel_task(self, params: CancelTaskRequest, context: ServerCallContext) -> Task | None:
        """End a task that is not over."""
        async with self._told():
            return await self._tasks.cancel(_owner(context), params.id)

    async def on_get_extended_agent_card(
        self, params: GetExtendedAgentCardRequest, context: ServerCallContext
    ) -> AgentCard:
        """Refuse: the card says all there is."""
        raise ExtendedAgentCardNotConfiguredError

    async def on_create_task_push_notification_config(
        self, params: TaskPushNotificationConfig, context: ServerCallContext
    ) -> TaskPushNotificationConfig:
        """Refuse: nobody is called back."""
        raise PushNotificationNotSupportedError

    async def on_get_task_push_notification_config(
        self, params: GetTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> TaskPushNotificationConfig:
        """Refuse: nobody is called back."""
        raise PushNotificationNotSupportedError

    async def on_list_task_push_notification_configs(
        self, params: ListTaskPushNotificationConfigsRequest, context: ServerCallContext
    ) -> ListTaskPushNotificationConfigsResponse:
        """Refuse: nobody is called back."""
        raise PushNotificationNotSupportedError

    async def on_delete_task_push_notification_config(
        self, params: DeleteTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> None:
        """Refuse: nobody is called back."""
        raise PushNotificationNotSupportedError

    @asynccontextmanager
    async def _told(self) -> AsyncIterator[None]:
        """Have what goes wrong told to the client in the protocol's words, and nothing of what is inside."""
        try:
            yield
        except A2AError:
            raise
        except HermesError as error:
            raise InvalidRequestError(self._ctx.masks.text(error.text)) from None
        except Exception as error:
            self._ctx.log.exception("a request of an A2A client could not be answered")
            raise InternalError(_BROKE) from error


def _owner(context: ServerCallContext) -> Principal:
    owner = context.state["owner"]
    assert isinstance(owner, Principal), "the route lets nobody else in"
    return owner


def _refuse_push(params: SendMessageRequest) -> None:
    if params.configuration.HasField("task_push_notification_config"):
        raise PushNotificationNotSupportedError


def _short(task: Task, history: int | None) -> Task:
    """Return a task with so many messages of its history, the last ones. Raises A2AError."""
    if history is not None and history < 0:
        raise InvalidParamsError("history_length is not negative.")
    found = Task()
    found.CopyFrom(task)
    if history is not None:
        del found.history[: max(0, len(found.history) - history)]
    return found


def _token(updated: float, name: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([updated, name]).encode()).decode()


def _cursor(token: str) -> tuple[float, str] | None:
    if not token:
        return None
    try:
        updated, name = json.loads(base64.b64decode(token.encode(), b"-_", validate=True))
        if not (isinstance(updated, float) and isinstance(name, str) and re.fullmatch("[0-9a-f-]{1,64}", name)):
            raise ValueError(token)
    except (ValueError, TypeError, RecursionError):
        raise InvalidParamsError("This page_token is none of ours.") from None
    return updated, name
