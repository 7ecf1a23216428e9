"""What a person is told of an error."""

from hermes_core.errors import HermesError
from hermes_core.types import Failed

__all__ = ["cause", "failed"]


def failed(error: HermesError) -> Failed:
    """An error as an event; its kind is the error's name in snake case."""
    kind = "".join(f"_{c.lower()}" if c.isupper() else c for c in type(error).__name__).lstrip("_")
    return Failed(kind=kind, text=error.text, hint=error.hint)


def cause(error: BaseException) -> HermesError:
    """What to tell a person of an error nobody foresaw."""
    while isinstance(error, BaseExceptionGroup):
        error = next((e for e in error.exceptions if isinstance(e, HermesError)), error.exceptions[0])
    if isinstance(error, HermesError):
        return error
    return HermesError(f"{type(error).__name__}: {error}", hint="See `hermes logs`; `hermes doctor` may know why.")
