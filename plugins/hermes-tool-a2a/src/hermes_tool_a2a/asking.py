"""Asking an agent: once, and then looking at the task that it made of it until that is over, asks, or time is up."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager

import httpx
from a2a.client import Client
from a2a.client.errors import A2AClientError
from a2a.types import (
    CancelTaskRequest,
    GetTaskRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    StreamResponse,
    Task,
    TaskState,
)
from a2a.utils.errors import A2AError
from google.protobuf.json_format import MessageToDict

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.values import frozen
from hermes_platform_kit.clean import clean
from hermes_tool_a2a.wire import connected

__all__ = ["Reply", "ask", "give_up", "look", "wrong"]

_FIRST, _GROWS, _LONGEST = 0.05, 2.0, 10.0  # seconds between two looks at a task
_PATIENCE = 60.0  # seconds in which every look may fail: an agent is started again, a network comes back
_RUNS = (TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING)
_WORDS = {
    TaskState.TASK_STATE_COMPLETED: "completed",
    TaskState.TASK_STATE_FAILED: "failed",
    TaskState.TASK_STATE_CANCELED: "canceled",
    TaskState.TASK_STATE_REJECTED: "rejected",
    TaskState.TASK_STATE_INPUT_REQUIRED: "asks",
    TaskState.TASK_STATE_AUTH_REQUIRED: "asks for a login",
}


@frozen(kw_only=True)
class Reply:
    """What an agent answered: words and files, of a ``task`` and in a ``conversation`` of its own."""

    state: str
    text: str
    files: tuple[tuple[str, bytes], ...] = ()
    task: str = ""
    conversation: str = ""


async def ask(
    ctx: PluginContext,
    name: str,
    text: str,
    key: str,
    *,
    task: str = "",
    conversation: str = "",
    seconds: float,
    began: Callable[[str], Awaitable[None]] | None = None,
) -> Reply:
    """Say something to an agent, under the id ``key``, and wait so many seconds for what comes of it.

    ``began`` is told the task that it made of it, before that is waited for. Raises UserError.
    """
    message = Message(
        message_id=key, role=Role.ROLE_USER, parts=[Part(text=text)], task_id=task, context_id=conversation
    )
    request = SendMessageRequest(message=message)
    request.configuration.return_immediately = True
    async with _told(name, seconds), connected(ctx, name) as client:
        said: StreamResponse | None = None
        async for event in client.send_message(request):
            said = event
        if said is None:
            raise UserError(f"{name} answers nothing.")
        if said.HasField("message"):
            return _of_message(said.message)
        if began:
            await began(said.task.id)
        return await _over(client, said.task, seconds)


async def look(ctx: PluginContext, name: str, task: str, *, seconds: float) -> Reply:
    """Wait so many seconds for what comes of a task that was begun before. Raises UserError."""
    async with _told(name, seconds), connected(ctx, name) as client:
        return await _over(client, await client.get_task(GetTaskRequest(id=task)), seconds)


async def give_up(ctx: PluginContext, name: str, task: str, *, seconds: float) -> None:
    """Have an agent end a task. Raises UserError."""
    async with _told(name, seconds), connected(ctx, name) as client:
        await client.cancel_task(CancelTaskRequest(id=task))


async def _over(client: Client, task: Task, seconds: float) -> Reply:
    """Look at a task until it is over or asks, or time is up: then its state says that it runs."""
    now = asyncio.get_running_loop().time
    pause, last, heard = _FIRST, now() + seconds, now()
    while task.status.state in _RUNS and (left := last - now()) > 0:
        await asyncio.sleep(min(pause, left))
        pause = min(pause * _GROWS, _LONGEST)
        try:
            task, heard = await client.get_task(GetTaskRequest(id=task.id)), now()
        except (A2AClientError, httpx.HTTPError):
            if now() - heard > _PATIENCE:
                raise
    return _of_task(task)


def _of_task(task: Task) -> Reply:
    parts = [part for one in task.artifacts for part in one.parts]
    if task.status.HasField("message"):
        parts += task.status.message.parts
    state = _WORDS.get(task.status.state, "runs")
    said = next((one for one in reversed(task.history) if one.role == Role.ROLE_AGENT), None)
    if not parts and said is not None and state == "completed":  # some give no artifact
        parts = list(said.parts)
    text, files = _content(parts)
    return Reply(state=state, text=text, files=files, task=task.id, conversation=task.context_id)


def _of_message(message: Message) -> Reply:
    text, files = _content(message.parts)
    return Reply(state="completed", text=text, files=files, conversation=message.context_id)


def _content(parts: Iterable[Part]) -> tuple[str, tuple[tuple[str, bytes], ...]]:
    words: list[str] = []
    files: list[tuple[str, bytes]] = []
    for part in parts:
        match part.WhichOneof("content"):
            case "text":
                words.append(part.text)
            case "data":
                words.append(json.dumps(MessageToDict(part.data), ensure_ascii=False))
            case "url":
                words.append(f"[a file at {part.url}]")
            case "raw":
                files.append((part.filename or "file", part.raw))
    return "\n".join(words), tuple(files)


@asynccontextmanager
async def _told(name: str, seconds: float) -> AsyncIterator[None]:
    """Have what goes wrong said in a line, and nobody waited for longer than a minute beyond the time."""
    try:
        async with asyncio.timeout(seconds + 60.0):
            yield
    except TimeoutError:
        raise UserError(f"{name} does not answer.") from None
    except (A2AError, httpx.HTTPError, ValueError) as error:
        raise UserError(f"{name} could not be asked: {wrong(error)}") from None


def wrong(error: Exception) -> str:
    """Return what went wrong in one line, no matter who wrote it."""
    if getattr(error, "status_code", 0) in (401, 403):
        return "it does not take the key, or wants one."
    return " ".join(clean(str(error)).split())[:300] or type(error).__name__
