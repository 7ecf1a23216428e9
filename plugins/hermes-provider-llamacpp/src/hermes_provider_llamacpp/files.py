"""The GGUF files of a folder, each a model by the name of its file."""

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from hermes_core.errors import Refused
from hermes_core.values import frozen
from hermes_provider_llamacpp.header import Header, read_header

__all__ = ["ROOM", "File", "found", "free_memory", "named"]

ROOM = 16_384  # tokens that room is made for where nobody says how many: each costs memory
_PART = re.compile(r"-(\d{5})-of-(\d{5})$")


@frozen(kw_only=True)
class File:
    """A model in a file, or in several that belong together. ``size`` are bytes; ``problem`` says why it cannot be."""

    name: str
    path: Path
    size: int
    header: Header
    problem: str = ""

    def room(self, wanted: int) -> int:
        """Say for how many tokens room is made, which is never more than the model was made for."""
        most = self.header.context or wanted or ROOM
        return min(wanted or ROOM, most)

    def memory(self, room: int) -> int:
        """Say about how many bytes of memory it needs with room for so many tokens."""
        return self.size + self.header.cache * room


def found(folder: Path) -> list[File]:
    """List the models of a folder and of those in it, by name. What only goes with a model is none."""
    made: dict[str, File] = {}
    for path in sorted(folder.rglob("*.gguf")) if folder.is_dir() else ():
        part = _PART.search(path.stem)
        if path.stem.startswith("mmproj") or (part and int(part[1]) != 1) or not path.is_file():
            continue
        one = _file(path, int(part[2]) if part else 1)
        made.setdefault(one.name, one)
    return list(made.values())


def named(files: Sequence[File], name: str) -> File:
    """Find a model by its name, or by how that begins where only one does. Raises Refused."""
    begun = [one for one in files if one.name.casefold().startswith(name.casefold())]
    one = next((one for one in files if one.name == name), begun[0] if len(begun) == 1 else None)
    if one is None:
        there = ", ".join(one.name for one in files[:12]) or "no file at all"
        hint = "hermes gguf list shows them; providers.gguf.folder says where they are."
        raise Refused(f"There is no GGUF model {name}; there is {there}.", reason="model_not_found", hint=hint)
    if one.problem:
        raise Refused(f"{one.name} cannot be used: {one.problem}.", reason="model_not_found", hint="Fetch it again.")
    return one


def free_memory() -> int:
    """Say how many bytes of memory are free, what the disk only lent counted in; 0 where that is not known."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), 0)


@lru_cache(maxsize=1024)  # a turn asks several times what fits into a model
def _header(path: Path, changed: int, size: int) -> Header:
    """Read the header of a file, again when it is another one."""
    return read_header(path)


def _file(path: Path, parts: int) -> File:
    stem = _PART.sub("", path.stem)
    names = [path.with_name(f"{stem}-{number:05}-of-{parts:05}.gguf") for number in range(1, parts + 1)]
    every = names if parts > 1 else [path]
    name = "".join(sign for sign in stem if sign.isprintable())  # it is told in terminals
    header, problem, size = Header(), "", 0
    try:
        stats = [one.stat() for one in every]
        size = sum(one.st_size for one in stats)
        header = _header(path, stats[0].st_mtime_ns, stats[0].st_size)
    except (OSError, ValueError) as error:
        problem = error.strerror or str(error) if isinstance(error, OSError) else str(error)
    return File(name=name, path=path, size=size, header=header, problem=problem)
