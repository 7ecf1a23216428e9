"""A screen of its own in a process that is killed."""

import asyncio
import sys
from pathlib import Path

from hermes_backend_local.backend import Local
from hermes_backend_wall.limits import Limits
from hermes_backend_wall.plan import Plan, records_of
from hermes_tool_computer.config import Config
from hermes_tool_computer.own import OwnScreen


async def main(folder: Path, walled: bool) -> None:
    folder.mkdir()
    plan = None
    if walled:
        plan = Plan(kind="bubblewrap", homes=folder / "homes", records=records_of(folder), limits=Limits())
    (folder / "work").mkdir()
    place = await Local(plan=plan).open(str(folder / "work"))
    print("begins", flush=True)
    await OwnScreen.opened(place, Config(display="own"))
    print("opened", flush=True)
    await asyncio.sleep(60)


asyncio.run(main(Path(sys.argv[1]), sys.argv[2] == "True"))
