"""What stands between a plugin and a broker: the marks of its methods, held against the manifest."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from hermes_core.errors import NotPermitted
from hermes_core.permissions import free, needs
from hermes_core.plugins.index import Installed
from hermes_core.plugins.manifest import Manifest
from hermes_core.plugins.permitted import Permitted


@needs("llm.call", "counted")
class Counter:
    """A broker."""

    count: int

    async def later(self, by: int = 1, *, everybody: bool = False) -> int:
        """Count."""
        raise NotImplementedError

    def now(self) -> int:
        """Count."""
        raise NotImplementedError

    def several(self) -> AsyncIterator[int]:
        """Count."""
        raise NotImplementedError

    @free
    def look(self) -> int:
        """What it is."""
        raise NotImplementedError

    @needs("llm.call", "counted")
    @needs("sessions.write", "wrote")
    def both(self) -> int:
        """Count, and write."""
        raise NotImplementedError

    @needs("host.serve", "counted everybody", given="everybody")
    async def some(self, *, everybody: bool = False) -> int:
        """Count, without a permission those of one's own."""
        raise NotImplementedError


class Counting(Counter):
    def __init__(self) -> None:
        self.count = 7

    async def later(self, by: int = 1, *, everybody: bool = False) -> int:
        return by

    def now(self) -> int:
        return 2

    async def several(self) -> AsyncIterator[int]:
        yield 3

    def look(self) -> int:
        return 4

    def both(self) -> int:
        return 5

    async def some(self, *, everybody: bool = False) -> int:
        return 6

    def inside(self) -> int:
        """What is no part of the broker."""
        return 0


def permitted(*kernel: str, make: Any = Counting) -> Any:
    made = {"api": 1, "name": "board", "kind": "tool", "summary": "Counts.", "permissions": {"kernel": kernel}}
    return Permitted(Installed(label="tool/board", manifest=Manifest(made), module="board", path=""), make)


async def test_what_is_declared_is_done() -> None:
    broker = permitted("llm.call", "sessions.write", "host.serve")
    assert [await broker.later(1), broker.now(), [n async for n in broker.several()]] == [1, 2, [3]]
    assert [broker.look(), broker.both(), await broker.some(everybody=True), broker.count] == [4, 5, 6, 7]


async def test_what_is_not_declared_is_refused_when_it_is_done() -> None:
    broker = permitted("sessions.write")
    waits = broker.later()  # nothing is asked of it yet
    for ask in (broker.now, broker.several, broker.both, lambda: broker.count):
        with pytest.raises(NotPermitted, match=r"tool/board.* counted without declaring it") as caught:
            ask()
        assert caught.value.hint == 'Add "llm.call" to [permissions] kernel in hermes-plugin.toml.'
    with pytest.raises(NotPermitted, match="counted without declaring it"):
        await waits
    assert broker.look() == 4


async def test_all_that_a_method_names_is_needed() -> None:
    with pytest.raises(NotPermitted, match="wrote without declaring it"):
        permitted("llm.call").both()


async def test_what_only_an_argument_needs_is_asked_for_with_it() -> None:
    broker = permitted()
    assert [await broker.some(), await broker.some(everybody=False)] == [6, 6]
    with pytest.raises(NotPermitted, match="counted everybody"):
        await broker.some(everybody=True)


def test_nothing_else_is_within_reach() -> None:
    broker = permitted("llm.call")
    for name in ("inside", "_secret", "nothing"):
        with pytest.raises(AttributeError, match=name):
            getattr(broker, name)


def test_a_broker_is_made_when_it_is_first_used_and_one_that_fails_is_made_again() -> None:
    made: list[int] = []

    def make() -> Counting:
        made.append(1)
        if len(made) == 1:
            raise AttributeError("It is away.")
        return Counting()

    broker = permitted("llm.call", make=make)
    assert made == []
    with pytest.raises(AttributeError):
        broker.now()
    assert [broker.now(), broker.now(), len(made)] == [2, 2, 2]
