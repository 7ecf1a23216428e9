"""A home in which parents and their children are real processes over one scripted model."""

import asyncio
import contextlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hermes_core.embed import Distribution, Hermes
from hermes_core.store.journal import open_store
from hermes_core.types import Ended, Principal

ME = Principal()
PLANNED = Path(__file__).with_name("planned.py")
DISTRIBUTION = Distribution(name="hermes", own=("hermes-backend-local",))


class House:
    """A home with the plugin ``planned`` in it, and the file of truth."""

    def __init__(self, folder: Path) -> None:
        self.home, self.work = folder / "home", folder / "work"
        self.truth_file = self.home / "truth"
        (self.home / "plugins").mkdir(parents=True)
        self.work.mkdir()
        shutil.copy(PLANNED, self.home / "plugins" / "planned.py")
        home = DISTRIBUTION.home(None, self.home)
        DISTRIBUTION.consent(home).enable(DISTRIBUTION.installed(home).get("provider/planned"))

    def hermes(self, **options) -> Hermes:
        config = {"memory.provider": "", "terminal.cwd": str(self.work), **options.pop("config", {})}
        return Hermes(DISTRIBUTION, home=self.home, provider="planned", config=config, **options)

    async def turn(self, plan: list, *, session: str = "s", **options) -> list:
        """Every event of a turn that follows a plan."""
        async with self.hermes(**options) as hermes:
            return [event async for event in hermes.turn(json.dumps(plan), session=session)]

    async def results(self, goals: list, *, wishes: dict | None = None, **options) -> list:
        """What children came to: status, answer, session id, error, model calls and trace of each."""
        before = len(self.truth("result"))
        given = {"goals": [json.dumps(goal) for goal in goals], **(wishes or {})}
        events = await self.turn([{"hand": given}, "results"], **options)
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
            store = open_store(self.home / "state.db", transcripts=self.home / "sessions")
            try:
                return await look(store)
            finally:
                store.close()

        return asyncio.run(go())

    def process(self, words: list[str], **env: str) -> subprocess.CompletedProcess:
        """Play ``tests/children/parent.py`` in a process of its own."""
        given = {**os.environ, "HERMES_TESTING": "1", **env}
        script = Path(__file__).with_name("parent.py")
        return subprocess.run(
            [sys.executable, str(script), str(self.home), str(self.work), *words],
            env=given,
            capture_output=True,
            text=True,
            timeout=60,
        )


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


async def gone(pid: int) -> bool:
    """Whether a process ends soon; killing takes a moment."""
    for _ in range(500):
        with contextlib.suppress(FileNotFoundError):
            if Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z":
                await asyncio.sleep(0.01)
                continue
        return True
    return False
