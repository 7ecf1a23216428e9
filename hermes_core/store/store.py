"""What lasts: one object with the parts of the store, each with its own tables."""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from hermes_core.database import READ, Database
from hermes_core.kinds import StoreDriver
from hermes_core.store.file_database import FileDatabase
from hermes_core.store.glance import glance
from hermes_core.store.history import History
from hermes_core.store.inbox import Inbox
from hermes_core.store.journal import Journal
from hermes_core.store.migrate import to_head
from hermes_core.store.sessions import Sessions
from hermes_core.store.spending import Spending
from hermes_core.store.versions.head import SQL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.store.approvals import Approvals
    from hermes_core.store.cross_chat_notes import CrossChatNotes
    from hermes_core.store.traces import Traces

__all__ = ["Store", "open_store"]


def open_store(
    path: Path,
    *,
    url: str = "",
    driver: StoreDriver | None = None,
    durability: str = "normal",
    mend: Callable[[], bool] | None = None,
) -> "Store":
    """Open or make the database, bring its tables to head, and look at it.

    With a ``url`` its ``driver`` opens it there, and no file is made. A file that is damaged is asked to ``mend``.
    Raises UserError for an address that is none, and StoreError, in plain words, when file or server cannot be used.
    """
    database: Database
    if url:
        assert driver, "who opens a store at an address is its caller's to say"
        database = driver.open(url, SQL)
    else:
        database = FileDatabase(path, durability=durability, mend=mend)
    try:
        to_head(database)
        if not url and not database.transact(glance, READ) and mend:
            mend()
    except BaseException:
        database.close()
        raise
    return Store(database)


class Store:
    """What lasts, by its parts. Used from one event loop; thread-safe inside."""

    def __init__(self, database: Database) -> None:
        """``database`` is the connections, for what else lies in the same database."""
        self.database = database
        self.sessions, self.history = Sessions(database), History(database)
        self.journal, self.inbox = Journal(database), Inbox(database)
        self.spending = Spending(database)

    # --- parts that most programs do not need ----------------------------------------------------------------

    @cached_property
    def approvals(self) -> "Approvals":
        """Questions for a person's yes, and grants."""
        from hermes_core.store.approvals import Approvals

        return Approvals(self.database)

    @cached_property
    def notes(self) -> "CrossChatNotes":
        """What was sent to chats from elsewhere."""
        from hermes_core.store.cross_chat_notes import CrossChatNotes

        return CrossChatNotes(self.database)

    @cached_property
    def traces(self) -> "Traces":
        """What became of a message."""
        from hermes_core.store.traces import Traces

        return Traces(self.database)

    @property
    def place(self) -> str:
        """Where it is, for people: a path, or a server without its password."""
        return self.database.place

    def close(self) -> None:
        """Let go of the files; closing twice is quiet."""
        self.database.close()

    async def answers(self) -> None:
        """Read something, and return: whether file or server answer. Raises StoreError."""
        await self.database.run(lambda tx: tx.rows("owner_count"), READ)
