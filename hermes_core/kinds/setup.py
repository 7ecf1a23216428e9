"""How a person sets something up: what is asked, how they log in, and whether it works."""

from abc import ABC
from collections.abc import Awaitable, Callable, Mapping, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.kinds.fields import LoginPrompt, SetupField

__all__ = ["SetupStep"]


class SetupStep(ABC):
    """What a person is asked to set one thing up. Whoever shows it asks for the fields, tests, and writes.

    ``summary`` is what its record in the manifest says.

    Nothing is written before the end, so ``test`` and ``login`` work with the values they are given and make no change.
    ``login_label`` says how to log in ("in a browser"); without one there is no login.
    """

    name: str
    summary: str = ""
    fields: "Sequence[SetupField]" = ()
    login_label: str = ""

    async def login(self, show: "Callable[[LoginPrompt], Awaitable[str]]") -> Mapping[str, str]:
        """Log a person in: values by the names of fields. ``show`` gives what they paste. Raises HermesError."""
        return {}

    async def test(self, values: Mapping[str, str]) -> str:
        """Find out whether it works, by asking whom it is about; one sentence of what was found, or nothing.

        ``values`` has every field: what was said now, else what is set. Raises UserError for what the person can mend.
        """
        return ""
