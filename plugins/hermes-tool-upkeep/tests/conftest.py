"""A store with conversations in it, and the program that works on it."""

import asyncio
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hermes_core.store.store import open_store
from hermes_core.types import Message, Principal, Session, Text
from hermes_tool_upkeep import salvage

SESSIONS, SAID = 20, 16
ME = Principal()


def said(number: int, at: int) -> Message:
    """What is said at a place of a session: the longer ones take pages of their own."""
    words = f"talk{number} line{at} " + "word " * random.Random(f"{number} {at}").randrange(
        1, 1200 if at % 5 == 0 else 60
    )
    return Message(role="assistant" if at % 2 else "user", parts=(Text(text=words),))


def named(number: int) -> str:
    """An id as long as they are, so that an index of them has more than one page."""
    return f"20260101_000000_{number:08}"


def filled(path: Path, sessions: int = SESSIONS) -> None:
    """Make a store with sessions that hold something."""

    async def fill() -> None:
        store = open_store(path)
        for number in range(sessions):
            await store.sessions.create(Session(id=named(number), origin="cli", title=f"talk {number}"))
            for at in range(SAID):
                await store.history.add(named(number), said(number, at))
        store.close()

    asyncio.run(fill())


@pytest.fixture(scope="session")
def full_store(tmp_path_factory) -> Path:
    """One store for all, to be copied."""
    path = tmp_path_factory.mktemp("full") / "state.db"
    filled(path)
    return path


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory) -> Path:
    """What the kernel makes anew."""
    home = tmp_path_factory.mktemp("fresh")
    salvage.fresh(home)
    return home / "state.db"


@pytest.fixture
def home(tmp_path, full_store) -> Path:
    """A home with that store."""
    made = tmp_path / "home"
    made.mkdir(mode=0o700)
    shutil.copyfile(full_store, made / "state.db")
    return made


@pytest.fixture
def run(home):
    """Run the program in the home; what it said, and how it ended."""

    def invoke(*arguments, at=None, **more):
        env = {name: value for name, value in os.environ.items() if not name.startswith("HERMES_")}
        env |= {"HERMES_HOME": str(at or home), **more}
        command = [sys.executable, "-P", "-m", "hermes_core", *map(str, arguments)]
        return subprocess.run(command, env=env, cwd=home, capture_output=True, text=True, check=False, timeout=120)

    return invoke
