"""Does one thing to a store, in a fork that kills itself right before the n-th time it reaches for the disk."""

import os
import signal
import sys
from pathlib import Path

from hermes_core.testing.forks import serve
from hermes_core.types import Principal
from hermes_tool_workshop.label import Label
from hermes_tool_workshop.permissions import Permissions
from hermes_tool_workshop.store import ToolStore


def play(what: str, data: str, at: int) -> None:
    store, left = ToolStore(Path(data), Principal()), [at]

    def hook(event: str, args: tuple) -> None:
        if event in ("open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.chmod") and data in str(args):
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)

    # A step like the others, and no wait for the disk: what was written outlives the process all the same.
    os.fsync = lambda _: hook("open", (data,))
    sys.addaudithook(hook)
    if what == "keep":
        label = Label(name="own_x", owner="o", permissions=Permissions(), seconds=1, sha256="", when=1.0, session="s")
        store.keep("own_x", "new\n", label, 50)
    elif what == "switch":
        store.switch("own_x", 1)
    else:
        store.archive("own_x")


if __name__ == "__main__":
    serve(play)
