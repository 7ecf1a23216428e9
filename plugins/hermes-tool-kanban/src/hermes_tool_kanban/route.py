"""Tasks over HTTP, for who has a key of the API: ``/api/tasks``. Their boards are in ``boards_route``."""

from collections.abc import Mapping
from typing import Any

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_core.types import Routes
from hermes_tool_kit.json_route import Asked, NoMethod, Operation, json_route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_tool_kanban.actions import Door
    from hermes_tool_kanban.values import Task

__all__ = ["tasks_route"]

_TEXTS = ("title", "body", "board", "assignee", "reviewer", "mark", "text", "tenant")
_NUMBERS = ("priority", "seconds", "calls", "retries")
_VERBS = ("block", "unblock", "promote", "complete", "approve", "reject", "reclaim", "archive", "reopen", "comment",
          "assign", "link", "unlink")  # fmt: skip
_NEW = {**dict.fromkeys((*_TEXTS[:-2], "tenant"), "string"), **dict.fromkeys(_NUMBERS, "integer"), "parents": "strings",
        "triage": "boolean"}  # fmt: skip
_OPERATIONS = (
    Operation(method="GET", path="", name="listTasks", summary="The tasks of a board.",
              query=dict.fromkeys(("board", "status", "assignee", "tenant"), "string")),
    Operation(method="POST", path="", name="createTask", status=201, fields=_NEW, needed=("title",),
              summary="Puts a task on a board. The same mark makes it once, and then answers 200."),
    Operation(method="GET", path="/{id}", name="getTask", summary="All about a task."),
    *(Operation(method="POST", path=f"/{{id}}/{verb}", name=f"{verb}Task", fields={"text": "string"},
                summary=f"As `hermes kanban {verb}`.") for verb in _VERBS),
)  # fmt: skip


def tasks_route(ctx: PluginContext) -> Routes:
    """The route ``tasks``: GET and POST; below it /ID with GET, and POST to /ID/VERB with a ``text``.

    Of ``assign`` the text is a worker, of ``link`` and ``unlink`` the task that it waits for.
    """

    async def answer(asked: Asked) -> tuple[int, object]:
        from hermes_tool_kanban.actions import Door

        door = Door(ctx, asked.owner)  # who asks may be a program that was told what to say
        said = _texts(asked.body) if asked.method == "POST" else asked.query
        await door.admit()
        return await _answer(door, asked, said)

    return json_route("tasks", answer, _OPERATIONS)


def _texts(said: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a body says, each of its kind. Raises UserError."""
    for name, value in said.items():
        if name == "parents":
            sound = isinstance(value, list) and all(isinstance(one, str) for one in value)
        elif name == "triage":
            sound = isinstance(value, bool)
        elif name in _NUMBERS:
            sound = isinstance(value, int) and not isinstance(value, bool)
        else:
            sound = name in _TEXTS and isinstance(value, str)
        if not sound:
            raise UserError(f"{name!r} is not set here, or not of its kind.")
    return said


async def _answer(door: "Door", asked: Asked, said: Mapping[str, Any]) -> tuple[int, object]:
    from hermes_tool_kanban import actions
    from hermes_tool_kanban.values import Options
    from hermes_tool_kanban.words import plain

    method, words = asked.method, asked.words
    if not words:
        if asked.reads:
            if strange := said.keys() - _OPERATIONS[0].query.keys():  # else one who is misspelt would see all
                raise UserError(f"{min(strange)[:80]!r} is nothing to look for tasks by.")
            board = await door.board(str(said.get("board", "")))
            tenant = str(said["tenant"]) if "tenant" in said else None
            status, assignee = str(said.get("status", "")), str(said.get("assignee", ""))
            there = await door.rows.tasks.list(board.id, status=status, assignee=assignee, tenant=tenant)
            return 200, {"board": board.slug, "tasks": [plain(one) for one in there]}
        if method != "POST":
            raise NoMethod
        own = {
            name: said[name] for name in ("body", "board", "assignee", "mark", "priority", "parents") if name in said
        }
        kept = {name: said[name] for name in ("reviewer", "tenant", "seconds", "calls", "retries") if name in said}
        task, new = await actions.create(
            door, said.get("title", ""), options=Options(**kept), status="triage" if said.get("triage") else "todo",
            **own,
        )  # fmt: skip
        return 201 if new else 200, plain(task)
    task = await door.task(words[0])
    if len(words) == 1:
        if not asked.reads:
            raise NoMethod
        return 200, await _whole(door, task)
    if method != "POST" or len(words) != 2:
        raise NoMethod
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
    if verb == "assign":
        return await moves.assign(task, text)
    if verb in ("link", "unlink"):
        join = door.rows.tasks.link if verb == "link" else door.rows.tasks.unlink
        return await join((await door.task(text)).id, task.id, door.owner.person)
    ways = {"unblock": moves.unblock, "promote": moves.promote, "approve": moves.approve, "reclaim": moves.reclaim,
            "reopen": moves.reopen}  # fmt: skip
    return await ways[verb](task)
