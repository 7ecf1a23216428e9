"""What somebody is told when something is refused: who has no terminal here learns neither its commands nor paths."""

import re

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_platform_gateway.people.access import Access

__all__ = ["refusal", "without_places"]

_PATH = re.compile(r"(?<![\w./:-])(?:~|/(?!/))[\w.@+-]*(?:/[\w.@+ -]*[\w.@+-])+/?")
_HOLDER = re.compile(r"\S+:\d+:[0-9a-f]+(?= is working on it)")  # a machine, a process


def refusal(ctx: PluginContext, error: HermesError, access: Access | None) -> str:
    """An error in words, for whoever it is told."""
    if access is not None and access.role == "admin":
        return str(error)
    text, hint = without_places(error.text), error.hint
    if not hint or re.search(rf"\b{re.escape(ctx.program)}\s+[a-z]", hint) or _PATH.search(hint):
        return text
    return f"{text} {hint}" if text.endswith((".", "!", "?", ":")) else f"{text}. {hint}"


def without_places(text: str) -> str:
    """A text without paths of this machine, and without the names of it and its processes."""
    return _HOLDER.sub("another turn", _PATH.sub("…", text))
