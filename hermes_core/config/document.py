"""``config.yaml`` as a document. Imports yaml: only on a cache miss or for a message."""

from pathlib import Path

from hermes_core.config.files import read_bytes
from hermes_core.errors import ConfigError
from hermes_yaml_edit.document import Document, Unreadable

__all__ = ["parsed", "read_document"]


def parsed(text: str, name: str) -> Document:
    """A text as a document. Raises ConfigError with every problem that keeps it from being a mapping of settings."""
    try:
        return Document(text, name)
    except Unreadable as error:
        raise ConfigError(error.problems) from error


def read_document(path: Path) -> Document:
    """The file as a document; an empty one when there is none. Raises ConfigError and UserError."""
    try:
        return Document.read(read_bytes(path) or b"", path.name)
    except Unreadable as error:
        raise ConfigError(error.problems) from error
