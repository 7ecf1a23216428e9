"""The jobs over HTTP, for who has a key of the API: ``/api/jobs``."""

from collections.abc import Mapping
from typing import Any

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_core.types import Routes
from hermes_tool_kit.json_route import Asked, NoMethod, Operation, json_route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_tool_cron.actions import Door

__all__ = ["jobs_route"]

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
_FIELDS = {
    **dict.fromkeys((*_OWN, *_TEXTS), "string"),
    **dict.fromkeys(_LISTS, "strings"),
    **{name: "integer" if kind is int else "number" for name, kind in _NUMBERS.items()},
    "no_agent": "boolean",
    "thread": "boolean",
}
_OPERATIONS = (
    Operation(method="GET", path="", name="listJobs", summary="The jobs of the person whose key it is."),
    Operation(method="POST", path="", name="createJob", summary="Has something done at its times.", status=201,
              fields=_FIELDS, needed=("schedule",)),
    Operation(method="GET", path="/{name}", name="getJob", summary="All about a job, with its next instants."),
    Operation(method="PATCH", path="/{name}", name="changeJob", summary="Changes it: what is not said stays.",
              fields=_FIELDS),
    Operation(method="DELETE", path="/{name}", name="removeJob", summary="Takes it away, with its history."),
    Operation(method="GET", path="/{name}/runs", name="listJobRuns", summary="What became of each instant."),
    Operation(method="POST", path="/{name}/run", name="runJob", summary="Runs it now, beside its times.", status=202),
    Operation(method="POST", path="/{name}/pause", name="pauseJob", summary="Lets it rest."),
    Operation(method="POST", path="/{name}/resume", name="resumeJob", summary="Lets it go on from its next instant."),
)  # fmt: skip


def jobs_route(ctx: PluginContext) -> Routes:
    """The route ``jobs``: GET and POST; below it /NAME with GET, PATCH, DELETE, and /NAME/runs, pause, resume, run."""

    async def answer(asked: Asked) -> tuple[int, object]:
        from hermes_tool_cron.actions import Door

        door = Door(ctx, asked.owner)
        await door.admit()
        return await _answer(door, asked)

    return json_route("jobs", answer, _OPERATIONS)


async def _answer(door: "Door", asked: Asked) -> tuple[int, object]:
    from attrs import asdict

    from hermes_tool_cron import actions
    from hermes_tool_cron.values import Options

    method, words, body = asked.method, asked.words, asked.body
    if not words:
        if asked.reads:
            return 200, {"jobs": [actions.told(one) for one in await door.rows.list(door.owner.person)]}
        if method != "POST":
            raise NoMethod
        changes = _changes(body)
        own = {name: changes.pop(name, "") for name in _OWN}
        job = await actions.create(
            door, own["schedule"], own["prompt"], name=own["name"], zone=own["zone"], options=Options(**changes)
        )
        return 201, actions.told(job)
    # What is only proposed is looked at, changed and taken away here; it does nothing before a person accepted it.
    job = await actions.find(door, words[0], proposed=len(words) == 1)
    if len(words) == 1:
        if asked.reads:
            return 200, actions.told(job)
        if method == "PATCH":
            return 200, actions.told(await actions.edit(door, job, _changes(body)))
        if method != "DELETE":
            raise NoMethod
        await actions.remove(door, job)
        return 200, {"removed": job.id}
    if list(words[1:]) == ["runs"] and asked.reads:
        return 200, {"runs": [asdict(one) for one in await door.rows.runs(door.owner.person, job.id)]}
    if method != "POST" or len(words) != 2:
        raise NoMethod
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
        elif name in ("no_agent", "thread"):
            wanted = isinstance(value, bool)
        else:
            raise UserError(f"A job has no {name!r} that is set here.")
        if not wanted:
            raise UserError(f"{name} is not of its kind.")
        found[name] = tuple(value) if name in _LISTS else value
    return found
