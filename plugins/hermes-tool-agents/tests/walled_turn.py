"""A kernel that has an agent work behind the real wall: prints what came of the call, or is killed before."""

import asyncio
import json
import sys
from pathlib import Path

from hermes_core.testing import Bench, Call, ScriptedProvider
from hermes_core.types import Asked, Returned, Text


async def main(folder: Path, agent: dict, readable: list[str], *tasks: str) -> None:
    place = folder / "place"
    place.mkdir(exist_ok=True)
    hermes = Bench(folder / "home")
    calls = [[Call("agent", {"agent": "other", "task": task}, id=f"c{n}"), "Done."] for n, task in enumerate(tasks)]
    provider = ScriptedProvider([one for pair in calls for one in pair])
    for thing in (provider, "hermes_tool_agents", "hermes_backend_local", "hermes_tool_guard"):
        hermes.tmp_plugin(thing)
    hermes.configure({"terminal.backend": "local", "terminal.cwd": str(place), "backends.local.readable": readable})
    hermes.configure({"tools.agents.known": {"other": agent}})
    try:
        for task in tasks:
            async for event in hermes.runtime.turns.run(task, session="s"):
                if isinstance(event, Asked):
                    print(json.dumps({"asked": event.question.subject}), flush=True)
                if isinstance(event, Returned):
                    text = "".join(part.text for part in event.result.parts if isinstance(part, Text))
                    said = {"text": text, "failed": event.result.failed, "untrusted": event.result.untrusted}
                    print(json.dumps(said), flush=True)
    finally:
        await hermes.close()


asyncio.run(main(Path(sys.argv[1]), json.loads(sys.argv[2]), json.loads(sys.argv[3]), *sys.argv[4:]))
