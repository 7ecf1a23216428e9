"""The end of a process whose answer is there, also when a plugin holds the loop."""

import asyncio
import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable

from hermes_core.plugins.fence import holder

__all__ = ["end_soon"]

_SOON, _TICK = 1.4, 0.3  # seconds after an answer; and without the loop, from which nobody waits for it any more


def end_soon(leave: Callable[[str, str], None], status: int) -> None:
    """End with this status within two seconds, even if a plugin holds the loop: the answer is there.

    Then ``leave`` is told whose code it is and what it was called for.
    """
    loop, thread = asyncio.get_running_loop(), threading.get_ident()

    def watch() -> None:
        time.sleep(_SOON)
        with contextlib.suppress(RuntimeError):  # the loop is closed
            while True:
                ticked = threading.Event()
                loop.call_soon_threadsafe(ticked.set)
                if not ticked.wait(_TICK) and (by := holder(thread)):
                    leave(by.label, by.where)
                    sys.stderr.flush()
                    os._exit(status)
                time.sleep(_TICK)

    threading.Thread(target=watch, name="hermes-end", daemon=True).start()
