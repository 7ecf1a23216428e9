"""Boards over HTTP, for who has a key of the API: ``/tool/kanban/tasks``."""

import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any
from urllib.parse import parse_qs

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_core.types import Routes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_tool_kanban.actions import Door
    from hermes_tool_kanban.values import Task

__all__ = ["tasks_route"]

_LARGEST = 200_000  # bytes of a body
_TEXTS = ("title", "body", "board", "assignee", "reviewer", "mark", "text")
_VERBS = ("block", "unblock", "promote", "complete", "approve", "reject", "reclaim", "archive", "reopen", "comment")


class _NoMethod(Exception):
    """Nothing is done by this method here."""


def tasks_route(ctx: PluginContext) -> Routes:
    """The route ``tasks``: GET and POST; below it /ID with GET, and POST to /ID/VERB with a ``text``."""

    async def app(
        scope: MutableMapping[str, Any],
        receive: Callable[[], Awaitable[MutableMapping[str, Any]]],
        send: Callable[[MutableMapping[str, Any]], Awaitable[None]],
    ) -> None:
        from hermes_tool_kanban.actions import Door

        door = Door(ctx, scope["hermes.owner"])  # who asks may be a program that was told what to say
        path = str(scope["path"]).removeprefix(str(scope.get("root_path") or ""))
        words = [one for one in path.split("/") if one]
        asked = {
            name: values[-1] for name, values in parse_qs(scope.get("query_string", b"").decode("latin-1")).items()
        }
        try:
            said = _texts(await _body(receive)) if scope["method"] == "POST" else asked
            await door.admit()
            status, answer = await _answer(door, str(scope["method"]), words, said)
        except _NoMethod:
            status, answer = 405, {"error": "That cannot be done here."}
        except UnknownName as error:
            status, answer = 404, {"error": error.text}
        except UserError as error:
            status, answer = 400, {"error": error.text, "hint": error.hint}
        data = b"" if scope["method"] == "HEAD" else json.dumps(answer, ensure_ascii=False).encode(errors="replace")
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(data)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": data})

    return Routes(name="tasks", app=app)


async def _body(receive: Callable[[], Awaitable[MutableMapping[str, Any]]]) -> Mapping[str, Any]:
    data, more = b"", True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise UserError("The request did not come whole.")
        data, more = data + message.get("body", b""), message.get("more_body", False)
        if len(data) > _LARGEST:
            raise UserError(f"That is too long: {_LARGEST:,} bytes are the most.")
    try:
        said = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        raise UserError("The body is no JSON.") from None
    if not isinstance(said, dict):
        raise UserError("The body is no JSON object.")
    return said


def _texts(said: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a body says, each of its kind. Raises UserError."""
    for name, value in said.items():
        if name == "parents":
            sound = isinstance(value, list) and all(isinstance(one, str) for one in value)
        elif name == "priority":
            sound = isinstance(value, int) and not isinstance(value, bool)
        else:
            sound = name in _TEXTS and isinstance(value, str)
        if not sound:
            raise UserError(f"{name!r} is not set here, or not of its kind.")
    return said


async def _answer(door: "Door", method: str, words: list[str], said: Mapping[str, Any]) -> tuple[int, object]:
    from hermes_tool_kanban import actions
    from hermes_tool_kanban.values import Options
    from hermes_tool_kanban.words import plain

    if not words:
        if method in ("GET", "HEAD"):
            board = await door.board(str(said.get("board", "")))
            there = await door.rows.tasks.list(board.id, status=str(said.get("status", "")))
            return 200, {"board": board.slug, "tasks": [plain(one) for one in there]}
        if method != "POST":
            raise _NoMethod
        own = {
            name: said[name] for name in ("body", "board", "assignee", "mark", "priority", "parents") if name in said
        }
        options = Options(reviewer=said.get("reviewer", ""))
        task, new = await actions.create(door, said.get("title", ""), options=options, **own)
        return 201 if new else 200, plain(task)
    task = await door.task(words[0])
    if len(words) == 1:
        if method not in ("GET", "HEAD"):
            raise _NoMethod
        return 200, await _whole(door, task)
    if method != "POST" or len(words) != 2:
        raise _NoMethod
    if words[1] not in _VERBS:
        raise UnknownName("verb", words[1], _VERBS)
    return 200, plain(await _sent(door, task, words[1], str(said.get("text", ""))))


async def _whole(door: "Door", task: "Task") -> Mapping[str, Any]:
    from attrs import asdict

    from hermes_tool_kanban.words import plain

    rows = door.rows.tasks
    parents, children = await rows.family(task.id)
    return {
        **plain(task), "parents": [one.id for one in parents], "children": [one.id for one in children],
        "runs": [asdict(one) for one in await rows.runs(task.id)],
        "comments": [asdict(one) for one in await rows.comments(task.id)],
    }  # fmt: skip


async def _sent(door: "Door", task: "Task", verb: str, text: str) -> "Task":
    from hermes_tool_kanban import actions

    moves = door.rows.moves
    if verb in ("comment", "unblock", "reject") and text:
        await actions.comment(door, task, text)
    if verb == "comment":
        return await door.task(task.id)
    if verb == "archive":
        return (await actions.archive(door, task))[0]
    if verb in ("block", "reject"):
        if not text:
            raise UserError("Say why, as text.")
        return await (moves.block(task, text) if verb == "block" else moves.reject(task, text))
    if verb == "complete":
        return await moves.complete(task, text)
    ways = {"unblock": moves.unblock, "promote": moves.promote, "approve": moves.approve, "reclaim": moves.reclaim,
            "reopen": moves.reopen}  # fmt: skip
    return await ways[verb](task)
