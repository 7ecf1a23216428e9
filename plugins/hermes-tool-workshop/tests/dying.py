"""One turn in a process that may be killed on its way; another takes it up. Prints what came of the calls."""

import asyncio
import json
from pathlib import Path

from hermes_core.kinds import Provider
from hermes_core.testing.bench import Bench
from hermes_core.testing.forks import serve
from hermes_core.types import CallDelta, Done, Model, Returned, TextDelta, Verdict

CODE = '''
def mark(text: str) -> str:
    """Leave a mark in a file of the working folder."""
    open("marks", "a").write(text)
    return text
'''
WRITE = {"name": "mark", "code": CODE, "examples": [{"arguments": {"text": "tried "}}], "writes": ["."]}
PLANS = {"write": ("tool_write", WRITE), "call": ("tool_call", {"name": "own_mark", "arguments": {"text": "called "}})}


class Planned(Provider):
    name = "planned"

    async def models(self):
        return [Model(name="planned-1", context=100_000)]

    async def ready(self) -> bool:
        return True

    async def stream(self, request):
        if request.messages[-1].role == "tool":
            yield TextDelta(text="done")
            yield Done(reason="stop")
            return
        name, arguments = PLANS[request.messages[-1].parts[0].text]
        yield CallDelta(index=0, id="c", name=name)
        yield CallDelta(index=0, arguments=json.dumps(arguments))
        yield Done(reason="tools")


async def yes(_question) -> Verdict:
    return Verdict(outcome="allow", choice="once", by="person")


async def turn(home: str, what: str, session: str) -> None:
    kernel = Bench(Path(home))
    kernel.tmp_plugin(Planned())
    kernel.tmp_plugin("hermes_tool_workshop")
    kernel._ask = yes
    async with kernel:
        turn = kernel.resume(session) if what == "resume" else kernel.runtime.turns.run(what, session=session, ask=yes)
        async for event in turn:
            if isinstance(event, Returned):
                print(json.dumps(event.result.parts[0].text), flush=True)


def play(**order: str) -> None:
    asyncio.run(turn(**order))


if __name__ == "__main__":
    serve(play)
