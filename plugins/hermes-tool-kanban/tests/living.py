"""A dispatcher as a process of its own: a whole kernel that works on a board until it is killed.

What really happens goes into a file that all processes share: who acted for which task, in which claim.
"""

import asyncio
import json
import os
import re
import sys
from pathlib import Path

from hermes_core.kinds import Provider, ToolContext, tool
from hermes_core.testing import Bench
from hermes_core.testing.forks import serve
from hermes_core.types import CallDelta, Done, Model, Text, TextDelta, ToolResult
from hermes_core.values import frozen
from hermes_tool_kanban.actions import Door, create
from hermes_tool_kanban.dispatcher import Dispatcher
from hermes_tool_kanban.playing import store_of

sys.path.insert(0, str(Path(__file__).parent))


@frozen
class Act:
    task: str


class Told(Provider):
    """Acts once for its task, says that it is done, and ends; it reads off the conversation how far it is."""

    name = "told"

    async def models(self):
        return [Model(name="told-1", context=100_000)]

    async def ready(self):
        return True

    def at(self, endpoint):
        return self

    async def stream(self, request):
        text = "\n".join(p.text for m in request.messages for p in m.parts if isinstance(p, Text))
        task = re.search(r"The task (t_\w+):", text)[1]
        steps = sum(isinstance(p, ToolResult) for m in request.messages for p in m.parts)
        if steps >= 2:
            yield TextDelta(text="Bye.")
            yield Done(reason="stop")
            return
        name, given = ("kanban_complete", {"summary": "Acted."}) if steps else ("act", {"task": task})
        yield CallDelta(index=0, id=f"call{steps}", name=name, arguments=json.dumps(given))
        yield Done(reason="tools")


def bench(home: Path, url: str) -> Bench:
    """The kernel on a home, with what acts."""
    truth = home.with_name("truth")

    @tool(name="act", toolset="acts")
    async def act(context: ToolContext, wanted: Act) -> str:
        """Do something that must not happen twice."""
        file = os.open(truth, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(file, f"{wanted.task} {context.session.id}\n".encode())
        os.close(file)
        await asyncio.sleep(0.01)
        return "acted"

    hermes = Bench(home)
    hermes.tmp_plugin(Told(), name="told")
    hermes.tmp_plugin(act, name="acts")
    if url:
        hermes.tmp_plugin("hermes_backend_postgresql")
        hermes.configure({"store.url": url})
    hermes.tmp_plugin("hermes_tool_kanban")
    hermes.configure({"kanban.parallel": 3, "kanban.deaths": 100_000, "kanban.failures": 100_000})
    hermes.runtime.loader.load_contributing("services")
    return hermes


async def live(home: str, url: str, what: str, many: int) -> None:
    hermes = bench(Path(home), url)
    ctx = hermes.context("hermes_tool_kanban")
    try:
        if what == "make":
            door, made = Door(ctx, ctx.owner, written=True), list[str]()
            for number in range(many):
                parents = [made[number // 2], made[number - 1]] if number % 3 else []
                task, _ = await create(door, f"Task {number}", parents=list(dict.fromkeys(parents)))
                made.append(task.id)
            return
        dispatcher, board = Dispatcher(ctx), await store_of(ctx).boards.take(ctx.owner.person)
        while True:
            await dispatcher.once()
            await asyncio.sleep(0.02)
            if what == "finish" and not dispatcher.playing:
                left = [one for one in await store_of(ctx).tasks.list(board.id) if one.status != "done"]
                if not left:
                    return
                for one in left:
                    if one.status == "ready" and one.due:  # it rests since an attempt was given up
                        await store_of(ctx).moves.promote(one)
    finally:
        await hermes.close()


if __name__ == "__main__":
    serve(lambda **order: asyncio.run(live(**order)))
