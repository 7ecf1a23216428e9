"""Settings laid over each other; on top of a person's lies what an administrator laid down for the machine."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from hermes_core.config.files import explain, read_bytes
from hermes_core.config.spellings import spelled_out
from hermes_core.errors import UserError
from hermes_core.types.base import JSON

THEIRS = "Only an administrator of this machine can mend that."


def put(data: JSON, keys: Sequence[str], value: JSON) -> dict[str, JSON]:
    """Return a copy of the mapping with the value in its place; what is no section on the way there makes room."""
    there = data if isinstance(data, dict) else {}
    return {**there, keys[0]: put(there.get(keys[0]), keys[1:], value) if len(keys) > 1 else value}


def merged(below: JSON, above: JSON) -> JSON:
    """Return one over the other: sections are joined, the rest is replaced, and what says nothing changes nothing."""
    if isinstance(below, dict) and isinstance(above, dict):
        return {**below, **{key: merged(below.get(key), value) for key, value in above.items()}}
    return below if above is None else above


def managed(file: Path) -> tuple[JSON, dict[str, str]]:
    """Return what an administrator's file says, and who says that by dotted key; both empty where there is none.

    Raises ConfigError for a broken file, UserError for one that cannot be read or that others than root can write.
    """
    try:
        loose = [path for path in (file.parent, file) if (facts := path.stat()).st_uid or facts.st_mode & 0o022]
    except FileNotFoundError:
        return {}, {}
    except OSError as error:
        raise explain(error, "read", file) from error
    if loose:
        text = f"{loose[0]} can be written by others than root, so it is no administrator's."
        raise UserError(text, hint=f"As root: chown root {loose[0]}; chmod go-w {loose[0]}")
    from hermes_core.config.document import parsed

    said = spelled_out(parsed(read_bytes(file) or b"", str(file), THEIRS).data)
    return said, dict.fromkeys(_leaves(said), str(file))


def _leaves(section: JSON, path: str = "") -> Iterator[str]:
    for key, value in section.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{path}{key}.")
        elif value is not None:
            yield f"{path}{key}"
