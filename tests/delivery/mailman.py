"""Puts messages and sends them, each time in a process of its own that may be killed. One order per line of stdin."""

import asyncio
import json
import os
import random
import sys
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from far_end import FarEnd
from post import Clock, outgoing, send_all

from hermes_core.gateway.outward.sender import Sender
from hermes_core.store.journal import open_store


async def play(order: dict) -> None:
    random.seed(order["seed"])
    clock = Clock()
    store = open_store(Path(order["folder"]) / "state.db", url=order["url"])
    try:
        odds = dict.fromkeys(("lost", "silent", "flood", "cut"), order["fault"])
        file = Path(order["folder"]) / "seen"
        far = FarEnd(file, order["kind"], seed=order["seed"], limit=200, odds=odds, clock=clock)
        for key, chat, text in order["says"]:
            await store.send_later(outgoing(key, text, chat))
        await send_all(store, Sender(store, far, clock=clock, poll=5.0), clock)
    finally:
        store.close()


def main() -> None:
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if not child:
            os.environ.update(HERMES_DIE_AT=order["die_at"], HERMES_TESTING="1")
            status = 1
            try:
                asyncio.run(play(order))
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(status)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
