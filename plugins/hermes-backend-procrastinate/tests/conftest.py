"""Queues on a real server."""

import logging
from collections.abc import Callable

import pytest

from hermes_backend_procrastinate.config import Config
from hermes_backend_procrastinate.queue import ProcrastinateQueue

BEAT = 0.25  # seconds; a worker that died is found out after four of them


@pytest.fixture
def new_queue(database_url: str) -> Callable[[], ProcrastinateQueue]:
    """Make a queue, as a process of its own would."""
    config = Config(heartbeat_seconds=BEAT, connections=2)
    return lambda: ProcrastinateQueue(lambda: database_url, config, logging.getLogger("test.turns"))
