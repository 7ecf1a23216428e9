"""What becomes of a command before anything large is imported."""

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
                import os

                os._exit(status)  # all is written; tearing the interpreter down would only take the person's time
        import gc

        gc.disable()  # nothing of a start is garbage, and looking for some takes a tenth of it; a kernel enables it
        __import__(module, fromlist=["run"]).run()
    except KeyboardInterrupt:  # before the command line could say it itself
        import os

        os.write(2, b"Interrupted.\n")
        os._exit(130)
