"""The promises of every plugin, and of every turn queue, kept on a real server."""

from collections.abc import Callable

import pytest

from hermes_backend_procrastinate.queue import ProcrastinateQueue
from hermes_core.kinds import TurnQueue
from hermes_core.testing import PluginContract, TurnQueueContract


class TestPlugin(PluginContract):
    module = "hermes_backend_procrastinate"
    kind = "backend"


@pytest.mark.real
class TestQueue(TurnQueueContract):
    shared = True

    @pytest.fixture
    def make_queue(self, new_queue: Callable[[], ProcrastinateQueue]) -> Callable[[], TurnQueue]:
        return new_queue
