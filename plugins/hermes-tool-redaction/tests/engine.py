"""The masker in the hands of the kernel, as the tests call it."""

from collections.abc import Iterable

from hermes_core.masking.watched import Watched
from hermes_known.known import Known
from hermes_known.stream import Mask, MaskingStream, mask, masked_text
from hermes_tool_redaction.masker import Secrets

MASKERS = [Watched("tool/redaction", Secrets())]


def stream(known: Iterable[str] = (), mask: Mask = mask) -> MaskingStream:
    """For a text in pieces."""
    return MaskingStream(Known(known), MASKERS, mask=mask)


def redact(text: str, known: Iterable[str] = (), mask: Mask = mask) -> str:
    """A whole text."""
    return masked_text(text, Known(known), MASKERS, mask)
