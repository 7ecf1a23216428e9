"""Work that is handed to a child agent, and what came of it."""

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from attrs import Factory

from hermes_core.types.model import Usage
from hermes_core.values import frozen

ChildStatus: TypeAlias = Literal["done", "failed", "interrupted", "timeout", "budget", "crashed", "refused"]


@frozen(kw_only=True)
class ChildTask:
    """Work for a child agent. These are wishes: a child is never given more than its parent has.

    Empty and zero mean: as much as the parent has. ``model`` is ``[provider:]model``; ``without`` names toolsets it
    does not get; ``levels`` is how many levels of children it may have itself. ``on_step`` gets the child's session id
    and a short line for each step, as it happens; without it the lines are shown as progress of the call.
    """

    goal: str
    context: str = ""
    toolsets: Sequence[str] = ()
    without: Sequence[str] = ()
    model: str = ""
    effort: str = ""
    calls: int = 0
    tokens: int = 0
    money: float = 0.0
    seconds: float = 0.0
    levels: int = 0
    on_step: Callable[[str, str], None] | None = None


@frozen(kw_only=True)
class ChildResult:
    """What a child came to. ``error`` says what went wrong; ``trace`` is its tool calls, ``name: outcome``, in order.

    ``done``: it answered. ``failed``: its turn ended with an error. ``interrupted``: somebody stopped it. ``timeout``
    and ``budget``: its limits were reached. ``crashed``: its process died. ``refused``: it was not started.
    ``untrusted``: it saw what comes from outside.
    """

    status: ChildStatus
    answer: str = ""
    session_id: str = ""
    error: str = ""
    model: str = ""
    usage: Usage = Factory(Usage)
    seconds: float = 0.0
    trace: Sequence[str] = ()
    untrusted: bool = False
