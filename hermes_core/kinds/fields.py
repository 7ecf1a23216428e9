"""What a setup step asks and shows. Imported when first used: no start of the program needs it."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

__all__ = ["LoginPrompt", "SetupField"]


class SetupField(NamedTuple):
    """One thing a person says. ``name`` is what it is called among the values.

    ``key`` is where it is kept: the name of a secret, else a dotted setting of the plugin's own section or of one of
    its providers (``providers.NAME.base_url``). ``choices`` are the only answers, ``default`` is proposed where nothing
    is set, and one that is not ``required`` may stay empty. ``check`` says what is wrong with an answer, or nothing.
    """

    name: str
    prompt: str
    key: str
    secret: bool = False
    required: bool = True
    default: str = ""
    choices: Sequence[str] = ()
    check: Callable[[str], str] | None = None


class LoginPrompt(NamedTuple):
    """What a person does elsewhere: open ``url``, type ``code`` there, scan what ``scan`` says as a QR code.

    With ``paste`` they bring a text back; without it they are only told, and the login goes on by itself.
    """

    text: str
    url: str = ""
    code: str = ""
    scan: str = ""
    paste: bool = False
