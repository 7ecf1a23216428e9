"""``config.yaml`` as a document. Imports yaml: only on a cache miss or for a message."""

from pathlib import Path

from hermes_core.config.files import read_bytes
from hermes_core.errors import ConfigError
from hermes_yaml_edit.document import Document, Unreadable

__all__ = ["parsed", "read_document"]


def parsed(data: bytes, name: str, hint: str = "Mend them with `hermes config edit`.") -> Document:
    """Return what a file holds as a document. Raises ConfigError with every problem that keeps it from being one."""
    try:
        return Document.read(data, name)
    except Unreadable as error:
        raise ConfigError(error.problems, hint=hint) from error


def read_document(path: Path) -> Document:
    """Return the file as a document; an empty one when there is none. Raises ConfigError and UserError."""
    return parsed(read_bytes(path) or b"", path.name)
