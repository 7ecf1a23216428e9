"""Puts messages and sends them, each time in a process of its own that may be killed."""

import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(1, str(Path(__file__).parents[1]))

from far_end import FarEnd
from mortal import serve
from post import Clock, outgoing, send_all

from hermes_backend_postgresql.driver import PostgreSQL
from hermes_core.gateway.outward.sender import Sender
from hermes_core.gateway.rows.kept import rows_of
from hermes_core.store.store import open_store


async def play(order: dict) -> None:
    random.seed(order["seed"])
    clock = Clock()
    store = open_store(Path(order["folder"]) / "state.db", url=order["url"], driver=PostgreSQL())
    try:
        odds = dict.fromkeys(("lost", "silent", "flood", "cut"), order["fault"])
        file = Path(order["folder"]) / "seen"
        far = FarEnd(file, order["kind"], seed=order["seed"], limit=200, odds=odds, clock=clock)
        for key, chat, text in order["says"]:
            await rows_of(store).outbox.send_later(outgoing(key, text, chat))
        await send_all(store, Sender(store, far, clock=clock, poll=5.0), clock)
    finally:
        store.close()


def rehearsal(folder: Path) -> dict:
    says = [("1", "a", "One thing.")]
    return {"folder": str(folder), "url": "", "kind": "plain", "die_at": "", "seed": 0, "fault": 0.0, "says": says}


if __name__ == "__main__":
    serve(play, rehearsal)
