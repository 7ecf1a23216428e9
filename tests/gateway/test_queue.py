"""The queue in one process keeps the promises of every turn queue."""

from collections.abc import Callable

import pytest

from hermes_core.gateway.queue import LocalQueue
from hermes_core.kinds import TurnQueue
from hermes_core.testing.contract_queue import TurnQueueContract


class TestLocal(TurnQueueContract):
    @pytest.fixture
    def make_queue(self) -> Callable[[], TurnQueue]:
        return LocalQueue
