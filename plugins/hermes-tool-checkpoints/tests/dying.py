"""Takes snapshots, brings them back or drops old ones, in processes that may be killed; with words, in this one."""

import sys
from pathlib import Path

from hermes_core.testing.forks import serve
from hermes_tool_checkpoints.config import Config
from hermes_tool_checkpoints.git import Job
from hermes_tool_checkpoints.prune import prune
from hermes_tool_checkpoints.restore import restore
from hermes_tool_checkpoints.store import About, Store


def play(folder: str, data: str, what: str) -> None:
    config = Config(max_snapshots=2 if what == "prune" else Config().max_snapshots)
    place, store = Path(folder), Store(Path(data), config, closed=Path(data).parent)
    if what == "take":
        store.take(place, About(tool="t"), Job(60))
    elif what == "prune":
        prune(store, Job(60))
    else:
        restore(store, place, store.snapshots(place, Job(60))[-1], About(kind="rollback"), Job(60))


if __name__ == "__main__":
    if sys.argv[1:]:
        play(*sys.argv[1:])
    else:
        serve(play)
