"""What a person is told of an error."""

from collections.abc import Callable

from hermes_core import errors
from hermes_core.errors import HermesError, UserError
from hermes_core.types import Failed

__all__ = ["cause", "error_of", "failed", "given_up"]


def failed(error: HermesError, clean: Callable[[str], str]) -> Failed:
    """Return an error as an event; its kind is its name in snake case. ``clean`` takes secrets out of what it says."""
    return Failed(kind=_kind(type(error)), text=clean(error.text), hint=clean(error.hint))


def error_of(event: Failed) -> HermesError:
    """Return the error of an event, of the class that its kind names; beyond text and hint it knows no more."""
    every = [HermesError, *(one for one in vars(errors).values() if isinstance(one, type))]
    cls = next((one for one in every if issubclass(one, HermesError) and _kind(one) == event.kind), HermesError)
    error = cls.__new__(cls)
    HermesError.__init__(error, event.text, hint=event.hint)
    return error


def _kind(cls: type) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in cls.__name__).lstrip("_")


def cause(error: BaseException) -> HermesError:
    """Return what to tell a person of an error nobody foresaw."""
    while isinstance(error, BaseExceptionGroup):
        error = next((e for e in error.exceptions if isinstance(e, HermesError)), error.exceptions[0])
    if isinstance(error, HermesError):
        return error
    return HermesError(f"{type(error).__name__}: {error}", hint="See `hermes logs`; `hermes doctor` may know why.")


def given_up(deaths: int, at: str) -> UserError:
    """Say why a turn is not taken up once more; ``at`` names the tools that ran when its process died."""
    during = f" while {at} ran" if at else ""
    return UserError(
        f"This turn was given up: its process died {deaths} times{during}.",
        hint="Ask for it in another way. `hermes logs` and the system's log may know why it died.",
    )
