"""Something that is watched changes, again and again, in processes that may be killed."""

import asyncio
import json
from pathlib import Path

from hermes_core.testing.bench import Bench
from hermes_core.testing.forks import serve
from hermes_tool_watch.values import Watch
from hermes_tool_watch.watching import Watching, rows_of


async def look(home: str, upto: int) -> None:
    """Let it change until there are so many files, one at a time, and look after each; then say what there is."""
    kernel = Bench(Path(home))
    kernel.tmp_plugin("hermes_tool_watch")
    kernel.tmp_plugin("hermes_provider_offline")
    inbox = Path(home).with_name("inbox")
    inbox.mkdir(exist_ok=True)
    async with kernel:
        runtime = kernel.runtime
        runtime.loader.load_contributing("services")
        (service,) = (
            one for _, one in runtime.dispatch.contributions("register_services") if isinstance(one, Watching)
        )
        rows = rows_of(service.ctx)
        if await rows.watch("it") is None:
            known = {"kind": "path", "what": str(inbox), "prompt": "Say it.", "every": 0.0, "settle": 0.0}
            await rows.put(Watch(name="it", **known))  # type: ignore[arg-type]
        await service.round()
        for number in range(upto):
            (inbox / f"file-{number}").touch()
            await service.round()
        for change in await rows.log():
            past = await service.ctx.turns.past(change.event)
            text = past.message.parts[1].text if past else ""
            print(json.dumps(["change", change.state, change.session, text]), flush=True)
        for session in await service.ctx.turns.interrupted():
            print(json.dumps(["turn", session]), flush=True)


def play(**order: object) -> None:
    asyncio.run(look(**order))  # type: ignore[arg-type]


if __name__ == "__main__":
    serve(play)
