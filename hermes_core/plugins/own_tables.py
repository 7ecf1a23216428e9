"""The store as one plugin may use it: tables of its own, and the server's address."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from hermes_core.database import StoreBroker, TablesTransaction
from hermes_core.errors import ContractError
from hermes_core.plugins.index import Installed
from hermes_core.types import Migration

if TYPE_CHECKING:
    from hermes_core.store.journal import Store
    from hermes_core.store.tables import Tables

__all__ = ["PluginStore"]

T = TypeVar("T")


class PluginStore(StoreBroker):
    """For one plugin, as far as its manifest says."""

    def __init__(
        self,
        installed: Installed,
        address: Callable[[], str],
        store: "Callable[[], Awaitable[Store]]",
        migrations: Callable[[str], Sequence[Migration]],
    ) -> None:
        self._installed, self._address, self._store, self._migrations = installed, address, store, migrations
        self._tables: asyncio.Task[Tables] | None = None

    def address(self) -> str:
        self._installed.require("permissions", "kernel", "store.connect", "asked for the address of the store")
        return self._address()

    async def transact(self, work: Callable[[TablesTransaction], T]) -> T:
        self._installed.require("permissions", "kernel", "store.tables", "reached for tables of its own")
        opened = self._tables
        if opened is None or opened.cancelled() or (opened.done() and opened.exception()):  # it may go well by now
            opened = self._tables = asyncio.create_task(self._open())
        return await (await asyncio.shield(opened)).run(work)

    async def _open(self) -> "Tables":
        from hermes_core.store.tables import Tables

        given = self._migrations(self._installed.label)
        if len(given) != 1:
            text = f"register_migrations must give one Migration, and gave {len(given)}"
            raise self._installed.error(ContractError, text)
        tables = Tables((await self._store()).engine, self._installed.label, given[0])
        await asyncio.to_thread(tables.prepare)
        return tables
