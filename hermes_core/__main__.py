"""The ``hermes`` command. Answers ``--version`` before anything is imported."""

import sys


def main() -> None:
    """Run the command line; the exit status is the process's."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from hermes_core import __version__

        sys.stdout.write(f"hermes {__version__}\n")
        return
    import gc

    gc.disable()  # nothing of a start is garbage, and looking for some takes a tenth of it; Scope.hermes enables it
    try:
        from hermes_core.cli.main import run

        run()
    except KeyboardInterrupt:  # before the command line could say it itself
        import os

        os.write(2, b"Interrupted.\n")
        os._exit(130)


if __name__ == "__main__":
    main()
