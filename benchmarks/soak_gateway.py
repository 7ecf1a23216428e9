"""Many turns in one gateway: does it grow? ``soak_gateway.py [--turns 3000] [--each 5] [--at-once 8]``.

A scripted model in a process of its own calls a shell command in every turn. People on a chat service that can edit
write a few times, each waiting for the answer, and are never heard of again: conversations do not get longer, and what
is kept of a chat shows. Prints one JSON object, and exits with 1 when memory grows by more than 1 MB per 1,000 turns,
when descriptors grow, or when anything is left over.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "house"))

from gateway_house import context_of
from run import model_server
from soak import EVERY, SLOPE, Look, children, look, slope

from hermes_core.embed import Hermes
from hermes_core.kinds import Platform
from hermes_core.types import Envelope, Feature, Message, Sent, Text
from hermes_platform_gateway.gateway import Gateway
from hermes_platform_gateway.outward.progress import CURSOR
from hermes_platform_gateway.outward.sender import PLACEHOLDER

FEW = 2  # descriptors more at the end than after the warm-up: one that is being opened is none that leaks


class People(Platform):
    """So many people at once; each writes again when they were answered, a few times, and then somebody else does."""

    name, account = "soak", "bench"
    features = frozenset({Feature.EDIT, Feature.DELETE, Feature.TYPING})

    def __init__(self, turns: int, each: int, at_once: int) -> None:
        self.answered, self.over = 0, asyncio.Event()
        self._turns, self._each, self._at_once = turns, each, at_once
        self._written, self._messages, self._answers = 0, 0, set[str]()
        self._of = [0] * at_once
        self._inbox: asyncio.Queue[Envelope] = asyncio.Queue()

    async def receive(self):
        """Yield what is written, for ever."""
        for seat in range(self._at_once):
            self._write(seat)
        while True:
            yield await self._inbox.get()

    def _write(self, seat: int) -> None:
        """Let whoever sits there now write; people have got up and gone after a few times."""
        if self._written >= self._turns:
            return
        self._written, self._of[seat] = self._written + 1, self._of[seat] + 1
        chat = f"{seat}-{self._of[seat] // self._each}"
        message = Message(role="user", parts=(Text(text=f'terminal {{"command": "true {self._written}"}}'),))
        known = {"platform": self.name, "account": self.account, "event_id": str(self._written), "chat": chat}
        self._inbox.put_nowait(Envelope(**known, sender=chat, message=message))

    async def send(self, chat, message, key):
        """Take a message."""
        self._messages += 1
        if key.startswith("turn:"):
            self._heard(chat.id, str(self._messages), message)
        return Sent(chat=chat.id, message_id=str(self._messages))

    async def edit(self, sent, message):
        """Take an edit."""
        self._heard(sent.chat, sent.message_id, message)

    def _heard(self, chat: str, message_id: str, message: Message) -> None:
        """An answer lets somebody write; each is one message, whose last edit has no cursor and no tools any more."""
        text = message.parts[0].text
        if message_id in self._answers or text == PLACEHOLDER or CURSOR in text or "⚙" in text:
            return
        self._answers.add(message_id)
        self.answered += 1
        if self.answered >= self._turns:
            self.over.set()
        self._write(int(chat.partition("-")[0]))

    async def show(self, chat, event):
        """Show nothing."""

    async def delete(self, sent):
        """Take nothing away."""


async def soak(hermes: Hermes, people: People) -> list[Look]:
    """Serve until everybody was answered, and look every now and then."""
    gateway, stop, looks = Gateway(context_of(hermes), [people]), asyncio.Event(), []
    running = asyncio.create_task(gateway.run(stop))
    while not people.over.is_set():
        if running.done():
            raise RuntimeError("the gateway ended")
        if people.answered >= EVERY * (len(looks) + 1):
            looks.append(look(people.answered, hermes))
            if len(looks) % 10 == 0:
                print(looks[-1], file=sys.stderr, flush=True)
        await asyncio.sleep(0.02)
    stop.set()
    await running
    return looks


async def main() -> int:
    """Soak, report, judge."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--turns", type=int, default=3_000)
    options.add_argument("--each", type=int, default=5, help="turns of one conversation")
    options.add_argument("--at-once", type=int, default=8, help="people who wait for an answer at the same time")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder, model_server() as url:
        own = children()  # the scripted model
        config = {
            "model.provider": "custom", "model.base_url": url, "model.default": "do", "policy.mode": "off",
            "terminal.cwd": folder, "gateway.allow_all_users": True,
        }  # fmt: skip
        people, began = People(chosen.turns, chosen.each, chosen.at_once), time.perf_counter()
        hermes = Hermes(home=Path(folder) / "home", config=config)
        looks = await soak(hermes, people)
        seconds = time.perf_counter() - began
        await hermes.close()
        end = look(chosen.turns, Hermes(home=Path(folder) / "home"))
    warm = looks[len(looks) // 4 :]
    growth, half = slope(warm), len(warm) // 2
    before, after = (max(x.descriptors for x in part) for part in (warm[:half], warm[half:]))
    report = {
        "turns": chosen.turns, "turns_per_second": round(chosen.turns / seconds, 1), "rss_start_mb": looks[0].rss,
        "rss_end_mb": looks[-1].rss, "mb_per_1000_turns": round(growth, 3), "descriptors": [before, after],
        "threads": [min(x.threads for x in warm), max(x.threads for x in warm)],
        "children_left": end.children - own, "tasks_left": end.tasks - 1,
    }  # fmt: skip
    print(json.dumps(report, indent=1))
    flat = after <= before + FEW and end.children == own and end.tasks == 1
    return 0 if growth <= SLOPE and flat else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
