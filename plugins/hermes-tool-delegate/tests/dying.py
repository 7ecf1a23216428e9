"""A Hermes whose children work in the background, to be killed: ``dying.py HOME SECONDS``, those of each answer."""

import asyncio
import sys
import time
from pathlib import Path

from hermes_core.testing import Call
from hermes_core.testing.bench import Bench
from hermes_core.testing.scripted import ScriptedProvider
from hermes_core.types import Text

TASKS = {"tasks": [{"goal": "count apples"}, {"goal": "count pears"}], "background": True}


def words(request):
    """The words of users in a request."""
    return [part.text for one in request.messages if one.role == "user" for part in one.parts if isinstance(part, Text)]


def bench(home: Path, seconds: float = 0.0) -> tuple[Bench, ScriptedProvider]:
    """A kernel whose model answers by what it is asked: of several at work nobody knows who asks first."""

    def answer(request):
        time.sleep(seconds)
        last = words(request)[-1]
        if last.startswith("count"):
            return f"{last}: seven"
        if last.startswith("<children>"):
            return "I see"
        if last == "hello":
            return "hello"
        return "handed out" if any(one.role == "tool" for one in request.messages) else Call("delegate", TASKS)

    provider = ScriptedProvider([answer] * 20)
    made = Bench(home)
    made.tmp_plugin(provider)
    made.tmp_plugin("hermes_tool_delegate")
    return made, provider


async def main(home: str, seconds: str) -> None:
    """Hand the tasks out, and say that the turn is over."""
    made, _ = bench(Path(home), float(seconds))
    print("up", flush=True)
    async for _ in made.turn("go", session="s"):
        pass
    print("done", flush=True)
    await asyncio.sleep(600)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
