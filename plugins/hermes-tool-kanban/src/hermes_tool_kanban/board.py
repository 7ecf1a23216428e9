"""The board in the full screen: ``/kanban board``, live, with its tasks moved by keys."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hermes_tool_kanban.keys import ASKS, SURE, VERBS, goes, press, send_to
from hermes_tool_kanban.values import PERSON, Task
from hermes_tool_kit.screens import Card, Column, Key, Picture, Screen, Tone

if TYPE_CHECKING:
    from hermes_core.context import PluginContext
    from hermes_tool_kanban.actions import Door

__all__ = ["BoardScreen"]

_TONES: dict[str, Tone] = {
    "running": "busy", "blocked": "bad", "review": "waits", "done": "good", "scheduled": "quiet", "triage": "quiet",
}  # fmt: skip
_DONE = 100  # tasks that are done and still shown, the last of them


class BoardScreen(Screen):
    """The usual board of whose Hermes it is. What it shows is read anew only where something changed."""

    name = "board"
    title = "Board"
    every = 1.0
    keys = tuple(Key(key=key, does=does, asks=ASKS.get(key, ""), sure=SURE.get(key, "")) for key, does in VERBS.items())

    def __init__(self, ctx: "PluginContext") -> None:
        self._ctx = ctx
        self._seen: tuple[object, ...] = ()
        self._picture = Picture(columns=())

    def _door(self) -> "Door":
        from hermes_tool_kanban.actions import Door

        return Door(self._ctx, self._ctx.owner, written=True)

    async def picture(self) -> Picture:
        from hermes_tool_kanban.actions import standing
        from hermes_tool_kanban.picture import columns_of

        door = self._door()
        board = await door.board()
        seen = (board, await door.rows.boards.state(board.id))
        if seen != self._seen:
            there = await door.rows.tasks.list(board.id)
            why = "; ".join(await standing(door, there))
            shown = {"triage": [], **columns_of(there)}  # always there, as a card can be moved to it
            columns = [_column(status, tasks) for status, tasks in shown.items()]
            note = " · ".join(filter(None, (f"{board.name or board.slug}: {len(there)} tasks", why)))
            self._picture = Picture(columns=columns, note=note)
            self._seen = () if why else seen  # who works on them may come at any time
        return self._picture

    async def about(self, card: str) -> str:
        from hermes_tool_kanban.words import about

        door = self._door()
        task, rows = await door.task(card), door.rows.tasks
        parents, children = await rows.family(task.id)
        return about(task, parents, children, await rows.runs(task.id, limit=5), await rows.comments(task.id, 10),
                     await rows.files(task.id), await rows.events(task=task.id, limit=20))  # fmt: skip

    async def press(self, key: str, card: str, text: str = "") -> str:
        return await press(self._door(), key, card, text)

    async def move(self, card: str, column: str) -> str:
        return await send_to(self._door(), card, column)


def _column(status: str, tasks: Sequence[Task]) -> Column:
    shown = tasks[:_DONE] if status == "done" else tasks
    title = f"{status} of {len(tasks)}:" if len(shown) < len(tasks) else status
    return Column(id=status, title=title, cards=[_card(one) for one in shown], tone=_TONES.get(status, ""))


def _card(task: Task) -> Card:
    waits = "you" if task.status == "review" and task.options.reviewer == PERSON else ""
    note = " · ".join(filter(None, (task.id, task.assignee, waits, task.error if task.status != "done" else "")))
    return Card(id=task.id, title=task.title, note=note, tone=_TONES.get(task.status, ""), goes=goes(task))
