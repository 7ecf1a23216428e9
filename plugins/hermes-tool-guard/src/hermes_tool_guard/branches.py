"""Where things are in the tree of a command, and where its ways meet again."""

import re
from typing import TYPE_CHECKING

from hermes_tool_guard.judgement import OPAQUE

if TYPE_CHECKING:
    from tree_sitter import Node

    from hermes_tool_guard.scene import Folders

__all__ = ["MOVES", "appends", "both", "last_command"]

_QUOTED = rb"(?:['\"\\]|\\\n)*"  # what may stand between the letters of a name
MOVES = re.compile(
    rb"\b(?:%s)\b|\(\)|[$`]|(?:^|\s)[\\'\"]*\.[\\'\"]*\s"
    % b"|".join(_QUOTED.join(bytes((b,)) for b in name) for name in (b"cd", b"pushd", b"popd", b"eval", b"source"))
)


def last_command(node: "Node") -> int:
    """Where the last command of a statement ends, or -1."""
    while node.type in ("list", "pipeline") and node.children:
        node = node.children[-1]
    return node.end_byte if node.type == "command" else -1


def appends(node: "Node") -> bool:
    """Whether a redirection of a statement keeps what was in its file."""
    below = [c for one in node.children if one.type == "file_redirect" for c in one.children]
    return any(c.type == ">>" for c in below)


def both(*folders: "Folders") -> "Folders":
    """The folders that a command may be in after several ways."""
    first = folders[0]
    for other in folders:
        if other is not first and other != first:
            break
    else:
        return first
    together = tuple(dict.fromkeys(f for group in folders for f in group))
    return together if len(together) <= 4 else (OPAQUE, *together[:4])
