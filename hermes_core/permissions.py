"""What a plugin's manifest must declare for what it asks of the kernel: said where a broker's method is documented.

The kernel hands out each broker behind one guard, which goes by these marks. So a method that is written down here and
nowhere else is enforced, and one without a mark cannot be reached.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

__all__ = ["Need", "free", "needed", "needs"]

T = TypeVar("T")
_MARK = "__needs__"


class Need(NamedTuple):
    """A ``permission`` of the kernel, and what a plugin ``did`` without it. With ``given`` only for that argument."""

    permission: str
    did: str
    given: str = ""


def needs(permission: str, did: str, *, given: str = "") -> Callable[[T], T]:
    """Mark a method, or a class for all that it documents. A method's own marks stand in for its class's.

    Several marks are all needed. ``did`` goes on after the plugin's name: "read past conversations". With ``given`` it
    is needed only where the argument of that name is given, by its name; ``order.event``: where that is said in it.
    """

    def mark(thing: T) -> T:
        setattr(thing, _MARK, (Need(permission, did, given), *vars(thing).get(_MARK, ())))
        return thing

    return mark


def free(thing: T) -> T:
    """Mark a method, or a class, that needs no permission, or looks at what is asked for by itself."""
    setattr(thing, _MARK, ())
    return thing


def needed(cls: type, name: str) -> Sequence[Need] | None:
    """Return what a plugin needs for something that a broker documents; None where it documents no such thing."""
    for base in cls.__mro__:
        known = vars(base)
        if name in known or name in known.get("__annotations__", ()):
            found: Sequence[Need] | None = vars(known[name]).get(_MARK) if callable(known.get(name)) else None
            if (found := known.get(_MARK) if found is None else found) is not None:
                return found
    return None
