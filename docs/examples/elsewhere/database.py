"""A file, and transactions in it one after another."""

import sqlite3
import threading

from hermes_core.database import WRITE, Database
from hermes_core.errors import StoreError

from .transaction import FileTransaction


class File(Database):
    def __init__(self, path, statements):
        super().__init__()
        self.place, self._statements, self._lock, self._closed = path, statements, threading.Lock(), False
        try:
            self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        except (sqlite3.Error, ValueError):
            raise StoreError("The store cannot be opened; look at store.url.") from None
        self._connection.row_factory = sqlite3.Row
        self._connection.execute("PRAGMA foreign_keys=ON")

    def transact(self, work, begin=WRITE, stop=None):
        with self._lock:
            if self._closed or (stop and stop.is_set()):
                raise StoreError(f"The store {self.place} is closed, or the write was given up.")
            tx = FileTransaction(self._connection, self._statements)
            try:
                self._connection.execute("BEGIN IMMEDIATE" if begin == WRITE else "BEGIN")
                result = work(tx)
                self._connection.execute("COMMIT")
            except BaseException as error:
                if self._connection.in_transaction:
                    self._connection.rollback()
                if isinstance(error, sqlite3.Error):
                    raise StoreError(f"The store {self.place} cannot be used: {error}.") from error
                raise
            for follow in tx.committed:
                follow()
        if tx.notices:
            self.notifier.notify(*tx.notices)
        return result

    def close(self):
        with self._lock:
            self._closed = True
            self._connection.close()
