"""``hermes`` in processes that may be killed."""

import sys

from hermes_core.testing.forks import serve


def hermes(words: list[str]) -> None:
    from hermes_core.__main__ import main

    sys.argv = ["hermes", *words]
    main()


if __name__ == "__main__":
    serve(hermes)
