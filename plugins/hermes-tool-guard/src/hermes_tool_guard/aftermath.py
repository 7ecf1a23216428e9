"""What is left at the end of a text: traps, functions that nothing called, and text that could not be read."""

import re
from typing import TYPE_CHECKING

from hermes_tool_guard.judgement import DERIVED
from hermes_tool_guard.scene import DEPTH

if TYPE_CHECKING:
    from hermes_tool_guard.scene import Folders, Scene

__all__ = ["at_the_end", "worst_of"]

_PARTS = re.compile(r"[;&|\n(){}]+|\b(?:then|do|else)\b")
_LONGEST = 4096  # characters of a text that is looked through although it cannot be read


def at_the_end(scene: "Scene", folders: "Folders") -> None:
    """Traps run last; and functions that nothing called may be called by whoever comes next."""
    from hermes_tool_guard.shell import judge_code

    while scene.traps or scene.uncalled:
        if scene.traps:
            code, _ = scene.traps.pop()
            judge_code(scene, code, folders)
        else:
            label, where = scene.uncalled.popitem()
            shell, body = scene.functions[label]
            with scene.perhaps():
                shell.walk(body, where, DERIVED)


def worst_of(scene: "Scene", code: str, folders: "Folders") -> None:
    """Text that cannot be read is asked about; but what is never done is found in its parts, as far as they can be."""
    from hermes_tool_guard.shell import judge_code

    if len(code) > _LONGEST:
        return
    scene.depth += 1
    try:
        for part in _PARTS.split(code)[:50] if scene.depth < DEPTH else ():
            piece = f"{part.strip()} ".replace("\\ ", "\\\\ ")  # a line of Windows may end in a backslash
            if piece.strip() and piece.strip() != code.strip():
                judge_code(scene, piece.strip(), folders)
    finally:
        scene.depth -= 1
