"""What is installed is looked through once in a process, and not for each home that a test makes.

A new home has no index of the plugins yet, and to make one takes longer than most of what tests do in it.
"""

import pickle
from collections.abc import Iterator

from hermes_core.plugins import index

__all__ = ["remember"]


def remember() -> None:
    """Keep what is found on the path of this process, for as long as that path and its folders stay as they are."""
    look, found = index._packages, dict[str, bytes]()
    path = index._search_path()

    def packages() -> Iterator[index.Installed]:
        if index._search_path() != path:  # a test has packages of its own
            yield from look()
            return
        key = repr([index._stat(entry) for entry in path])
        if key not in found:
            found[key] = pickle.dumps([*look()])
        kept = pickle.loads(found[key])
        yield from kept if all(index._stat(one.manifest_file) == one.stat for one in kept) else look()

    for _ in packages():  # now, so that every fork of this process knows them
        pass
    index._packages = packages
