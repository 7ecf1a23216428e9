"""Hermes under cProfile: ``profiled.py FILE ARGUMENTS…``; it is written on SIGTERM."""

import cProfile
import os
import signal
import sys
from typing import Any

profile, file = cProfile.Profile(), sys.argv[1]
sys.argv = ["hermes", *sys.argv[2:]]
del sys.path[0]  # this folder: with it the cache of what is installed would not be that of the command
leave = os._exit


def written(status: int) -> Any:
    profile.disable()
    profile.dump_stats(file)
    leave(status)


os._exit = written  # type: ignore[assignment]
signal.signal(signal.SIGTERM, lambda *_: written(0))
from hermes_core.__main__ import main  # noqa: E402

profile.enable()
main()
