"""The jobs over HTTP, for who has a key of the API: ``/tool/cron/jobs``."""

import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_core.types import Routes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_tool_cron.actions import Door

__all__ = ["jobs_route"]

_LARGEST = 200_000  # bytes of a body
_OWN = ("name", "schedule", "zone", "prompt")
_LISTS = ("deliver", "skills", "context", "tools")
_NUMBERS: Mapping[str, type | tuple[type, ...]] = {
    "repeat": int,
    "jitter": int,
    "grace": int,
    "calls": int,
    "money": (int, float),
}
_TEXTS = ("model", "effort", "script")


class _NoMethod(Exception):
    """Nothing is done by this method here."""


def jobs_route(ctx: PluginContext) -> Routes:
    """The route ``jobs``: GET and POST; below it /NAME with GET, PATCH, DELETE, and /NAME/runs, pause, resume, run."""

    async def app(
        scope: MutableMapping[str, Any],
        receive: Callable[[], Awaitable[MutableMapping[str, Any]]],
        send: Callable[[MutableMapping[str, Any]], Awaitable[None]],
    ) -> None:
        from hermes_tool_cron.actions import Door

        door = Door(ctx, scope["hermes.owner"])
        path = str(scope["path"]).removeprefix(str(scope.get("root_path") or ""))
        words = [one for one in path.split("/") if one]
        try:
            body = await _body(receive) if scope["method"] in ("POST", "PATCH") else {}
            await door.admit()
            status, said = await _answer(door, str(scope["method"]), words, body)
        except _NoMethod:
            status, said = 405, {"error": "That cannot be done here."}
        except UnknownName as error:
            status, said = 404, {"error": error.text}
        except UserError as error:
            status, said = 400, {"error": error.text, "hint": error.hint}
        data = b"" if scope["method"] == "HEAD" else json.dumps(said, ensure_ascii=False).encode(errors="replace")
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(data)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": data})

    return Routes(name="jobs", app=app)


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


async def _answer(door: "Door", method: str, words: list[str], body: Mapping[str, Any]) -> tuple[int, object]:
    from attrs import asdict

    from hermes_tool_cron import actions
    from hermes_tool_cron.values import Options

    if not words:
        if method in ("GET", "HEAD"):
            return 200, {"jobs": [actions.told(one) for one in await door.rows.list(door.owner.person)]}
        if method != "POST":
            raise _NoMethod
        changes = _changes(body)
        own = {name: changes.pop(name, "") for name in _OWN}
        job = await actions.create(
            door, own["schedule"], own["prompt"], name=own["name"], zone=own["zone"], options=Options(**changes)
        )
        return 201, actions.told(job)
    # What is only proposed is looked at, changed and taken away here; it does nothing before a person accepted it.
    job = await actions.find(door, words[0], proposed=len(words) == 1)
    if len(words) == 1:
        if method in ("GET", "HEAD"):
            return 200, actions.told(job)
        if method == "PATCH":
            return 200, actions.told(await actions.edit(door, job, _changes(body)))
        if method != "DELETE":
            raise _NoMethod
        await actions.remove(door, job)
        return 200, {"removed": job.id}
    if words[1:] == ["runs"] and method in ("GET", "HEAD"):
        return 200, {"runs": [asdict(one) for one in await door.rows.runs(door.owner.person, job.id)]}
    if method != "POST" or len(words) != 2:
        raise _NoMethod
    if words[1] == "run":
        return 202, asdict(await actions.run_now(door, job))
    if words[1] in ("pause", "resume"):
        moved = await (actions.pause(door, job) if words[1] == "pause" else actions.resume(door, job))
        return 200, actions.told(moved)
    raise UnknownName("action", words[1], ("pause", "resume", "run", "runs"))


def _changes(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a body says of a job, each of its kind. Raises UserError."""
    found: dict[str, Any] = {}
    for name, value in body.items():
        if name in (*_OWN, *_TEXTS):
            wanted = isinstance(value, str)
        elif name in _LISTS:
            wanted = isinstance(value, list) and all(isinstance(one, str) for one in value)
        elif name in _NUMBERS:
            wanted = isinstance(value, _NUMBERS[name]) and not isinstance(value, bool)
        elif name == "no_agent":
            wanted = isinstance(value, bool)
        else:
            raise UserError(f"A job has no {name!r} that is set here.")
        if not wanted:
            raise UserError(f"{name} is not of its kind.")
        found[name] = tuple(value) if name in _LISTS else value
    return found
