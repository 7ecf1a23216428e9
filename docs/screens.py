"""Take the pictures of the full screen for README and docs: ``uv run python docs/screens.py``.

A real kernel and the real screen; only the model is a script. Writes docs/_static/tui-*.svg.
"""

import asyncio
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
OUT = Path(__file__).with_name("_static")
sys.path.insert(0, str(ROOT / "plugins/hermes-platform-tui/tests"))

from stage import Stage, stage  # noqa: E402

from hermes_core.kinds import tool  # noqa: E402
from hermes_core.testing.bench import Bench  # noqa: E402
from hermes_core.testing.scripted import Call, ScriptedProvider  # noqa: E402
from hermes_core.types import Effect  # noqa: E402

ANSWER = """# Three days in Oslo

You have **two** nights, and the train leaves at `09:00`:

1. Thursday: the harbour, then the opera's roof
2. Friday: the forest by *tram*, a hut for the night
3. Saturday: home

```python
def cost(nights: int) -> int:
    return 799 + 450 * nights
```

| what  | kroner |
|-------|--------|
| train | 799    |
| hut   | 900    |
"""


@tool
async def read_file() -> str:
    """Read."""
    return "# Packing\n\n- Wool\n- Rain jacket\n- Passport\n- Tickets\n"


@tool(effects={Effect.SEND})
async def book_train() -> str:
    """Book."""
    return "Booked."


def take(screen: Stage, name: str) -> None:
    """Write what is on the screen."""
    (OUT / f"tui-{name}.svg").write_text(screen.app.export_screenshot(title="Hermes"), encoding="utf-8")


async def main() -> None:
    """Play the conversations and take the pictures."""
    home = Path(tempfile.mkdtemp())
    trip = home / "trip"
    trip.mkdir()
    os.chdir(trip)
    os.environ["HERMES_HOME"] = str(home)
    bench = Bench(home)
    steps: list[Any] = [Call("read_file"), ANSWER, "The tram is line 1.", Call("book_train"), "Booked."]
    bench.tmp_plugin(ScriptedProvider(steps))
    for one in (read_file, book_train):
        bench.tmp_plugin(one)
    async with stage(bench, size=(110, 34)) as screen:
        await screen.until(lambda: screen.app.prepared)
        await screen.type("Plan three days in Oslo from packing.md", "enter")
        await screen.until(lambda: screen.says("Three days in Oslo"))
        await screen.rest()
        await asyncio.sleep(0.5)
        take(screen, "conversation")
        await screen.press("ctrl+t")
        await screen.type("Which tram goes to the forest?", "enter")
        await screen.until(lambda: screen.says("line 1"))
        await screen.rest()
        await screen.press("f2")
        await asyncio.sleep(1.0)
        take(screen, "sessions")
        await screen.press("escape")
        await screen.type("Book the train", "enter")
        await screen.until(lambda: len(screen.app.screen_stack) > 1)
        await asyncio.sleep(0.6)
        take(screen, "approval")
        await screen.answers("once")
        await screen.until(lambda: screen.says("Booked."))
        await screen.rest()


if __name__ == "__main__":
    asyncio.run(main())
