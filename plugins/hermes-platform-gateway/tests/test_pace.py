"""What comes under a name is spread, and work under it is done in order, or so much of it beside each other."""

import asyncio

import pytest

from hermes_platform_gateway.keyed_queue import KeyedQueue
from hermes_platform_gateway.pace import Pace


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_burst_is_free_and_what_follows_is_spread() -> None:
    clock = Clock()
    pace = Pace(3, 10, clock)
    assert [round(pace.wait("a"), 3) for _ in range(5)] == [0, 0, 0, 0.1, 0.2]
    assert pace.wait("b") == 0
    clock.now += 10
    assert [round(pace.wait("a"), 3) for _ in range(4)] == [0, 0, 0, 0.1]


def test_the_longer_a_message_takes_the_longer_the_next_waits() -> None:
    clock = Clock()
    pace = Pace(1, 10, clock)
    assert pace.wait("a") == 0
    with pace.taking("a"):
        clock.now += 0.05
    assert pace.wait("a") == pytest.approx(8 * 0.05)
    assert pace.wait("b") == 0


async def test_work_under_a_name_is_in_order_or_so_much_of_it_beside() -> None:
    queue, done, now, most = KeyedQueue(), list[int](), 0, 0

    def work(number: int):
        async def run() -> None:
            nonlocal now, most
            now += 1
            most = max(most, now)
            await asyncio.sleep(0)
            now -= 1
            done.append(number)
            if number == 2:
                raise RuntimeError("one that breaks stops no other")

        return run

    for number in range(6):
        queue.put("a", work(number))
    await queue.settle()
    assert (done, most) == ([0, 1, 2, 3, 4, 5], 1)
    for number in range(6):
        queue.put("a", work(number), beside=2)
    await queue.settle()
    assert (sorted(done[6:]), most) == ([0, 1, 2, 3, 4, 5], 2)
