"""Remembers for as long as the process lives."""

from uuid import NAMESPACE_OID, uuid5

from hermes_core import Memory, hookimpl
from hermes_core.types import Memo


class ListMemory(Memory):
    name = "list"

    def __init__(self):
        self._memos = {}

    async def add(self, owner, text, source):
        memo = Memo(id=str(uuid5(NAMESPACE_OID, text)), text=text, source=source)
        return self._memos.setdefault((owner, memo.id), memo)

    async def search(self, owner, query, limit):
        wanted = query.casefold()
        hits = [m for (who, _), m in self._memos.items() if who == owner and wanted in m.text.casefold()]
        return hits[:limit]

    async def forget(self, owner, memo_id):
        self._memos.pop((owner, memo_id), None)


@hookimpl
def register_memories():
    return [ListMemory()]
