"""Takes secrets out of text: the values this process was told, and what plugins' maskers find.

A plugin masks through its context (``ctx.masks``). ``masked`` is for what has none: libraries, and the last words of
a process. Importing this costs nothing. It is help against accidents: what looks like nothing is not found.
"""

import os
import re
import weakref

from hermes_core import environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class Masking(Protocol):
        """What a kernel masks with; ``hermes_core.config.masks`` has the one there is."""

        def always(self, text: str) -> str:
            """Return the text with its secrets masked, whatever the settings say."""

        def is_token(self, value: str) -> bool:
            """Tell whether a value is a secret by its look."""


__all__ = ["MASKED", "masked", "might_be_secret", "put_to_use"]

MASKED = "⟦secret"  # how the mask begins that models are shown
_CODE = re.compile(r"[\w.=+~:-]{16,}").fullmatch
_in_use: "weakref.ref[Masking] | None" = None


def put_to_use(masks: "Masking") -> None:
    """Mask with what this kernel knows, wherever there is no context. Of several in a process the last one counts."""
    global _in_use
    _in_use = weakref.ref(masks)
    environment.looks_secret = _is_token


def masked(text: str) -> str:
    """Return the text as anybody may see it, where no context is at hand.

    It is masked as the kernel masks that was made last; without one, by the secrets of the environment.
    """
    if masks := _in_use and _in_use():
        return masks.always(text)
    from hermes_known.known import Known
    from hermes_known.stream import masked_text

    kept = (value for name, value in os.environ.items() if environment.is_secret(name, value))
    return masked_text(text, Known(kept))


def _is_token(value: str) -> bool:
    return bool((masks := _in_use and _in_use()) and masks.is_token(value))


def might_be_secret(value: str) -> bool:
    """Tell whether a value might be a secret, where nobody who knows could be asked: a long word with a digit."""
    return _CODE(value) is not None and any(sign.isdigit() for sign in value)
