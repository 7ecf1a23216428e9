"""How a person sets something up: what is asked, how they log in, and whether it works."""

from abc import ABC
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple

__all__ = ["LoginPrompt", "SetupField", "SetupStep"]


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


class SetupStep(ABC):
    """What a person is asked to set one thing up. Whoever shows it asks for the fields, tests, and writes.

    Nothing is written before the end, so ``test`` and ``login`` work with the values they are given and make no change.
    ``login_label`` says how to log in ("in a browser"); without one there is no login.
    """

    name: str
    summary: str
    fields: Sequence[SetupField] = ()
    login_label: str = ""

    async def login(self, show: Callable[[LoginPrompt], Awaitable[str]]) -> Mapping[str, str]:
        """Log a person in: values by the names of fields. ``show`` gives what they paste. Raises HermesError."""
        return {}

    async def test(self, values: Mapping[str, str]) -> str:
        """Find out whether it works, by asking whom it is about; one sentence of what was found, or nothing.

        ``values`` has every field: what was said now, else what is set. Raises UserError for what the person can mend.
        """
        return ""
