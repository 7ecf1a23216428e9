"""Two persons on one Hermes: what one does changes no byte of what the other sees."""

import asyncio
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from attrs import asdict
from obedient import Obedient, order

from hermes_core import hookimpl
from hermes_core.testing.bench import Bench
from hermes_core.types import Principal, Question, Request, Returned, Session, Verdict

pytestmark = pytest.mark.long

ANNA, BEN = Principal(person="anna"), Principal(person="ben")
WORDS = ["harbour", "violin", "ledger", "orchid", "tunnel", "saffron"]
MODULES = ["memory_files", "tool_files", "tool_recall", "tool_todo", "tool_terminal", "tool_guard", "backend_local"]

_CHANCE = re.compile(r"(?<=/)[0-9a-f]{8}(?=-)|\d\d:\d\d(?= )")  # of a file's name, and the time of day


def script(seed: int) -> list[tuple[str, str]]:
    """What a person says, and in which of their sessions."""
    dice = random.Random(seed)

    def line() -> str:
        word = dice.choice(WORDS)
        return dice.choice(
            [
                order("memory", text=f"{word} {dice.randrange(99)} matters."),
                order("memory", target="user", text=f"The person likes {word}."),
                order("recall", query=word),
                order("recall"),
                order("todo", todos=[{"id": "1", "content": f"buy {word}", "status": "pending"}]),
                order("terminal", command=f"echo {word}"),
                order("terminal", command="seq 1 30000"),
                order("terminal", command="git push --force origin main"),  # Anna allows it for good, Ben never
                f"Tell me about the {word}.",
            ]
        )

    return [("\n".join(line() for _ in range(dice.randrange(1, 4))), f"s{dice.randrange(3)}") for _ in range(6)]


class Person:
    """Somebody at this Hermes, and all they get to see."""

    def __init__(self, hermes: Any, owner: Principal, answer: str) -> None:
        self.hermes, self.owner, self.answer, self.seen = hermes, owner, answer, list[str]()

    async def ask(self, question: Question) -> Verdict:
        self.seen.append(f"asked {question.subject} {question.risk} {question.choices}")
        return Verdict(outcome="deny" if self.answer == "deny" else "allow", choice=self.answer, by=self.owner.person)

    async def says(self, text: str, session: str) -> None:
        name = f"{self.owner.person}-{session}"
        turn = self.hermes.runtime.turns.run(text, session=name, owner=self.owner, ask=self.ask)
        async for event in turn:
            if isinstance(event, Returned):
                self.seen.append(json.dumps(asdict(event.result), default=str))

    async def looks(self) -> None:
        """Everything else a person can ask of the store and the memory."""
        store, memory = await self.hermes.runtime.store(), self.hermes.runtime.memory.of()[1]
        rows = await store.sessions.list(self.owner)
        self.seen += [f"{r.session.id} {r.session.title} {r.preview} {r.usage}" for r in rows]
        for word in WORDS:
            self.seen += [f"{h.session_id} {h.snippet}" for h in await store.history.search(self.owner, word)]
            self.seen += [memo.text for memo in await memory.search(self.owner, word, 10)]
        self.seen += [f"{e.name} {e.outcome} {e.output}" for e in await store.history.tool_calls(self.owner, limit=500)]


async def what_ben_sees(home: Path, seed: int, *, with_anna: bool) -> list[str]:
    hermes, model, sent = Bench(home), Obedient(), list[str]()

    @hookimpl(trylast=True)
    async def pre_llm_call(session: Session, request: Request) -> None:
        if session.owner == BEN:
            sent.append(json.dumps(asdict(request), default=str))

    # One after the other: of calls that run side by side, chance decides which ends first, with or without Anna.
    hermes.configure({"agent.tool_workers": 1})
    hermes.configure({"terminal.backend": "local", "terminal.cwd": str(hermes.workspace.folder)})
    for module in MODULES:
        hermes.tmp_plugin(f"hermes_{module}")
    hermes.tmp_plugin(model)
    hermes.tmp_plugin(pre_llm_call)
    ben, anna = Person(hermes, BEN, "deny"), Person(hermes, ANNA, "always")
    async with hermes:
        theirs = iter(script(seed + 1) if with_anna else [])
        for said in script(seed):
            both = [ben.says(*said)]
            both += [anna.says(*other)] if (other := next(theirs, None)) else []
            await asyncio.gather(*both)
        await ben.looks()
    return sent + ben.seen


def first_difference(one: str, other: str) -> str:
    """Both around the first byte that differs, or an empty string."""
    at = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return (
        ""
        if one == other
        else f"{one[max(0, at - 200) : at + 200]}\n--- differs from ---\n{other[max(0, at - 200) : at + 200]}"
    )


async def test_what_one_does_changes_no_byte_of_what_the_other_sees(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    runs = []
    for with_anna in (False, True):
        folder = tmp_path_factory.mktemp("house")
        monkeypatch.setenv("HERMES_HOME", str(folder / "home"))
        seen = await what_ben_sees(folder / "home", seed, with_anna=with_anna)
        runs.append([_CHANCE.sub("", line.replace(str(folder), "HOUSE")) for line in seen])
    for alone, beside in zip(*runs, strict=False):
        assert first_difference(alone, beside) == ""
    assert len(runs[0]) == len(runs[1]) > 10
