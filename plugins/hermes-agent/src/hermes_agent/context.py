"""What a tool of an agent is given beside its arguments: what the program has for it, and whose call it is."""

from types import UnionType
from typing import Any, Generic, TypeVar, Union, get_args, get_origin

from hermes_core.errors import UserError
from hermes_core.kinds import ToolContext
from hermes_core.types import Principal

__all__ = ["Context", "must_fit"]

D = TypeVar("D")


class Context(Generic[D]):
    """Given to a parameter that is annotated with it; the model is not told of it.

    ``deps`` is what ``Agent(deps=…)`` was made with: a client, a connection, a user. ``call`` is the kernel's context.
    """

    def __init__(self, deps: D, call: ToolContext) -> None:
        self.deps, self.call = deps, call

    @property
    def owner(self) -> Principal:
        """Whose turn it is."""
        return self.call.session.owner

    @property
    def session(self) -> str:
        """The session that the call is in."""
        return self.call.session.id


def must_fit(tool: str, kind: Any, deps: object) -> None:
    """Raise UserError where a tool wants ``Context`` of something else than there is.

    Of a union one part has to fit. What cannot be told of a value (a protocol, a TypedDict, ``Any``) fits.
    """
    wanted = get_args(kind)[0] if get_args(kind) else Any
    parts = get_args(wanted) if get_origin(wanted) in (Union, UnionType) else (wanted,)
    if not any(_fits(part, deps) for part in parts):
        names = " or ".join(getattr(part, "__name__", str(part)) for part in parts)
        hint = "Make the agent with deps=…"
        raise UserError(f"Tool {tool}: it wants deps of {names}, and has {type(deps).__name__}.", hint=hint)


def _fits(kind: Any, deps: object) -> bool:
    known = get_origin(kind) or kind
    try:
        return not isinstance(known, type) or isinstance(deps, known)
    except TypeError:
        return True
