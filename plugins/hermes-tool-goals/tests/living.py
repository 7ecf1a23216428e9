"""A Hermes that pursues a goal in a process of its own, until it is killed. What really happens goes into files."""

import asyncio
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from hermes_core.kinds import Provider, tool
from hermes_core.testing import Bench
from hermes_core.testing.forks import serve
from hermes_core.types import CallDelta, Done, Model, Text, TextDelta, ToolResult, Usage, UsageDelta
from hermes_tool_goals.running import played
from hermes_tool_goals.shared import goals_of

ROUNDS = 8


class Liar(Provider):
    """Says in every turn that it is done, after one act; what it is told last says which turn it is."""

    name = "liar"

    async def models(self):
        return [Model(name="liar-1", context=100_000)]

    async def ready(self):
        return True

    def at(self, endpoint):
        return self

    async def stream(self, request):
        yield UsageDelta(usage=Usage(input=1, output=1, calls=1, cost=0.25, priced="actual"))
        for message in reversed(request.messages):
            if any(isinstance(part, ToolResult) for part in message.parts):
                yield TextDelta(text="It is done!")
                yield Done(reason="stop")
                return
            if message.role == "user" and any("[goal " in p.text for p in message.parts if isinstance(p, Text)):
                break
        yield CallDelta(index=0, id="act", name="act", arguments="{}")
        yield Done(reason="tools")


def bench(home: Path, url: str) -> Bench:
    """The kernel on a home. Each act is a line of a file: the check passes when there are enough."""
    folder = home.with_name("work")

    @tool(name="act", toolset="acts")
    async def act() -> str:
        """Do something that must not happen twice."""
        with (folder / "acts").open("a") as file:
            file.write("act\n")
        await asyncio.sleep(0.01)
        return "acted"

    hermes = Bench(home)
    os.chdir(folder)
    hermes.tmp_plugin(Liar(), name="liar")
    hermes.tmp_plugin(act, name="acts")
    if url:
        hermes.tmp_plugin("hermes_backend_postgresql")
        hermes.configure({"store.url": url})
    hermes.tmp_plugin("hermes_tool_terminal")
    hermes.tmp_plugin("hermes_tool_goals")
    hermes.configure({"goals.stuck": 100})
    hermes.runtime.load_hooks()
    return hermes


async def live(home: str, url: str, what: str) -> None:
    hermes = bench(Path(home), url)
    ctx = hermes.context("hermes_tool_goals")
    try:
        if what == "make":
            session = (await hermes.runtime.sessions.take("", "cli", hermes.runtime.owner)).session
            await hermes.slash(f"/goal Act | check: test $(wc -l < acts) -ge {ROUNDS} | turns: 30", session)
            return
        (goal,) = await goals_of(ctx).list()
        if what == "gone" and goal.state != "active" and not goal.owed:
            await asyncio.sleep(60)  # until it is killed
        await played(ctx, goal, lambda _: None)
    finally:
        await hermes.close()


if __name__ == "__main__":
    serve(lambda **order: asyncio.run(live(**order)))
