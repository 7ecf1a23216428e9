"""What a key does to a task on a board, whichever screen it is pressed on."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from hermes_core.errors import UserError
from hermes_tool_kanban.values import MOVES, Task

if TYPE_CHECKING:
    from hermes_tool_kanban.actions import Door

__all__ = ["ASKS", "SURE", "VERBS", "goes", "press", "send_to"]

VERBS: Mapping[str, str] = {
    "m": "make it mine",
    "p": "promote", "b": "block", "u": "unblock", "a": "approve", "r": "reject", "c": "complete", "t": "take back",
    "o": "reopen", "x": "archive",
}  # fmt: skip
ASKS: Mapping[str, str] = {"b": "Why is it blocked?", "u": "Your answer?", "r": "What is wrong?"}
SURE: Mapping[str, str] = {"x": "Archive it?"}


async def press(door: "Door", key: str, words: str, text: str = "") -> str:
    """Do what a key says to a task, with what a person typed; what became of it. Raises UserError, UnknownName."""
    from hermes_tool_kanban import actions

    moves, task = door.rows.moves, await door.task(words)
    if key in ("u", "r") and text and task.status == ("blocked" if key == "u" else "review"):
        await actions.comment(door, task, text)
    ways: Mapping[str, Callable[[], Awaitable[Task]]] = {
        "m": lambda: door.rows.claims.take(task, door.owner.person),
        "p": lambda: moves.promote(task),
        "b": lambda: moves.block(task, text or "a person said so"),
        "u": lambda: moves.unblock(task),
        "a": lambda: moves.approve(task),
        "r": lambda: moves.reject(task, text or "no"),
        "c": lambda: moves.complete(task),
        "t": lambda: moves.reclaim(task),
        "o": lambda: moves.reopen(task),
    }
    if key == "x":
        _, stays = await actions.archive(door, task)
        return stays or f"{task.id} is archived."
    return f"{task.id} is {(await ways[key]()).status} now."


_BY_HAND = {  # from where to where a person moves a card, and the key that does so
    "triage": {"ready": "p"},
    "scheduled": {"ready": "p"},
    "ready": {"running": "m"},
    "running": {"ready": "t"},
    "blocked": {"ready": "u"},
    "review": {"ready": "r", "done": "a"},
    "done": {"ready": "o"},
}


def goes(task: Task) -> list[str]:
    """Return the columns that a person may move a task to. Some have it claimed, reviewed or scheduled instead."""
    ways = {**{status: "" for status in ("triage",) if status in MOVES[task.status]}, **_BY_HAND.get(task.status, {})}
    for status, key in (("blocked", "b"), ("done", "c")):
        if status in MOVES[task.status]:
            ways.setdefault(status, key)
    return list(ways)


async def send_to(door: "Door", words: str, status: str) -> str:
    """Move a task to another column; what became of it. Raises UserError, UnknownName."""
    task = await door.task(words)
    if status not in goes(task):
        raise UserError(f"{task.id} is {task.status} by now, and is not moved to {status} by hand.")
    if status == "triage":
        return f"{task.id} is {(await door.rows.moves.triage(task)).status} now."
    key = _BY_HAND.get(task.status, {}).get(status) or {"blocked": "b", "done": "c"}[status]
    return await press(door, key, task.id)
