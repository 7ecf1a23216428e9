"""Rooms over HTTP, for the owner of this Hermes: ``/api/rooms``."""

from collections.abc import Mapping
from typing import Any

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import Routes
from hermes_tool_kit.json_route import Asked, NoMethod, Operation, json_route

__all__ = ["rooms_route"]

_NEW, _SAID = {"name": "string", "agents": "strings"}, {"text": "string", "mark": "string"}
_OPERATIONS = (
    Operation(method="GET", path="", name="listRooms", summary="The rooms there are."),
    Operation(method="POST", path="", name="createRoom", summary="Makes a room for agents of other profiles.",
              status=201, fields=_NEW, needed=("name", "agents")),
    Operation(method="GET", path="/{name}", name="getRoom", summary="A room, and what was said in it last."),
    Operation(method="DELETE", path="/{name}", name="removeRoom", summary="Takes a room away."),
    Operation(method="POST", path="/{name}/messages", name="sayInRoom", fields=_SAID, needed=("text",),
              summary="Says something, and waits for the answers of whom it names. The same mark says it once."),
)  # fmt: skip


def rooms_route(ctx: PluginContext) -> Routes:
    """The route ``rooms``: GET and POST; below it /NAME with GET and DELETE, and POST to /NAME/messages."""

    async def answer(asked: Asked) -> tuple[int, object]:
        from hermes_tool_peers import rooms

        method, words = asked.method, asked.words
        if asked.owner != ctx.owner:
            raise UserError("Other profiles are the owner's.")
        if not words and asked.reads:
            return 200, {"rooms": [*await rooms.names(ctx)]}
        if not words and method == "POST":
            said = _sound(asked.body, _NEW)
            return 201, await rooms.make(ctx, said.get("name", ""), said.get("agents", []))
        if len(words) == 1 and asked.reads:
            return 200, await rooms.get(ctx, words[0])
        if len(words) == 1 and method == "DELETE":
            await rooms.remove(ctx, words[0])
            return 200, {"removed": words[0]}
        if len(words) == 2 and words[1] == "messages" and method == "POST":
            said = _sound(asked.body, _SAID)
            return 200, {"messages": await rooms.say(ctx, words[0], said.get("text", ""), said.get("mark", ""))}
        raise NoMethod

    return json_route("rooms", answer, _OPERATIONS)


def _sound(said: Mapping[str, Any], kinds: Mapping[str, str]) -> Mapping[str, Any]:
    """Return what a body says, each of its kind. Raises UserError."""
    for name, value in said.items():
        text = isinstance(value, str)
        texts = isinstance(value, list) and all(isinstance(one, str) for one in value)
        if not {"string": text, "strings": texts}.get(kinds.get(name, ""), False):
            raise UserError(f"{name!r} is not set here, or not of its kind.")
    return said
