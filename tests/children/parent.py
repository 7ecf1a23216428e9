"""A parent in a process of its own, to be killed: ``parent.py HOME WORK [resume | PLAN]``."""

import asyncio
import sys

from hermes_core.embed import Distribution, Hermes
from hermes_core.types import Ended, Failed


async def main() -> None:
    home, work, words = sys.argv[1:]
    distribution = Distribution(name="hermes", own=("hermes-backend-local",))
    config = {"memory.provider": "", "terminal.cwd": work}
    async with Hermes(distribution, home=home, provider="planned", config=config) as hermes:
        if words == "resume":
            turns = [hermes.resume(session) for session in await hermes.interrupted()]
        else:
            turns = [hermes.turn(words, session="s")]
        for turn in turns:
            async for event in turn:
                if isinstance(event, Failed):
                    print(event.text, file=sys.stderr)
                elif isinstance(event, Ended):
                    print(event.answer)


asyncio.run(main())
