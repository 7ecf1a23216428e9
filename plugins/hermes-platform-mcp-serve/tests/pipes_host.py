"""The plugin in a kernel of its own, on the pipes of this process: ``pipes_host.py HOME [noisy]``."""

import asyncio
import signal
import sys
from pathlib import Path

from hermes_core.testing import Bench
from hermes_platform_mcp_serve.serving import serve_pipes


async def main(home, noisy):
    bench = Bench(home)
    bench.tmp_plugin("hermes_provider_offline")
    bench.tmp_plugin("hermes_platform_mcp_serve")
    task = asyncio.current_task()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    context = bench.context("hermes_platform_mcp_serve")

    async def chatter():
        while True:
            print("printed by something else")
            await asyncio.sleep(0.01)

    talking = asyncio.ensure_future(chatter()) if noisy else None
    try:
        await serve_pipes(context, [])
    finally:
        if talking:
            talking.cancel()
        await bench.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), "noisy" in sys.argv))
