"""What is watched, and what changed."""

from collections.abc import Sequence
from typing import Literal

from hermes_core.values import frozen

__all__ = ["Change", "Kind", "Watch"]

Kind = Literal["path", "page", "feed", "command"]


@frozen(kw_only=True)
class Watch:
    """Something that starts a turn when it changes.

    ``prompt`` is what the person wants done then. ``every`` and ``settle`` are seconds: between two looks, and how long
    a path must be quiet before a change of it counts. ``seen`` is what was seen last, empty before the first look, and
    ``number`` how many changes there were. ``note`` says what is wrong with it.
    """

    name: str
    kind: Kind
    what: str
    prompt: str
    every: float = 300.0
    settle: float = 2.0
    per_day: int = 0
    globs: Sequence[str] = ()
    tools: Sequence[str] | None = None
    deliver: str = ""
    folder: str = ""
    model: str = ""
    private: bool = False
    seen: str = ""
    number: int = 0
    due: float = 0.0
    note: str = ""
    created: float = 0.0


@frozen(kw_only=True)
class Change:
    """Something changed. ``text`` is what is told of it, empty once its turn was ordered."""

    id: int = 0
    watch: str
    event: str
    text: str = ""
    state: Literal["waiting", "done", "failed"] = "waiting"
    session: str = ""
    note: str = ""
    tries: int = 0
    due: float = 0.0
    created: float = 0.0
