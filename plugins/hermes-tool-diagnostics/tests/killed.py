"""A process with an open language server, to be killed: says which are open, and waits."""

import asyncio
import logging
import sys
from pathlib import Path
from types import SimpleNamespace

from hermes_backend_local.workspace import Here
from hermes_backend_wall.plan import Plan
from hermes_backend_wall.walled import Walled
from hermes_core.types import Session
from hermes_tool_diagnostics.config import Config
from hermes_tool_diagnostics.watching import Watch


async def main(work: str, wall: str, homes: str) -> None:
    walled = Walled(work, Plan(kind=wall, homes=Path(homes))) if wall != "none" else None
    place = Here(work, walled=walled)
    ctx = SimpleNamespace(config=Config(servers="always"), log=logging.getLogger("x"), tell=print)
    watch, session = Watch(ctx), Session(id="s", origin="cli", cwd=work)
    for held in await watch.servers.of(session, place, f"{work}/a.c"):
        await watch.servers.ask(held, f"{work}/a.c", "int main(void) { return 0; }\n")
    print([one.found.row.name for one in watch.servers.running("s")], flush=True)
    await asyncio.sleep(600)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
