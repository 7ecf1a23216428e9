"""A Hermes that learns in a process of its own, until it is killed. How often a model was asked goes into a file."""

import asyncio
import json
import os
from pathlib import Path

from hermes_core.kinds import Provider
from hermes_core.testing import Bench
from hermes_core.testing.forks import serve
from hermes_core.types import Done, Model, TextDelta, Usage, UsageDelta
from hermes_tool_lessons.shared import ledger_of, queue_of, reviewer_of, rows_of
from hermes_tool_lessons.values import Draft

LESSONS = (
    {"trigger": "stratus deploy", "text": "Use `--iso` for dates.", "events": ["e1"], "replaces": ""},
    {"trigger": "stratus export", "text": "Write `;` between columns.", "events": ["e1"], "replaces": ""},
)


class Answers(Provider):
    """Answers, and looks back when it is asked to."""

    name = "answers"
    asked: Path

    async def models(self):
        return [Model(name="answers-1", context=100_000)]

    async def ready(self):
        return True

    def at(self, endpoint):
        return self

    async def stream(self, request):
        last = "".join(part.text for part in request.messages[-1].parts)
        looks_back = "looks back" in last
        with self.asked.open("a") as file:
            file.write("review\n" if looks_back else "turn\n")
        yield TextDelta(text=json.dumps({"lessons": LESSONS}) if looks_back else "Deployed with --iso.")
        yield UsageDelta(usage=Usage(input=100, output=10, calls=1, cost=0.01, priced="actual"))
        yield Done(reason="stop")


def bench(home: Path) -> Bench:
    """The kernel on a home."""
    hermes = Bench(home)
    model = Answers()
    model.asked = home.with_name("asked")
    hermes.tmp_plugin(model, name="answers")
    hermes.tmp_plugin("hermes_tool_lessons")
    hermes.configure({"learning.mode": "auto", "learning.idle_seconds": 3600})
    hermes.runtime.load_hooks()
    return hermes


async def live(home: str, what: str) -> None:
    hermes = bench(Path(home))
    ctx, me = hermes.context("hermes_tool_lessons"), hermes.runtime.owner
    try:
        if what == "talk":
            for said in ("Deploy on stratus.", "No, dates must be ISO."):
                async for _ in hermes.turn(said, session="s"):
                    pass
        if what == "review":
            queue = queue_of(ctx)
            for one in await queue.open():
                if not one.fork:
                    await queue.plan(me, "s", "", 0.0, asked=True)
            while await queue.open():
                await reviewer_of(ctx).look()
                await asyncio.sleep(0.02)
        if what == "edit":
            await edits(rows_of(ctx), ledger_of(ctx), me)
    finally:
        await hermes.close()


async def edits(rows, ledger, me):
    """Change lessons in every way there is; again from the first when it is run again."""
    for number in range(6):
        draft = Draft(trigger=f"kesto{number} sync", text=f"Use `--x={number}`.", sources=["e"])
        lesson, _ = await rows.propose(me, draft, mode="auto", most=2000, author="review")
        if lesson is None:
            continue
        for use in range(4):
            await ledger.tell(me, "s", f"t{number}{use}", [lesson.id])
            await ledger.settle(me, "s", f"t{number}{use}", good=number % 2 == 0, why="x", mode="auto")
        await rows.pin(me, lesson.id, pinned=True)
        await rows.settle(me, lesson.id, "retired", "no")
        await rows.revert(me, lesson.id, 1)


if __name__ == "__main__":
    os.environ.setdefault("HERMES_TESTING", "1")
    serve(lambda **order: asyncio.run(live(**order)))
