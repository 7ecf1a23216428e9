"""What is kept of a task of a server while it is waited for; light, as every call has one."""

from collections.abc import Callable

__all__ = ["Handle"]


class Handle:
    """A task, once a call has become one: its name, which questions of it were answered, how often it is asked after.

    ``tells`` hears what the server says of its state, whenever that is something else.
    """

    def __init__(self, tells: Callable[[str], None] = lambda _: None) -> None:
        self.task = ""
        self.answered: set[str] = set()
        self.pause: float | None = None  # milliseconds
        self._tells, self._told = tells, ""

    def tell(self, said: str | None) -> None:
        """Pass on what the server says of its state."""
        if said and said != self._told:
            self._told = said
            self._tells(said[:500])
