"""The guard between a plugin and a broker: it knows the plugin's manifest, and the marks of the broker's methods."""

from collections.abc import Callable, Sequence
from functools import cached_property, reduce
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any

from hermes_core.permissions import Need, needed

if TYPE_CHECKING:
    from hermes_core.plugins.index import Installed

__all__ = ["Permitted"]


class Permitted:
    """A broker as one plugin may use it: made when something is first asked of it, and no more than it documents."""

    def __init__(self, installed: "Installed", make: Callable[[], object]) -> None:
        self._installed, self._make = installed, make

    @cached_property
    def _broker(self) -> Any:
        return self._make()

    def __getattr__(self, name: str) -> Any:
        found = None if name.startswith("_") else needed(type(self._broker), name)
        if found is None:
            raise AttributeError(f"A plugin is given nothing that is called {name}.")
        needs, thing = found, getattr(self._broker, name)
        if not callable(thing):
            self._check(needs, {})
            return thing

        async def awaited(*args: Any, **kwargs: Any) -> Any:
            self._check(needs, kwargs)
            return await thing(*args, **kwargs)

        def called(*args: Any, **kwargs: Any) -> Any:
            self._check(needs, kwargs)
            return thing(*args, **kwargs)

        return awaited if iscoroutinefunction(thing) else called

    def _check(self, needs: Sequence[Need], given: Any) -> None:
        for need in needs:
            name, *inside = need.given.split(".")
            said = reduce(lambda value, part: getattr(value, part, None), inside, given.get(name)) if name else True
            if said:
                self._installed.require("permissions", "kernel", need.permission, need.did)
