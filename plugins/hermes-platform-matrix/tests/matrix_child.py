"""A bot in a process of its own, to be killed: ``matrix_child.py URL USER FOLDER ack|hold``. Tells what it hears."""

import asyncio
import sys
from pathlib import Path

from hermes_core.testing import FakeConsole
from hermes_core.types import Text

sys.path.insert(0, str(Path(__file__).parent))


async def main(url: str, user: str, folder: str, manner: str) -> None:
    from matrix_people import bot_for

    bot = bot_for(url, user, Path(folder))
    await bot.open(FakeConsole())
    print("open", flush=True)
    async for envelope in bot.receive():
        if manner == "ack":
            await bot.ack(envelope)
        text = "".join(p.text for p in envelope.message.parts if isinstance(p, Text))
        print(f"{envelope.event_id} {text}", flush=True)


asyncio.run(main(*sys.argv[1:]))
