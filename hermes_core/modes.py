"""The five ways in which a hook is called, how long each may take, and the marks that say which one a hook is."""

from collections.abc import Callable
from typing import Any, Literal, TypeVar

import pluggy

__all__ = [
    "DEADLINES", "MODEL_DEADLINE", "PROJECT", "REGISTER_DEADLINE", "Mode", "ask", "contribute", "decide", "hookimpl",
    "mode_of", "observe", "transform",
]  # fmt: skip

PROJECT = "hermes"
Mode = Literal["contribute", "observe", "transform", "decide", "ask"]
DEADLINES: dict[Mode, float] = {"contribute": 0.1, "observe": 5.0, "transform": 5.0, "decide": 10.0, "ask": 300.0}
REGISTER_DEADLINE = 8.0  # seconds for what a plugin adds; longer than 0.1 is told by ``hermes doctor``
MODEL_DEADLINE = 330.0  # seconds for a transform of a plugin with the permission ``llm.call``: it may wait for a model

hookimpl = pluggy.HookimplMarker(PROJECT)
_hookspec = pluggy.HookspecMarker(PROJECT)
_F = TypeVar("_F", bound=Callable[..., Any])


def _marker(mode: Mode) -> Callable[[_F], _F]:
    def mark(function: _F) -> _F:
        function.hermes_mode = mode  # type: ignore[attr-defined]
        return _hookspec(function)

    return mark


contribute = _marker("contribute")
observe = _marker("observe")
transform = _marker("transform")
decide = _marker("decide")
ask = _marker("ask")


def mode_of(spec: Callable[..., Any]) -> Mode:
    """Return the mode a hookspec was declared with. Raises AttributeError when it is not one."""
    mode: Mode = spec.hermes_mode  # type: ignore[attr-defined]
    return mode
