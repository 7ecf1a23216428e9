"""A home in which parents and their children work over one scripted model."""

import asyncio
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from workers import Worker

sys.path.insert(0, str(Path(__file__).parent))

from parent import DISTRIBUTION, furnish

from hermes_core.embed import Hermes
from hermes_core.store.store import open_store
from hermes_core.types import Ended, Principal

ME = Principal()
PARENT = Path(__file__).with_name("parent.py")


class House:
    """A home with the plugin ``planned`` in it, and the file of truth."""

    def __init__(self, folder: Path) -> None:
        self.home, self.work = folder / "home", folder / "work"
        self.truth_file = self.home / "truth"
        furnish(self.home, self.work)

    def hermes(self, **options) -> Hermes:
        config = {"memory.provider": "", "terminal.cwd": str(self.work), **options.pop("config", {})}
        return Hermes(DISTRIBUTION, home=self.home, provider="planned", config=config, **options)

    async def turn(self, plan: list, *, session: str = "s", **options) -> list:
        """Every event of a turn that follows a plan."""
        async with self.hermes(**options) as hermes:
            return [event async for event in hermes.turn(json.dumps(plan), session=session)]

    async def results(self, goals: list, *, given: dict | None = None, **options) -> list:
        """What children came to: status, answer, session id, error, model calls and trace of each."""
        before = len(self.truth("result"))
        hand = {"goals": [json.dumps(goal) for goal in goals], **(given or {})}
        events = await self.turn([{"hand": hand}, "results"], **options)
        assert isinstance(events[-1], Ended)
        return self.truth("result")[before:]

    def truth(self, what: str = "") -> list:
        """What really happened, in order."""
        if not self.truth_file.exists():
            return []
        lines = [json.loads(line) for line in self.truth_file.read_text().splitlines()]
        return [rest for kind, *rest in lines if kind == what] if what else lines

    def read(self, look):
        """What the store says: ``look`` is given the open store."""

        async def go():
            store = open_store(self.home / "state.db")
            try:
                return await look(store)
            finally:
                store.close()

        return asyncio.run(go())


class Mortal(House):
    """A house whose parents are processes that may be killed."""

    def __init__(self, folder: Path, parents: Worker) -> None:
        super().__init__(folder)
        self._parents = parents

    def process(self, words: str, *, fresh: bool = False, **env: str) -> int:
        """The status of a parent that plays a plan in a fork, or in a ``fresh`` process."""
        order = {"home": str(self.home), "work": str(self.work), "words": words}
        if fresh:
            given = {**os.environ, "HERMES_TESTING": "1", **env}
            return subprocess.run([sys.executable, str(PARENT), *order.values()], env=given, timeout=60).returncode
        return self._parents.play({**order, "die_at": "", "env": env})


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


@pytest.fixture
def houses(tmp_path: Path, workers: Callable[[Path], Worker]) -> Callable[[], Mortal]:
    """One more house each time it is called."""
    numbers = itertools.count()
    return lambda: Mortal(tmp_path / str(next(numbers)), workers(PARENT))
