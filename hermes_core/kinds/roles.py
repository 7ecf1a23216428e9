"""Who says what people may do that are not the owner of this Hermes."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from hermes_core.types import Folder, Principal, Rights, Session, Speaker

__all__ = ["Roles"]


class Roles(ABC):
    """What people other than the owner may do, at the moment it is asked: before a turn, each step, each call.

    One that fails, or should be there and is not, lets nobody do anything. The hook ``pre_tool_call`` judges their
    calls besides.
    """

    name: str

    async def look(self, owner: Principal, speaker: Speaker | None) -> None:
        """Look up what may have changed elsewhere, such as who is blocked: called before a turn and each of its steps.

        Then ``rights`` says it.
        """

    async def folders(self, session: Session) -> Sequence[Folder]:
        """Return which folders commands of a session reach besides its own; asked of the owner's, too, at each step."""
        return ()

    @abstractmethod
    def rights(self, owner: Principal, speaker: Speaker | None) -> Rights:
        """Say what holds in sessions of ``owner`` for who speaks there; unsaid that is the owner of these sessions.

        It is asked often and waits for nothing.
        """
