"""``/kanban``: a person sees to their boards from any conversation."""

from collections.abc import Awaitable, Callable, Sequence

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import Choice, Session, SlashCommand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_tool_kanban.actions import Door
    from hermes_tool_kanban.values import Board, Task

__all__ = ["slash_command"]

_VERBS = ("list", "board", "add", "show", "comment", "block", "unblock", "approve", "reject", "assign", "promote",
          "claim", "release",
          "done", "archive", "reopen", "boards", "switch")  # fmt: skip
_FEW = 10  # tasks of a column that a chat is shown


def slash_command(ctx: PluginContext) -> SlashCommand:
    """The command; the manifest says where, and for whom."""

    async def run(session: Session, rest: str) -> str:
        from hermes_tool_kanban.chats import door_at

        door = door_at(ctx, session)
        await door.admit()
        return await _do(door, rest.strip())

    async def options(session: Session, rest: str) -> Sequence[Choice]:
        from hermes_tool_kanban.chats import door_at

        verb, space, _ = rest.lstrip().partition(" ")
        if not space:
            return [Choice(text=one) for one in _VERBS]
        if verb in ("list", "board", "add", "boards", "switch"):
            return []
        door = door_at(ctx, session)
        await door.admit()
        there = await door.rows.tasks.list((await door.board()).id)
        return [Choice(text=f"{verb} {one.id}", summary=one.title) for one in there[:50]]

    return SlashCommand(name="kanban", run=run, options=options, confirm=_asked)


def _asked(rest: str) -> str:
    verb, _, task = rest.strip().partition(" ")
    return f"The task {task.strip()} would be archived; who works on it is stopped." if verb == "archive" else ""


async def _do(door: "Door", rest: str) -> str:
    from hermes_tool_kanban import actions
    from hermes_tool_kanban.words import line

    verb, _, said = rest.partition(" ")
    said = said.strip()
    await door.allow(verb if verb in _VERBS or verb in ("create", "complete") else "show")
    if verb in ("", "list"):
        there = [one for one in await door.rows.tasks.list((await door.board(said)).id) if one.status != "done"]
        return "\n".join(map(line, there)) or "There is nothing to do. /kanban add TITLE | WHAT IS TO BE DONE"
    if verb == "board":
        return await _columns(door, said)
    if verb in ("add", "create"):
        title, _, body = said.partition("|")
        task, _ = await actions.create(door, title, body=body)
        return f"{line(task)}\n{await actions.running(door, task)}".strip()
    if verb == "boards":
        return "\n".join(f"{'* ' if one.current else '  '}{one.slug}" for one in await _boards(door))
    if verb == "switch":
        return f"{(await door.rows.boards.switch(await door.board(said))).slug} is the usual board now."
    name, _, text = said.partition(" ")
    todo: dict[str, Callable[[Task, str], Awaitable[Task]]] = {
        "block": lambda task, why: door.rows.moves.block(task, why or "a person said so"),
        "unblock": lambda task, text: _unblock(door, task, text),
        "approve": lambda task, _: door.rows.moves.approve(task),
        "reject": lambda task, why: _reject(door, task, why),
        "assign": door.rows.moves.assign,
        "promote": lambda task, _: door.rows.moves.promote(task),
        "claim": lambda task, _: door.rows.claims.take(task, door.author),
        "release": lambda task, _: door.rows.claims.release(task),
        "done": door.rows.moves.complete,
        "complete": door.rows.moves.complete,
        "reopen": lambda task, _: door.rows.moves.reopen(task),
    }
    if verb in todo:
        task = await door.task(name)
        await door.allow(verb, task)
        return line(await todo[verb](task, text.strip()))
    if verb == "comment":
        task = await door.task(name)
        await door.allow(verb, task)
        await actions.comment(door, task, text)
        return "Kept."
    if verb == "archive":
        task = await door.task(name)
        await door.allow(verb, task)
        gone, stays = await actions.archive(door, task)
        return f"{line(gone)}\n{stays}".strip()
    return await _shown(door, name if verb == "show" else verb)


async def _columns(door: "Door", board: str) -> str:
    """Return a board as a chat can show it: each column with its first tasks."""
    from hermes_tool_kanban.picture import columns_of
    from hermes_tool_kanban.words import flat

    columns = columns_of(await door.rows.tasks.list((await door.board(board)).id))
    parts = []
    for status, tasks in columns.items():
        lines = [
            f"{one.id} {flat(one.title, 80)}{f' · {one.assignee}' if one.assignee else ''}" for one in tasks[:_FEW]
        ]
        more = [f"… {len(tasks) - _FEW} more"] if len(tasks) > _FEW else []
        parts.append("\n".join([f"**{status} {len(tasks)}**", *lines, *more]))
    return "\n\n".join(parts)


async def _boards(door: "Door") -> "Sequence[Board]":
    await door.board()
    return await door.rows.boards.list(door.owner.person)


async def _unblock(door: "Door", task: "Task", text: str) -> "Task":
    from hermes_tool_kanban import actions

    if text:
        await actions.comment(door, task, text)
    return await door.rows.moves.unblock(task)


async def _reject(door: "Door", task: "Task", why: str) -> "Task":
    from hermes_tool_kanban import actions

    if not why:
        raise UserError("Say what is wrong.", hint=f"/kanban reject {task.id} WHY")
    await actions.comment(door, task, why)
    return await door.rows.moves.reject(task, why)


async def _shown(door: "Door", name: str) -> str:
    from hermes_tool_kanban.words import about

    task, rows = await door.task(name), door.rows.tasks
    parents, children = await rows.family(task.id)
    return about(task, parents, children, await rows.runs(task.id, limit=5), await rows.comments(task.id, 10),
                 await rows.files(task.id))  # fmt: skip
