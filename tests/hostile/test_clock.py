"""The clock of these tests jumps over waiting, and over nothing that works."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

from hostile_clock import MOMENT, JumpingLoop


class Late(ThreadPoolExecutor):
    """Threads that end late, as those of a busy machine do."""

    def shutdown(self, *arguments: bool, **options: bool) -> None:
        time.sleep(4 * MOMENT)
        super().shutdown(*arguments, **options)


async def main() -> float:
    asyncio.get_running_loop().set_default_executor(Late())
    await asyncio.to_thread(int)
    began = asyncio.get_running_loop().time()
    await asyncio.sleep(1_000)
    return asyncio.get_running_loop().time() - began


def test_threads_that_end_late_are_waited_for():
    with asyncio.Runner(loop_factory=JumpingLoop) as runner:  # what the loop gives up on is a warning, and fails this
        assert runner.run(main()) >= 1_000
        loop = runner.get_loop()
        skipped = loop.skipped
    assert loop.skipped == skipped
