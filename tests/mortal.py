"""Playing orders in forks of one interpreter, so that a death costs milliseconds: one order a line of stdin, as JSON.

What is said for each is the status that its process ended with.
"""

import asyncio
import gc
import importlib
import json
import os
import re
import runpy
import sys
import tempfile
import traceback
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from hermes_core.environment import without_secrets
from hermes_tool_redaction.masker import Secrets

Play = Callable[[dict], Awaitable[None]]


def serve(play: Play, rehearsal: Callable[[Path], dict]) -> None:
    """Play the orders of stdin; ``rehearsal`` gives one that can be played in a folder that nobody looks at."""
    rehearse(play, rehearsal)
    for line in sys.stdin:
        print(played(play, json.loads(line)), flush=True)


def played(play: Play, order: dict) -> int:
    """The status of a process of its own that plays an order; ``die_at`` names where it is killed, ``env`` more."""
    child = os.fork()
    if not child:
        os.environ.update({"HERMES_DIE_AT": order["die_at"], "HERMES_TESTING": "1", **order.get("env", {})})
        status = 1
        try:
            asyncio.run(play(order))
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def rehearse(play: Play, rehearsal: Callable[[Path], dict]) -> None:
    """Import what a process that plays comes to import, before the others are made; it opens nothing here."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "modules"

        async def play_and_tell(order: dict) -> None:
            await play(order)
            told.write_text(imported_and_compiled())

        assert played(play_and_tell, rehearsal(Path(folder))) == 0
        at_hand(told.read_text())


def imported_and_compiled() -> str:
    """The modules and the patterns that this process has, for another that is to have them."""
    return json.dumps([[*sys.modules], [(text, flags) for _, text, flags in re._cache if isinstance(text, str)]])


def at_hand(what: str) -> None:
    """Have these modules imported and patterns compiled, and know what is installed, before a process is forked."""
    modules, patterns = json.loads(what)
    for name in modules:
        with suppress(ImportError):  # what was made up for a rehearsal
            importlib.import_module(name)
    for text, flags in patterns:
        re.compile(text, flags)
    at_once = runpy.run_path(str(Path(__file__).parent / "house/at_once.py"))
    at_once["remember_packages"]()
    at_once["wait_for_no_disk"]()
    without_secrets(os.environ)
    Secrets().is_secret("value", "name")
    gc.freeze()  # nobody looks through all that again for garbage
