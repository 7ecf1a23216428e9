"""Programs of crash tests that play orders, each in a process of its own that may be killed."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any, Self

import pytest

__all__ = ["Worker"]


class Worker:
    """A program that reads orders from its stdin, one a line, and says of each how the process ended that played it."""

    def __init__(self, *words: str, **options: Any) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen([sys.executable, *words], stdin=pipe, stdout=pipe, text=True, **options)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._process.communicate()

    def play(self, order: object) -> int:
        """The status of the process that played an order; -9 when it was killed."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


@pytest.fixture(scope="session")
def workers() -> Iterator[Callable[[Path], Worker]]:
    """The worker of a program, started when it is first wanted. They go with the test session."""
    with ExitStack() as stack:
        yield cache(lambda program: stack.enter_context(Worker(str(program))))
