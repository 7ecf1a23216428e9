"""The fixtures of the public suite, served by ``hermes api`` through the manager of our route: ``suite_host.py HOME``.

Says its address, and ends when nobody holds its standard input.
"""

import asyncio
import sys
import warnings
from pathlib import Path

from hermes_core.hooks import hookimpl
from hermes_core.kinds import Console
from hermes_core.testing import Bench
from hermes_core.types import Principal, Routes
from hermes_platform_mcp_serve.route import Manager

sys.path.insert(0, str(Path(__file__).parent))
TABLES = {"contributes": {"routes": ["mcp"]}, "permissions": {"public": ["mcp"]}}


async def main(home):
    import suite_server

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the suite wants what a later revision took away
        manager = Manager(suite_server.made(home.parent), retry_interval=200)

    async def app(scope, receive, send):
        await manager.handle(scope, receive, send, Principal())

    @hookimpl
    def register_routes():
        return [Routes(name="mcp", app=app)]

    bench = Bench(home)
    bench.tmp_plugin("hermes_platform_api")
    bench.tmp_plugin("hermes_provider_offline")
    bench.tmp_plugin(register_routes, name="suite", manifest=TABLES)
    bench.configure({"platforms.api.port": 0, "platforms.api.origins": ["http://localhost"]})
    bench.runtime.loader.load_contributing("platforms", ["api"])
    [api] = [one for _, one in bench.runtime.dispatch.contributions("register_platforms")]
    await api.open(Console())
    print(f"{api.address}/tool/suite/mcp", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await api.close()
    await manager.close()
    await bench.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
