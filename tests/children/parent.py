"""A parent in a process that may be killed: ``parent.py HOME WORK [resume | PLAN]``, or in forks without words."""

import asyncio
import json
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from mortal import serve

from hermes_core.embed import Distribution, Hermes
from hermes_core.types import Ended, Failed

DISTRIBUTION = Distribution(name="hermes", own=("hermes-backend-local", "hermes-tool-roles"))
PLANNED = Path(__file__).with_name("planned.py")


def furnish(home: Path, work: Path) -> None:
    """Make a home with the plugin ``planned`` in it."""
    (home / "plugins").mkdir(parents=True)
    work.mkdir(parents=True)
    shutil.copy(PLANNED, home / "plugins" / "planned.py")
    made = DISTRIBUTION.home(None, home)
    DISTRIBUTION.consent(made).enable(DISTRIBUTION.installed(made).get("provider/planned"))


async def play(order: dict) -> None:
    config = {"memory.provider": "", "terminal.cwd": order["work"]}
    async with Hermes(DISTRIBUTION, home=order["home"], provider="planned", config=config) as hermes:
        if order["words"] == "resume":
            turns = [hermes.resume(session) for session in await hermes.interrupted()]
        else:
            turns = [hermes.turn(order["words"], session="s")]
        for turn in turns:
            async for event in turn:
                if isinstance(event, Failed):
                    print(event.text, file=sys.stderr)
                elif isinstance(event, Ended):
                    print(event.answer, file=sys.stderr)


def rehearsal(folder: Path) -> dict:
    furnish(folder / "home", folder / "work")
    words = json.dumps([{"hand": {"goals": ['["done"]']}}, "the answer"])
    return {"home": str(folder / "home"), "work": str(folder / "work"), "words": words, "die_at": ""}


if __name__ == "__main__":
    if sys.argv[1:]:
        asyncio.run(play(dict(zip(("home", "work", "words"), sys.argv[1:], strict=True))))
    else:
        serve(play, rehearsal)
