"""What an empty conversation shows: who answers, where, and how to begin."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from textual.content import Content

from hermes_platform_tui.markdown.clean import clean

if TYPE_CHECKING:
    from hermes_platform_tui.look.skin import Skin

__all__ = ["greeting"]

_ROOM = 20  # rows that leave room for the tips

_TIPS = (
    ("/", "commands"),
    ("@", "files, folders, diffs, pages"),
    ("F1", "all keys"),
    ("F2", "earlier conversations"),
    ("F3", "another model"),
    ("Ctrl+P", "everything else"),
)


def greeting(version: str, status: Mapping[str, str], skin: "Skin", *, rows: int) -> Content:
    """A few lines for somebody who has just come in, as many as there is room for in so many rows."""
    name = clean(skin.branding.agent_name)
    facts = [clean(status.get("model", "") or "no model yet"), _short(clean(status.get("cwd", "")))]
    lines = [
        Content.assemble((f"{name} {version}".rstrip(), "bold $primary")),
        Content.styled("  ·  ".join(filter(None, facts)), "$text-muted"),
        Content(""),
    ]
    if rows < _ROOM:
        return Content("\n").join(lines[:2])
    if welcome := skin.branding.welcome:
        lines += [Content(clean(welcome)), Content("")]
    width = max(len(key) for key, _ in _TIPS) + 2
    lines += [Content.assemble((f"{key:<{width}}", "$accent"), (what, "$text-muted")) for key, what in _TIPS]
    return Content("\n").join(lines)


def _short(path: str) -> str:
    home = os.path.expanduser("~")  # noqa: PTH111 - a string is wanted
    return "~" + path[len(home) :] if home != "/" and (path == home or path.startswith(home + "/")) else path
