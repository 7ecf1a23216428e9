"""Takes secrets out of text: what services' tokens look like, values behind the names of secrets, and known values.

``redact`` is for a whole text, ``Redactor`` for one that comes in pieces. Importing this costs nothing; patterns are
compiled when the first text is looked at. It is help against accidents: what looks like nothing is not found.
"""

from collections.abc import Iterable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.redaction.known import Known as Known
    from hermes_core.redaction.stream import Redactor as Redactor
    from hermes_core.redaction.stream import hidden as hidden
    from hermes_core.redaction.stream import mask as mask

__all__ = ["Known", "Redactor", "hidden", "mask", "redact"]

_HOMES = {"Known": "known", "Redactor": "stream", "hidden": "stream", "mask": "stream"}


def redact(text: str, known: "Known | Iterable[str]" = ()) -> str:
    """The text with its secrets masked; ``known`` are values that are secret whatever they look like."""
    from hermes_core.redaction.stream import Redactor

    redactor = Redactor(known)
    return redactor.feed(text) + redactor.close()


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(name)
    return getattr(import_module(f"hermes_core.redaction.{_HOMES[name]}"), name)
