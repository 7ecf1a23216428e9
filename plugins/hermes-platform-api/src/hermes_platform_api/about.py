"""What this server is and can do: models, capabilities, skills, toolsets, health."""

import asyncio
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_platform_api.errors import ApiError
from hermes_platform_api.places import holder_of
from hermes_platform_api.service import Service
from hermes_platform_api.shapes import LIMITS
from hermes_platform_api.sse import json_answer
from hermes_platform_api.turn_request import person_of

__all__ = ["capabilities", "detailed", "health", "model", "models", "skills", "toolsets"]

_FEATURES = {
    "chat_completions": True,
    "responses": True,
    "messages": True,
    "runs": True,
    "run_events": True,
    "run_approvals": True,
    "run_stop": True,
    "sessions": True,
    "session_fork": True,
    "streaming": True,
    "tool_progress_events": True,
    "images": True,
    "files": False,
    "client_tools": True,
    "idempotency_keys": True,
    "session_headers": ["X-Hermes-Session-Id", "X-Hermes-Session-Key"],
}


async def health(service: Service, request: Request) -> Response:
    """Whether it is up."""
    return json_answer({"status": "ok"})


async def detailed(service: Service, request: Request) -> Response:
    """Whether it can work, and what it does."""
    ready = await _ready(service.ctx)
    good = all(state == "ok" for state in ready.values())
    places, mine = service.turns.places, person_of(request)
    running = places.of(mine) if holder_of(mine) else places.running  # of others only the owner hears
    turns = {"running": running, "most": service.config.max_turns}
    known = {"version": version("hermes-core"), "uptime_seconds": round(time.time() - service.began, 1)}
    return json_answer({"status": "ok" if good else "degraded", "checks": ready, "turns": turns, **known})


async def models(service: Service, request: Request) -> Response:
    """The names clients may ask for."""
    names = [service.config.model_name, *service.config.models]
    data = [_model(service, name) for name in names]
    return json_answer({"object": "list", "data": data, "has_more": False, "first_id": names[0], "last_id": names[-1]})


async def model(service: Service, request: Request) -> Response:
    """One of them."""
    name = request.path_params["id"]
    if name not in (service.config.model_name, *service.config.models):
        raise ApiError(404, "model_not_found", f"There is no model {name[:80]!r}.", param="model")
    return json_answer(_model(service, name))


async def capabilities(service: Service, request: Request) -> Response:
    """What it can do, and how much of it."""
    limits = {**LIMITS, "concurrent_turns": service.config.max_turns}
    return json_answer({"object": "hermes.capabilities", "features": _FEATURES, "limits": limits})


async def toolsets(service: Service, request: Request) -> Response:
    """The tools that are switched on."""
    found: dict[str, dict[str, str]] = {}
    for row in await service.ctx.plugins.tools("api"):
        if not row.off:
            found.setdefault(row.toolset, {})[row.name] = row.description
    data = [
        {"name": name, "tools": [{"name": tool, "description": text} for tool, text in sorted(tools.items())]}
        for name, tools in sorted(found.items())
    ]
    return json_answer({"object": "list", "data": data})


async def skills(service: Service, request: Request) -> Response:
    """The skills that are there."""
    paths = service.ctx.paths
    found = await asyncio.to_thread(_skills, [paths.home / "skills", *(folder for _, folder in paths.skills)])
    data = [{"name": name, "description": text} for name, text in sorted(found.items())]
    return json_answer({"object": "list", "data": data})


async def _ready(ctx: PluginContext) -> dict[str, str]:
    """What a turn needs, each ``ok`` or what is wrong with it."""
    found = {}
    for name, needed in (("store", partial(ctx.sessions.rows, ctx.owner, limit=1)), ("model", ctx.models.current)):
        try:
            await needed()
            found[name] = "ok"
        except HermesError as error:
            found[name] = ctx.masks.text(error.text)
    return found


def _model(service: Service, name: str) -> dict[str, object]:
    known = {"id": name, "object": "model", "created": int(service.began), "owned_by": "hermes"}
    since = datetime.fromtimestamp(service.began, UTC).isoformat(timespec="seconds")
    return {**known, "type": "model", "display_name": name, "created_at": since}  # both vendors' clients read it


def _skills(folders: Sequence[Path]) -> dict[str, str]:
    """Names and first words of the SKILL.md files in some folders; what cannot be read is left out."""
    found: dict[str, str] = {}
    for folder in folders:
        for file in sorted(folder.glob("**/SKILL.md")):
            try:
                head = file.read_text(encoding="utf-8", errors="replace")[:4000]
            except OSError:
                continue
            said = dict(line.partition(":")[::2] for line in head.splitlines()[:40] if ":" in line)
            name = said.get("name", "").strip().strip("\"'") or file.parent.name
            found.setdefault(name, said.get("description", "").strip().strip("\"'")[:1000])
    return found
