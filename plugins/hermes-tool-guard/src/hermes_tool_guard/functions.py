"""Functions that a command defines."""

import re
from typing import TYPE_CHECKING

from hermes_tool_guard.commands import named
from hermes_tool_guard.judgement import DERIVED, Class
from hermes_tool_guard.redirects import REDIRECTS, redirect
from hermes_tool_guard.run import names

if TYPE_CHECKING:
    from tree_sitter import Node

    from hermes_tool_guard.scene import Ends, Folders
    from hermes_tool_guard.shell import Shell

__all__ = ["defined"]

# Names of which a command line rightly thinks that it knows what they do.
_SHADOWED = names(
    "alias awk bash builtin cat cd chmod command cp curl docker echo env eval exec exit export find git grep head id "
    "jq kill kubectl less ls make mkdir mv node npm ping pip printf ps pwd python python3 read rm rsync scp sed set sh "
    "sort ssh su sudo tail tar tee test touch true trap type unset wc wget which xargs"
)


def defined(shell: "Shell", node: "Node", folders: "Folders", _stdin: str | None) -> "Ends":
    """A function is judged where it is called, with its arguments, or at the end if it never is."""
    scene, text = shell.scene, shell.words.text
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name is None or body is None:
        scene.ask(Class.UNCLEAR, "defines a function that the guard cannot read")
        return folders, folders
    for child in node.children:
        if child.type in REDIRECTS:  # where what the function prints goes, whoever calls it
            redirect(shell, child, folders, None)
    label = text(name)
    if any(label == text(one) for one in named(body, "command_name")):
        itself = re.escape(label)
        if re.search(rf"(?<!\w){itself}\s*\|\s*{itself}(?!\w)", text(body)) or "&" in text(body):
            scene.deny(Class.PROCESSES, "is a fork bomb")
        scene.ask(Class.PROCESSES, f"defines the function {label}, which runs itself")
    if label in _SHADOWED:
        scene.ask(Class.UNCLEAR, f"gives the name {label} another meaning")
    if label in scene.functions:  # which of the two it is when it is called depends on what runs
        scene.ask(Class.UNCLEAR, f"defines the function {label} more than once")
        other, old = scene.functions[label]
        with scene.perhaps():
            other.walk(old, folders, DERIVED)
    scene.functions[label] = (shell, body)
    scene.uncalled[label] = folders
    shell._output = DERIVED
    return folders, folders
