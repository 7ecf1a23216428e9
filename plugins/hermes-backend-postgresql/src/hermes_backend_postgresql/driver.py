"""Opens a store at an address. The driver of the server is imported here, in a worker thread."""

from collections.abc import Mapping

from hermes_core.database import Database
from hermes_core.errors import UserError
from hermes_core.kinds import StoreDriver

__all__ = ["PostgreSQL"]


class PostgreSQL(StoreDriver):
    """Stores on a PostgreSQL server."""

    def __init__(self, name: str = "postgresql") -> None:
        self.name = name

    def open(self, url: str, statements: Mapping[str, str]) -> Database:
        try:
            from hermes_backend_postgresql.server import Server
        except ImportError as error:
            raise UserError(
                f"store.url names a PostgreSQL server, and its driver cannot be used: {error}.",
                hint="Install it: pip install 'hermes-core[postgresql]', or remove store.url.",
            ) from error
        return Server(url, statements)
