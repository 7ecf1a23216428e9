"""The store as one plugin may use it: tables of its own, and the server's address."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from hermes_core.database import WRITE, Begin, Prepared, StoreBroker, TablesTransaction
from hermes_core.errors import ContractError
from hermes_core.plugins.index import Installed
from hermes_core.types import Migration

if TYPE_CHECKING:
    from hermes_core.store.store import Store
    from hermes_core.store.tables import Tables

__all__ = ["PluginStore"]

T = TypeVar("T")


class PluginStore(StoreBroker):
    """For one plugin."""

    def __init__(
        self, installed: Installed, address: Callable[[], str], store: "Callable[[], Awaitable[Store]]",
        migrations: Callable[[str], Sequence[Migration]],
    ) -> None:  # fmt: skip
        self._installed, self._address, self._store, self._migrations = installed, address, store, migrations
        self._tables: asyncio.Task[Tables] | None = None

    def address(self) -> str:
        return self._address()

    async def transact(self, work: Callable[[TablesTransaction], T], begin: Begin = WRITE) -> T:
        return await (await self._opened()).run(work, begin)

    async def prepare(self, work: Callable[[TablesTransaction], T]) -> Prepared[T]:
        return partial((await self._opened()).unit, work)

    async def subscribe(self, name: str, call: Callable[[], None]) -> Callable[[], None]:
        from hermes_core.store.tables import prefix_of

        return (await self._store()).database.subscribe(f"{prefix_of(self._installed.label)}{name}", call)

    async def _opened(self) -> "Tables":
        opened = self._tables
        if opened is None or opened.cancelled() or (opened.done() and opened.exception()):  # it may go well by now
            opened = self._tables = asyncio.create_task(self._open())
        return await asyncio.shield(opened)

    async def _open(self) -> "Tables":
        from hermes_core.store.tables import Tables

        given = self._migrations(self._installed.label)
        if len(given) != 1:
            text = f"register_migrations must give one Migration, and gave {len(given)}"
            raise self._installed.error(ContractError, text)
        tables = Tables((await self._store()).database, self._installed.label, given[0])
        await asyncio.to_thread(tables.prepare)
        return tables
