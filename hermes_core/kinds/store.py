"""Who opens the store where its address is not a file."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.database import Database

__all__ = ["StoreDriver"]


class StoreDriver(ABC):
    """Opens stores at addresses of one scheme, which is its ``name``: ``postgresql`` for ``postgresql://…``.

    What it opens is a ``Database`` of ``hermes_core.database``.
    """

    name: str

    @abstractmethod
    def open(self, url: str, statements: Mapping[str, str]) -> "Database":
        """Open the database at an address; called in a worker thread, and what is heavy is imported here.

        ``statements`` are the kernel's, by name, as SQLite understands them, with parameters like ``:name``. Raises
        UserError for an address that is none, StoreError when it cannot be used, without a word of what is secret.
        """
