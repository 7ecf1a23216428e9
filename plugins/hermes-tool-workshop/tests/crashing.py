"""Does one thing to a shelf and kills itself right before the n-th time it reaches for the disk."""

import json
import os
import signal
import sys
from pathlib import Path

from hermes_core.types import Principal
from hermes_tool_workshop.label import Label
from hermes_tool_workshop.permissions import Permissions
from hermes_tool_workshop.shelf import Shelf


def main() -> None:
    what, data, at = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    shelf, left = Shelf(data, Principal()), [at]

    def hook(event: str, args: tuple) -> None:
        if event in ("open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.chmod") and str(data) in str(args):
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)

    fsync = os.fsync

    def counted(handle: int) -> None:
        hook("open", (str(data),))
        fsync(handle)

    os.fsync = counted
    sys.addaudithook(hook)
    if what == "keep":
        label = Label(name="own_x", owner="o", permissions=Permissions(), seconds=1, sha256="", when=1.0, session="s")
        shelf.keep("own_x", "new\n", label, 50)
    elif what == "switch":
        shelf.switch("own_x", 1)
    else:
        shelf.archive("own_x")
    print(json.dumps(at - left[0]))


main()
