"""A turn as events, in an async program that decides itself what may be done."""

import asyncio

from hermes_core import Hermes
from hermes_core.types import Called, Ended, Failed, Question, Verdict


async def allow_python(question: Question) -> Verdict:
    if question.subject.startswith("terminal(python3 "):
        return Verdict(outcome="allow", choice="once", by="this program")
    return Verdict(outcome="deny", reason="this program only lets Python run", by="this program")


async def main() -> None:
    async with Hermes(home="state", provider="offline", ask=allow_python) as hermes:
        async for event in hermes.turn(
            "run `python3 -c 'import os; print(os.sep)'`, then run `rm -rf .git`", session="demo"
        ):
            match event:
                case Called():
                    print("calls", event.call.name, dict(event.call.arguments))
                case Failed():
                    print("failed:", event.text)
                case Ended():
                    print(event.answer)


asyncio.run(main())
