"""What was found out about single statements before, and what that rested on: people and agents repeat themselves.

A statement is kept with all that its judgement rested on: its text, its folder, its input, the variables it used, and
what the disk said. Where any of that differs it is judged anew; the disk is looked at every time. So is what stands
behind a function or a file that the same command line makes: what it runs may be that.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from hermes_tool_guard.judgement import Setting
    from hermes_tool_guard.scene import Ends, Found, Scene

__all__ = ["LONGEST", "Key", "Memory", "memory_of", "recall", "record"]

# The text, the folders it may run in, what it reads.
Key = tuple[bytes, tuple[str, ...], str | None]
LONGEST = 400  # bytes of a text that is kept
MOST = 4096  # statements of one place; then it begins anew


class Seen(NamedTuple):
    """What one statement came to, and what must still be so for that to hold."""

    found: "Found"
    ends: "Ends"
    output: str
    steps: int
    written: frozenset[str]  # paths it makes
    used: tuple[tuple[str, tuple[str, ...] | None, tuple[str, ...]], ...]  # a variable, what it was and what it became
    links: tuple[str, ...]  # paths that were no links
    mounts: tuple[str, ...]  # paths where nothing was mounted


Memory = dict[Key, Seen]


@lru_cache(maxsize=8)
def memory_of(root: str, home: str, guarded: tuple[str, ...], setting: "Setting", losses: bool) -> Memory:
    """The statements that were looked at in one place, and whether with a look at what would be lost."""
    return {}


def recall(scene: "Scene", key: Key) -> Seen | None:
    """What is known of a statement, if it still holds; the scene is told of it. Raises Decided."""
    seen = None if scene.memory is None or _made(scene) else scene.memory.get(key)
    if seen is None or not scene.places.still_plain(seen.links, seen.mounts):
        return None
    if seen.used and not scene.variables.replay(seen.used):
        return None
    scene.step(seen.steps)
    scene.written |= seen.written
    scene.found.add(seen.found)
    return seen


def _made(scene: "Scene") -> bool:
    """Whether the command line made what a statement may run."""
    return bool(scene.functions or scene.written)


def _kept(scene: "Scene") -> int:
    """How much a scene remembers that is not replayed."""
    return len(scene.functions) + len(scene.traps) + scene.fillings + scene.racing + scene.reserved


def record(scene: "Scene", key: Key, walk: "Callable[[], tuple[Ends, str]]") -> "Ends":
    """Walk a statement, and keep what it came to if that may be kept. Raises Decided."""
    memory, scene.memory = scene.memory, None
    all_found, scene.found = scene.found, type(scene.found)()
    made, kept, steps = _made(scene), _kept(scene), scene.steps
    looked = scene.places.look_afresh()
    scene.variables.watch()
    try:
        ends, output = walk()
        links, mounts = scene.places.looked_at()
        used = scene.variables.watched()
        if memory is not None and links is not None and used is not None and not made:
            if len(memory) >= MOST:
                memory.clear()
            if _kept(scene) == kept:
                written = frozenset(scene.written)
                memory[key] = Seen(scene.found, ends, output, steps - scene.steps, written, used, links, mounts)
    finally:
        scene.memory = memory
        found, scene.found = scene.found, all_found
        scene.found.add(found)
        scene.places.look_as_before(looked)
    return ends
