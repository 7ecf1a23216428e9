"""Boards over HTTP, for who has a key of the API: ``/api/boards``."""

from collections.abc import Mapping
from typing import Any

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import Routes
from hermes_tool_kit.json_route import Asked, NoMethod, Operation, json_route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_tool_kanban.actions import Door
    from hermes_tool_kanban.values import Board

__all__ = ["boards_route"]

_CHANGES = {"name": "string", "usual": "boolean", "archived": "boolean"}
_OPERATIONS = (
    Operation(method="GET", path="", name="listBoards", summary="The boards of the person whose key it is."),
    Operation(method="POST", path="", name="createBoard", summary="Makes a board.", status=201, needed=("slug",),
              fields={"slug": "string", "name": "string", "usual": "boolean"}),
    Operation(method="GET", path="/{slug}", name="getBoard", summary="A board, and how many tasks are where on it."),
    Operation(method="PATCH", path="/{slug}", name="changeBoard", fields=_CHANGES,
              summary="Gives it a name, makes it the usual one, puts it away with its tasks, or takes it out again."),
)  # fmt: skip


def boards_route(ctx: PluginContext) -> Routes:
    """The route ``boards``: GET and POST; below it /SLUG with GET and PATCH. No folder is set over HTTP."""

    async def answer(asked: Asked) -> tuple[int, object]:
        from hermes_tool_kanban.actions import Door

        door = Door(ctx, asked.owner)
        await door.admit()
        return await _answer(door, asked)

    return json_route("boards", answer, _OPERATIONS)


async def _answer(door: "Door", asked: Asked) -> tuple[int, object]:
    from hermes_tool_kanban.actions import make_board

    method, words, said = asked.method, asked.words, asked.body
    if not words:
        if asked.reads:
            await door.board()  # everybody has one
            return 200, {"boards": [_plain(one) for one in await door.rows.boards.list(door.owner.person)]}
        if method != "POST":
            raise NoMethod
        given = _sound(said, _OPERATIONS[1].fields)
        made = await make_board(
            door, given.get("slug", ""), name=given.get("name", ""), switch=given.get("usual", False)
        )
        return 201, _plain(made)
    known = await door.rows.boards.list(door.owner.person, archived=True)  # else none could be taken out again
    board = next((one for one in known if one.slug == words[0]), None) or await door.board(words[0])
    if len(words) != 1 or not (asked.reads or method == "PATCH"):
        raise NoMethod
    if asked.reads:
        there = await door.rows.tasks.list(board.id)
        counts = {status: sum(one.status == status for one in there) for status in {one.status for one in there}}
        return 200, {**_plain(board), "tasks": counts}
    given = _sound(said, _CHANGES)
    if given.get("usual") is False:
        raise UserError("Make another one the usual board instead.")
    if given.get("usual") and given.get("archived", board.archived):
        raise UserError("A board that is put away is not the usual one.")
    values = {name: door.ctx.masks.text(value) if name == "name" else value for name, value in given.items()
              if name != "usual"}  # fmt: skip
    if values:
        board = await door.rows.boards.change(board, **values)
    if given.get("usual"):
        board = await door.rows.boards.switch(board)
    return 200, _plain(board)


def _sound(said: Mapping[str, Any], kinds: Mapping[str, str]) -> Mapping[str, Any]:
    """Return what a body says, each of its kind. Raises UserError."""
    for name, value in said.items():
        kind = {"string": str, "boolean": bool}.get(kinds.get(name, ""))
        if kind is None or not isinstance(value, kind):
            raise UserError(f"{name!r} is not set here, or not of its kind.")
    if len(str(said.get("name", ""))) > 200:
        raise UserError("That is too long: 200 characters are the most of a name.")
    return said


def _plain(board: "Board") -> Mapping[str, Any]:
    return {"slug": board.slug, "name": board.name, "usual": board.current, "archived": board.archived}
