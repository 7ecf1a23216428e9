"""A gateway in a process of its own, whose chat is answered in voice alone; it may be killed at some point.

``voice_child.py HOME POINT``: with a point it dies there by kill -9, without one it goes on and prints what was sent.
"""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "tests" / "house"))
sys.path.insert(0, str(Path(__file__).parent))

from gateway_house import context_of
from test_voice_only import WISHES, Mouth, Room

from hermes_core.testing.bench import Bench
from hermes_platform_gateway.gateway import Gateway


def dies() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def main(home: Path, point: str) -> None:
    hermes, room, stop = Bench(home), Room((*WISHES,)), asyncio.Event()
    mouth = Mouth(*(["First.", "It is nine."] if point else ["It is nine."] * 2))
    mouth.check = lambda: None
    speak, send = mouth.speak, room.send

    async def spoken(request):
        made = await speak(request)
        if point == "spoken":
            dies()
        return made

    async def sent(chat, message, key):
        if point == "sending" and room.is_sound(message):
            dies()
        return await send(chat, message, key)

    mouth.speak, room.send = spoken, sent
    hermes.configure({"gateway.allow_all_users": True})
    for one in (mouth, "hermes_tool_commands", "hermes_tool_speech"):
        hermes.tmp_plugin(one)
    task = asyncio.create_task(Gateway(context_of(hermes), [room]).run(stop))
    if point:
        for text in ("hello", "/voice only"):
            room.write(text)
            await room.until(*["First.", "without"][: room.number])
        room.write("what is the time?")
        await asyncio.sleep(30)
    else:
        await room.until("audio/ogg")
        stop.set()
        await task
        print(json.dumps({"sent": room.got, "said": mouth.said}))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
