"""What every test pays for and none is about is done once, or not at all, in the processes of the tests.

A new home has no index of the plugins yet, and to make one takes longer than most of what tests do in it. Nor does a
test wait until its store is on the disk: what a process wrote outlives its death, and no test cuts the power.
"""

import pickle
from collections.abc import Iterator

from hermes_core.plugins import index
from hermes_core.store.file_database import FileDatabase

__all__ = ["remember_packages", "wait_for_no_disk"]


def remember_packages() -> None:
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


def wait_for_no_disk() -> None:
    """Have SQLite hand its writes to the system and go on. One that is to be ``full`` durable waits all the same."""
    prepare = FileDatabase._prepare

    def _prepare(database: FileDatabase, durability: str) -> None:
        database.connection.execute("PRAGMA synchronous=OFF")  # the switch to WAL waits, too
        prepare(database, durability)
        if durability != "full":
            database.connection.execute("PRAGMA synchronous=OFF")

    FileDatabase._prepare = _prepare  # type: ignore[method-assign]
