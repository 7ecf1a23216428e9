"""What becomes of a command before anything large is imported."""

import os
import sys

__all__ = ["begin"]


def begin(name: str, version: str, module: str) -> None:
    """Have a host answer what it can, else ``run`` the command line of a module; the exit status is the process's."""
    words = sys.argv[1:]
    try:
        if any(word.startswith(("-z", "--oneshot")) for word in words):
            from hermes_front.one_shot import through_host

            status = through_host(name, version, words)
            if status is not None:
                os._exit(status)  # all is written; tearing the interpreter down would only take the person's time
        import gc

        gc.disable()  # nothing of a start is garbage, and looking for some takes a tenth of it; a kernel enables it
        if "HERMES_RUN" not in os.environ:
            from hermes_front.screen import through_host as shown

            if (status := shown(name, version, words)) is not None:
                os._exit(status)
        __import__(module, fromlist=["run"]).run()
    except KeyboardInterrupt:  # before the command line could say it itself
        os.write(2, b"Interrupted.\n")
        os._exit(130)
