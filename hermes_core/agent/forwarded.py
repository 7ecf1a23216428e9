"""What a broker has of the store as it is: the store's own method, in a store that is opened when first needed."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

if TYPE_CHECKING:
    from hermes_core.store.store import Store

__all__ = ["of_store"]

P = ParamSpec("P")
T = TypeVar("T")


def of_store(
    method: "Callable[[Store], Callable[P, Awaitable[T]]]",
) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """Make a method of the store one of a class with a ``_runtime``; the signature is the broker's, or mypy says so."""

    async def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await method(await self._runtime.store())(*args, **kwargs)

    return call
