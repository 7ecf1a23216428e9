"""Takes secrets out of text: what services' tokens look like, values behind the names of secrets, and known values.

``redact`` is for a whole text, ``Redactor`` for one that comes in pieces. Importing this costs nothing; patterns are
compiled when the first text is looked at. It is help against accidents: what looks like nothing is not found.
"""

from collections.abc import Iterable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.redaction.known import Known as Known
    from hermes_core.redaction.stream import Mask as Mask
    from hermes_core.redaction.stream import Redactor as Redactor
    from hermes_core.redaction.stream import hidden as hidden
    from hermes_core.redaction.stream import mask as mask

MASKED = "⟦secret"  # how the mask begins that models are shown
__all__ = ["MASKED", "Known", "Redactor", "hidden", "mask", "redact"]

_HOMES = {"Known": "known", "Redactor": "stream", "hidden": "stream", "mask": "stream"}


def redact(text: str, known: "Known | Iterable[str]" = (), *, mask: "Mask | None" = None) -> str:
    """The text with its secrets masked; ``known`` are values that are secret whatever they look like.

    ``mask`` makes what stands in a secret's place; ``hidden`` is the one for texts that may be written back.
    """
    from hermes_core.redaction.quick import may_hold

    if not known and not may_hold(text):
        return text
    from hermes_core.redaction.known import Known

    known = known if isinstance(known, Known) else Known(known)
    if not may_hold(text) and not known.spans(text, 0):
        return text
    from hermes_core.redaction import stream

    redactor = stream.Redactor(known, mask=mask or stream.mask)
    return redactor.feed(text) + redactor.close()


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(name)
    return getattr(import_module(f"hermes_core.redaction.{_HOMES[name]}"), name)
