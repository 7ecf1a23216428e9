"""What is shared, as the rest of the plugin knows it."""

from collections.abc import Sequence

from hermes_core.values import frozen

__all__ = ["Item", "Member", "Share"]


@frozen(kw_only=True)
class Member:
    """Somebody whom a share is with. ``state`` is asked, in or declined; ``writes`` tells that they may change it.

    ``told``: the invitation was handed to who sends messages.
    """

    share: str
    person: str
    writes: str = ""
    state: str = "asked"
    told: str = ""
    since: float = 0.0


@frozen(kw_only=True)
class Share:
    """A folder or a memory that ``person`` shares. A ``folder`` of somebody else than the owner lies below ``root``."""

    id: str
    person: str
    kind: str
    name: str
    folder: str = ""
    root: str = ""
    created: float = 0.0
    members: Sequence[Member] = ()

    def has(self, person: str) -> bool:
        """Tell whether somebody has it: it is theirs, or they accepted."""
        return person == self.person or any(one.person == person and one.state == "in" for one in self.members)

    def writes(self, person: str) -> bool:
        """Tell whether somebody may change it."""
        return person == self.person or any(
            one.person == person and one.state == "in" and one.writes for one in self.members
        )

    @property
    def people(self) -> Sequence[str]:
        """Who has it, the one whose it is first."""
        return (self.person, *(one.person for one in self.members if one.state == "in"))


@frozen(kw_only=True)
class Item:
    """Something that ``person`` keeps in a shared memory. ``outside``: it was written where text from outside was."""

    id: int
    share: str
    person: str
    text: str
    outside: str = ""
    created: float = 0.0
