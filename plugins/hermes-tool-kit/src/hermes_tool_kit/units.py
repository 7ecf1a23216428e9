"""Units of work over the own tables of a plugin: methods that are written as one transaction, and awaited."""

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from hermes_core.database import WRITE, Begin, StoreBroker, TablesTransaction

__all__ = ["HasStore", "unit"]


class HasStore(Protocol):
    """Keeps rows: ``store`` is what ``ctx.store`` gave."""

    store: StoreBroker


Keeper = TypeVar("Keeper", bound=HasStore)
P = ParamSpec("P")
T = TypeVar("T")


def unit(
    begin: Begin = WRITE,
) -> Callable[
    [Callable[Concatenate[Keeper, TablesTransaction, P], T]],
    Callable[Concatenate[Keeper, P], Coroutine[object, object, T]],
]:
    """Make a method that does its work in a transaction one to await; ``begin`` says whether it writes.

    The work may be called again where another process was in the way, so it does nothing but statements.
    """

    def decorate(
        work: Callable[Concatenate[Keeper, TablesTransaction, P], T],
    ) -> Callable[Concatenate[Keeper, P], Coroutine[object, object, T]]:
        @wraps(work)
        async def run(self: Keeper, /, *args: P.args, **kwargs: P.kwargs) -> T:
            return await self.store.transact(lambda tx: work(self, tx, *args, **kwargs), begin)

        return run

    return decorate
