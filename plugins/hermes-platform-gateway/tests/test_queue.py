"""The queue in one process keeps the promises of every turn queue."""

from collections.abc import Callable

import pytest
from gateway_house import context_of

from hermes_core.errors import UnknownName
from hermes_core.kinds import TurnQueue
from hermes_core.testing import Bench
from hermes_core.testing.contract_queue import TurnQueueContract
from hermes_platform_gateway.queue import LocalQueue, open_queue


class TestLocal(TurnQueueContract):
    @pytest.fixture
    def make_queue(self) -> Callable[[], TurnQueue]:
        return LocalQueue


class Elsewhere(LocalQueue):
    name = "elsewhere"


def test_the_queue_is_the_local_one_unless_another_is_named(hermes: Bench) -> None:
    hermes.tmp_plugin(Elsewhere())
    assert type(open_queue(context_of(hermes))) is LocalQueue


def test_the_queue_that_is_named_is_its_plugin_s(hermes: Bench) -> None:
    queue = Elsewhere()
    hermes.configure({"workers.queue": "elsewhere"})
    hermes.tmp_plugin(queue)
    assert open_queue(context_of(hermes)) is queue


def test_a_queue_that_nobody_brings_is_said(hermes: Bench) -> None:
    hermes.configure({"workers.queue": "elsewere"})
    with pytest.raises(UnknownName, match="elsewere") as caught:
        open_queue(context_of(hermes))
    assert "pip install hermes-backend-elsewere" in str(caught.value) + str(caught.value.hint)
