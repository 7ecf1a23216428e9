"""The kernel's statements, by name, in a transaction."""

from hermes_core.database import Transaction


class FileTransaction(Transaction):
    server, dialect = False, "sqlite"  # nobody else writes meanwhile, and the search index is SQLite's own

    def __init__(self, connection, statements):
        super().__init__()
        self.connection, self._statements = connection, statements

    def rows(self, name, /, **values):
        return self.change(name, **values).fetchall()

    def row(self, name, /, **values):
        return self.change(name, **values).fetchone()

    def change(self, name, /, **values):
        return self.connection.execute(self._statements[name], values)

    def add(self, name, /, **values):
        done = self.change(name, **values)
        return done.lastrowid if done.rowcount else 0

    def found(self, groups, first, last, limit, order):
        either = (" OR ".join(f'"{phrase}"' for phrase in phrases) for phrases in groups)
        query = " AND ".join(f"({phrases})" for phrases in either)
        rows = self.rows(f"search_{order}", query=query, first=first, last=last, limit=limit)
        return [row["rowid"] for row in rows]

    def objects(self):
        return dict(self.connection.execute("SELECT name, coalesce(sql, '') FROM sqlite_master"))
