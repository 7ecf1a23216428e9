"""The ``hermes`` command. Answers ``--version``, and goes to a host, before anything large is imported."""

import sys


def main() -> None:
    """Run the command line; the exit status is the process's."""
    from hermes_core import __version__

    if sys.argv[1:] in (["--version"], ["-V"]):
        sys.stdout.write(f"hermes {__version__}\n")
        return
    from hermes_front.front import begin

    begin("hermes", __version__, "hermes_core.cli.main")


if __name__ == "__main__":
    main()
