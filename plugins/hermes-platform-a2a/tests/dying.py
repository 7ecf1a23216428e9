"""An agent is asked, in a process that may be killed at any write. Prints what each message was answered with."""

import asyncio
import json
from pathlib import Path

from hermes_core.testing import serve
from hermes_core.testing.bench import Bench
from hermes_core.testing.forks import serve as forks
from hermes_core.types import Principal


async def ask(home: str, many: int) -> None:
    """Send so many messages, each with an id of its own; then say what tasks and turns there are."""
    kernel = Bench(Path(home))
    kernel.tmp_plugin("hermes_platform_a2a")
    kernel.tmp_plugin("hermes_platform_mcp_serve")  # it may list sessions
    kernel.tmp_plugin("hermes_provider_offline")
    async with kernel:
        runtime = kernel.runtime
        runtime.loader.load_contributing("routes")
        (route,) = (one for _, one in runtime.dispatch.contributions("register_routes") if one.name == "agent")
        ctx, headers = kernel.context("hermes_platform_a2a"), {"a2a-version": "1.0"}

        async def post(path: str, given: object) -> dict[str, object]:
            body = json.dumps(given).encode()
            answer = await serve(route, "POST", path, body=body, headers=headers, owner=Principal())
            return dict(json.loads(answer.body))

        for number in range(many):
            message = {"messageId": f"m{number}", "role": "ROLE_USER", "parts": [{"text": f"Question {number}"}]}
            answer = await post("/message:send", {"message": message})
            task = answer.get("task", answer)
            print(json.dumps(["task", number, task.get("id"), task.get("status", {}).get("state")]), flush=True)
        found = await serve(route, "GET", "/tasks?pageSize=100", headers=headers, owner=Principal())
        for task in json.loads(found.body)["tasks"]:
            past = await ctx.turns.past(task["id"])
            print(json.dumps(["row", task["id"], task["status"]["state"], past.state if past else ""]), flush=True)
        for row in await kernel.context("hermes_platform_mcp_serve").sessions.recent(Principal(), limit=100):
            print(json.dumps(["session", row.id]), flush=True)


def play(**order: object) -> None:
    asyncio.run(ask(**order))  # type: ignore[arg-type]


if __name__ == "__main__":
    forks(play)
