"""One turn in a process that may be killed on its way; another takes it up. Prints what came of the calls."""

import asyncio
import json
from pathlib import Path

from attrs import frozen

from hermes_core.kinds import tool
from hermes_core.testing import Call, ScriptedProvider
from hermes_core.testing.bench import Bench
from hermes_core.testing.forks import serve
from hermes_core.types import Request, Returned


@frozen
class Marked:
    text: str


def planned(request: Request) -> Call | str:
    """The call that was said, then the end."""
    last = request.messages[-1]
    return "done" if last.role == "tool" else Call("execute_code", json.loads(last.parts[0].text), id="c")


async def turn(home: str, session: str, mode: str, said: str, wall: str, rest: float = 0.0) -> None:
    kernel = Bench(Path(home))
    marks = Path(home).with_name("marks")

    @tool
    async def mark(given: Marked) -> str:
        """Leave a mark that cannot be taken back."""
        with marks.open("a") as file:
            file.write(f"{session} {given.text}\n")
        await asyncio.sleep(rest)
        return f"marked {given.text}"

    kernel.tmp_plugin(ScriptedProvider([planned] * 2))
    kernel.tmp_plugin(mark)
    kernel.tmp_plugin("hermes_tool_python")
    kernel.tmp_plugin("hermes_backend_local")
    work = Path(home).with_name("work")
    settings = {"terminal.backend": "local", "terminal.cwd": str(work), "backends.local.wall": wall}
    kernel.configure({**settings, "tools.python.mode": mode, "tools.python.seconds": 2, "policy.mode": "off"})
    async with kernel:
        resumed = not said
        turn = kernel.resume(session) if resumed else kernel.runtime.turns.run(said, session=session)
        async for event in turn:
            if isinstance(event, Returned) and event.call.name == "execute_code":
                print(json.dumps(event.result.parts[0].text), flush=True)


def play(**order) -> None:
    asyncio.run(turn(**order))


if __name__ == "__main__":
    serve(play)
