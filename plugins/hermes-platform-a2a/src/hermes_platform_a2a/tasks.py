"""The tasks of this home: begun once for each message, found again by their ids, gone on with after a death."""

import asyncio
import hashlib
import json
from collections.abc import Sequence

from a2a.types import Message as Told
from a2a.types import Role, Task
from a2a.utils.errors import (
    InvalidParamsError,
    InvalidRequestError,
    TaskNotCancelableError,
    TaskNotFoundError,
    UnsupportedOperationError,
)
from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.types import Principal
from hermes_platform_a2a.config import Config
from hermes_platform_a2a.content import message_of, row_of, status, task_of, words_of
from hermes_platform_a2a.live import Live
from hermes_platform_a2a.places import Places
from hermes_platform_a2a.rows import OVER, Row, Rows

__all__ = ["Tasks"]

_LONGEST = 200  # characters of an id that a client gives
_DAY = 86_400.0


class Tasks:
    """Finds and begins them. What runs here is in ``_live``, once for each task, until it is over."""

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx = ctx
        self._config: Config = ctx.config or Config()
        self._rows = Rows(ctx.store)
        self._places = Places(self._config.running)
        self._live: dict[str, Live] = {}
        self._awake = False
        self._waking = asyncio.Lock()

    async def send(self, owner: Principal, told: Told) -> Live:
        """Begin a task with a message, or go on with the one that it names. What came before is not done again.

        Raises A2AError for what cannot be done, HermesError.
        """
        await self._wake()
        _check(told)
        if told.task_id:
            return await self._answer(owner, told)
        name = _name("task", owner, told.message_id)
        if (row := await self._rows.get(owner.person, name)) is None:
            message_of(told)  # what cannot be read begins nothing
            if await self._rows.many_open(owner.person) >= self._config.open_tasks:
                most = self._config.open_tasks
                raise InvalidRequestError(f"{most} tasks are open, which is the most. Wait for one, or cancel one.")
            context = told.context_id or _name("context", owner, told.message_id)
            task = Task(id=name, context_id=context)
            task.status.CopyFrom(status(task, "submitted"))
            task.history.append(told)
            task.history[0].task_id, task.history[0].context_id = name, context
            row = row_of(task, owner.person)
            if await self._rows.add(row):
                return self._begin(owner, row)
            row = await self._rows.get(owner.person, name) or row  # it came twice at once
        task = task_of(row)
        again = Told()
        again.CopyFrom(told)
        again.task_id, again.context_id = name, told.context_id or task.context_id
        if not task.history or task.history[0] != again:
            raise InvalidParamsError("This message_id came with another message before. Give each its own.")
        return self._begin(owner, row)

    async def find(self, owner: Principal, name: str) -> Live:
        """Return a task of somebody's. Raises A2AError where there is none."""
        await self._wake()
        row = await self._rows.get(owner.person, name)
        if row is None:
            raise TaskNotFoundError
        return self._begin(owner, row)

    async def page(
        self,
        owner: Principal,
        *,
        context: str,
        state: str,
        since: float,
        before: tuple[float, str] | None,
        most: int,
        artifacts: bool,
    ) -> tuple[Sequence[Row], int]:
        """Return some of them, changed last first, and how many there are."""
        await self._wake()
        return await self._rows.page(
            owner.person,
            context=context,
            state=state,
            since=since,
            before=before,
            most=most,
            artifacts=artifacts,
        )

    async def cancel(self, owner: Principal, name: str) -> Task:
        """End a task. Raises A2AError where there is none, or it is over."""
        live = await self.find(owner, name)
        if live.over:
            raise TaskNotCancelableError
        await live.cancel()
        return live.task

    async def _answer(self, owner: Principal, told: Told) -> Live:
        live = await self.find(owner, told.task_id)
        if told.context_id and told.context_id != live.task.context_id:
            raise InvalidParamsError("This task is of another context_id.")
        if await self._rows.answered(owner.person, told.message_id):
            return live
        if live.over:
            raise UnsupportedOperationError("This task is over. Begin another one with its context_id.")
        words = words_of(told)
        await live.answer(told, words)
        return live

    def _begin(self, owner: Principal, row: Row) -> Live:
        """Return who plays a task here, from now on if nobody did; of one that is over, what came of it."""
        if found := self._live.get(row.id):
            found.end_as(row)
            if found.over or row.state not in OVER:
                return found
        session = f"a2a-{_name('session', owner, row.context).replace('-', '')[:24]}"
        live = Live(self._ctx, owner, task_of(row), session, self._rows, self._places)
        if row.state not in OVER:
            self._live[row.id] = live
            live.begin(lambda: self._live.pop(row.id, None))
        return live

    async def _wake(self) -> None:
        """Go on with what a death left, and forget what is old: before the first request is answered."""
        if self._awake:
            return
        async with self._waking:
            if self._awake:
                return
            await self._rows.forget(self._config.keep_days * _DAY)
            for row in await self._rows.left():
                self._begin(evolve(self._ctx.owner, person=row.person), row)
            self._awake = True


def _name(kind: str, owner: Principal, given: str) -> str:
    """Return an id of ours for one that a client of somebody's gave: the same each time, and nobody else's."""
    words = json.dumps([kind, owner.profile, owner.person, given])
    digest = hashlib.sha256(words.encode()).hexdigest()
    return "-".join((digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:32]))


def _check(told: Told) -> None:
    """Refuse a message whose ids or role are none. Raises A2AError."""
    if not told.message_id.strip():
        raise InvalidParamsError("A message needs a message_id.")
    if max(len(told.message_id), len(told.context_id), len(told.task_id)) > _LONGEST:
        raise InvalidParamsError(f"An id has at most {_LONGEST} characters.")
    if told.role != Role.ROLE_USER:
        raise InvalidParamsError("A client's message has the role ROLE_USER.")
