"""A scheduler as a process of its own: a whole kernel that runs jobs by a quick clock until it is killed.

What really happens goes into files that all processes share: who acted for which run, and what was sent.
"""

import asyncio
import json
import os
import re
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from hermes_core.brokers import Mailbox
from hermes_core.kinds import Provider, tool
from hermes_core.testing import Bench
from hermes_core.testing.forks import serve
from hermes_core.types import CallDelta, Done, Model, Target, Text, TextDelta, ToolResult
from hermes_core.values import frozen
from hermes_tool_cron.actions import Door, create
from hermes_tool_cron.rows import Jobs
from hermes_tool_cron.ticker import Ticker
from hermes_tool_cron.values import OPEN, Options

START, SPEED = 1_767_225_600.0, 600.0  # of the clock: ten minutes a second


@frozen
class Act:
    run: str


class Told(Provider):
    """Acts once for its run, then says that it did; it reads off the conversation how far it is."""

    name = "told"

    async def models(self):
        return [Model(name="told-1", context=100_000)]

    async def ready(self):
        return True

    def at(self, endpoint):
        return self

    async def stream(self, request):
        text = "\n".join(p.text for m in request.messages for p in m.parts if isinstance(p, Text))
        run = re.search(r"job '(\w+)' of ([^.]+)", text)
        assert run, text
        if any(isinstance(p, ToolResult) for m in request.messages for p in m.parts):
            yield TextDelta(text="It is done.")
            yield Done(reason="stop")
            return
        yield CallDelta(index=0, id="act", name="act", arguments=json.dumps({"run": f"{run[1]} {run[2]}"}))
        yield Done(reason="tools")


class Post(Mailbox):
    """A chat whose messages are files, one for each key."""

    name = "post"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    async def targets(self, owner):
        return [Target(address="post:anna")]

    async def find(self, owner, target, session=None):
        return await self.targets(owner)

    async def send(self, owner, target, message, session=None, key=""):
        (self.folder / key.replace("/", "_")).write_text("sent")
        return await self.targets(owner)

    async def ending(self, owner, target, text, turn_id):
        return lambda tx: None

    async def ask(self, owner, target, question):
        raise AssertionError(question)

    async def named(self, word, owner):
        return []


Post.__abstractmethods__ = frozenset()


def bench(home: Path, url: str) -> Bench:
    """The kernel on a home, with what acts and sends."""
    truth = home.with_name("truth")

    @tool(name="act", toolset="acts")
    async def act(wanted: Act) -> str:
        """Do something that must not happen twice."""
        file = os.open(truth, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(file, f"{wanted.run}\n".encode())
        os.close(file)
        await asyncio.sleep(0.01)
        return "acted"

    hermes = Bench(home)
    hermes.tmp_plugin(Told(), name="told")
    hermes.tmp_plugin(Post(home.with_name("sent")), name="post")
    hermes.tmp_plugin(act, name="acts")
    if url:
        hermes.tmp_plugin("hermes_backend_postgresql")
        hermes.configure({"store.url": url})
    hermes.tmp_plugin("hermes_tool_cron")
    hermes.configure({"cron.zone": "UTC", "cron.keep": 100_000})
    hermes.runtime.loader.load_contributing("services")
    return hermes


async def live(home: str, url: str, what: str, epoch: float, end: float) -> None:
    hermes = bench(Path(home), url)
    ctx = hermes.context("hermes_tool_cron")

    def clock() -> float:
        return end if what == "finish" else min(end, START + max(0.0, time.time() - epoch) * SPEED)

    rows = ctx.state["jobs"] = Jobs(ctx.store, clock)
    try:
        if what == "make":
            door = Door(ctx, ctx.owner, written=True)
            for number, schedule in enumerate(("every 5m", "every 7m", "*/10 * * * *", "3,33 * * * *")):
                options = Options(deliver=("post:anna",))
                await create(door, schedule, "Act.", name=f"job{number}", options=options)
            return
        ticker = Ticker(ctx)
        while True:
            looked = await ticker.once()
            if what == "finish":
                await ticker.rest()
                left = [one for one in await rows.pending() if one.state in OPEN or one.delivery == "owed"]
                if not left and looked.again > end:
                    return
            await asyncio.sleep(0.01)
    finally:
        await hermes.close()


if __name__ == "__main__":
    serve(lambda **order: asyncio.run(live(**order)))
