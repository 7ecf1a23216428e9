"""A claim is played: its place is made, its turns are ordered and followed, what became of it is written down.

Every step is written down before it is done, and a step that is done again does nothing: a turn is ordered under the
name of its claim. So whoever takes a claim over from the dead goes on where the rows say.
"""

import asyncio
import contextlib
import time

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, StoreError, UnknownName, UserError
from hermes_core.types import Failed, Message, PastTurn, Principal
from hermes_tool_kanban.briefing import Known, brief, nudge
from hermes_tool_kanban.claims import Claims, Ending
from hermes_tool_kanban.clones import bring
from hermes_tool_kanban.config import Config
from hermes_tool_kanban.moves import Moves
from hermes_tool_kanban.orders import OWN_FOLDER, event_of, order_of
from hermes_tool_kanban.tasks import Boards, Tasks
from hermes_tool_kanban.twice import BROKEN, asks
from hermes_tool_kanban.values import Run, Task
from hermes_tool_kanban.workspaces import leave, prepare
from hermes_tool_kit import used

__all__ = ["TAKEN_AWAY", "Player", "Store", "config_of", "is_used", "store_of"]

_LOOK = 1.0  # seconds between two looks at a turn that somebody else plays
_BEAT = 30.0  # seconds between two signs of life that are written down
_CLOSED = ("done", "failed", "interrupted")
TAKEN_AWAY = ("withdrawn", "reclaimed")


class Store:
    """The tables of boards, by what is done with them."""

    def __init__(self, ctx: PluginContext) -> None:
        self.boards, self.tasks = Boards(ctx.store), Tasks(ctx.store)
        self.moves, self.claims = Moves(ctx.store), Claims(ctx.store)


def config_of(ctx: PluginContext) -> Config:
    """Return the settings."""
    found: Config = ctx.config or Config()
    return found


def store_of(ctx: PluginContext) -> Store:
    """Return the boards of this home."""
    if "store" not in ctx.state:
        ctx.state["store"] = Store(ctx)
    found: Store = ctx.state["store"]
    return found


def is_used(ctx: PluginContext) -> bool:
    """Whether this home ever had a board, or their tables were opened here."""
    return used.is_used(ctx, "store")


class Player:
    """Plays claims in this process."""

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx, self._config, self._rows = ctx, config_of(ctx), store_of(ctx)
        self._stale: set[str] = set()
        self._limited: set[str] = set()  # claims whose model had too many requests

    async def play(self, run: Run) -> None:
        """Play a claim to its end, from where it stands."""
        claims = self._rows.claims
        now: Run | None = run
        while now and now.state == "open":
            now = await self._step(now)
        self._limited.discard(run.id)
        self._stale.discard(run.id)
        if now and now.state == "closing":
            await self._close(now)
            if now.session:  # what it left running would change its place while that is looked at
                await self._ctx.host.turns.let_go(now.session)
            await claims.over(now.id)
            await self._tidy(now)

    async def _step(self, run: Run) -> Run | None:
        try:
            task = await self._rows.tasks.get(run.task, run.person)
            if run.taken > self._config.deaths:
                await self._drop(run)
                return await self._end(task, run, "crashed", f"its process died {run.taken} times")
            if refused := await self._refused(task):
                return await self._end(task, run, "blocked", refused)
            return await self._work(task, run)
        except StoreError:
            raise
        except HermesError as error:
            self._ctx.log.warning("the claim %s failed: %s", run.id, error.text)
            with contextlib.suppress(UnknownName):
                task = await self._rows.tasks.get(run.task, run.person)
                return await self._end(task, run, "failed", error.text)
            return None
        except Exception:  # whatever it is: it would be the same at once again, and again
            self._ctx.log.exception("the claim %s broke", run.id)
            task = await self._rows.tasks.get(run.task, run.person)
            return await self._end(task, run, "failed", "something is broken here; the log has more")

    async def _work(self, task: Task, run: Run) -> Run | None:
        claims = self._rows.claims
        if not run.folder:
            if task.person != self._ctx.owner.person:  # others work in the folder that they have here
                return await claims.note(run.id, folder=OWN_FOLDER)
            began = any(one.folder for one in await self._rows.tasks.runs(task.id))
            try:
                folder = await prepare(self._ctx, task, began=began)
            except UserError as error:  # a person mends it
                return await self._end(task, run, "blocked", error.text)
            return await claims.note(run.id, folder=folder)
        past = await self._turn(task, run)
        now = await claims.get(run.id)
        if now is None or now.state != "open":
            return now
        if past.state == "done":
            if now.nudges < self._config.nudges:
                return await claims.note(run.id, nudges=now.nudges + 1)
            return await self._end(task, now, "violation", "it ended without a word on its task", past)
        if past.state == "interrupted":
            if run.id in self._stale:
                why = f"there was no sign of it for {self._config.stale} seconds"
                return await self._end(task, now, "stale", why, past)
            return await self._end(task, now, "stopped", "its turn was stopped", past)
        if run.id in self._limited:
            return await self._end(task, now, "limited", past.error or "its model has too many requests", past)
        most = task.options.seconds or self._config.seconds
        late = past.ended and past.started and past.ended - past.started >= most
        return await self._end(task, now, "timed_out" if late else "failed", past.error or "it failed", past)

    async def _end(self, task: Task, run: Run, outcome: str, why: str, past: PastTurn | None = None) -> Run | None:
        config, summary = self._config, past.answer if past else ""
        outside = await self._outside(run) if past else False
        ending = Ending(
            outcome=outcome, error=self._ctx.masks.text(why), summary=self._ctx.masks.text(summary), outside=outside,
            limit=task.options.retries or config.failures, again=config.rejections, kind="capability",
            asks=outcome in BROKEN and await asks(self._ctx, task, run, outcome),
        )  # fmt: skip
        if outcome == "blocked":
            ending = Ending(outcome=outcome, summary=self._ctx.masks.text(why), kind="capability")
        await self._rows.claims.end(run.id, ending)
        return await self._rows.claims.get(run.id)

    async def _refused(self, task: Task) -> str:
        """Say why a task is not worked on: its person may do nothing now."""
        if task.person == self._ctx.owner.person:
            return ""
        rights = await self._ctx.host.rights(self._owner(task.person))
        if rights.silent or rights.role in ("blocked", "guest", ""):
            return f"{task.person} may not have tasks worked on by now"
        return rights.refused

    def _owner(self, person: str) -> Principal:
        return Principal(profile=self._ctx.owner.profile, person=person)

    async def _turn(self, task: Task, run: Run) -> PastTurn:
        """Order the next turn of a claim, once, and follow it to its end, whoever plays it."""
        turns, owner, event = self._ctx.turns, self._owner(run.person), event_of(run)
        past = await turns.past(event, owner=owner)
        if past is None:
            order = order_of(task, run, self._config, await self._asks(task, owner))
            await turns.queue(await self._words(task, run), owner=owner, order=order)
        refused = ""
        while True:
            past = await turns.past(event, owner=owner)
            if past is None:
                raise UserError("its turn was taken away")
            if past.state in _CLOSED:
                return past
            if past.session_id != run.session:
                run = await self._rows.claims.note(run.id, session=past.session_id) or run
            if refused and not await turns.busy(past.session_id, owner=owner):
                await turns.drop(past.session_id, owner=owner)
                raise UserError(refused)
            refused = await self._resume(run, past.session_id, owner)
            if refused:
                await asyncio.sleep(_LOOK)

    async def _words(self, task: Task, run: Run) -> str | Message:
        if run.nudges:
            return nudge(task, run, self._config.nudges - run.nudges)
        rows = self._rows.tasks
        parents, _ = await rows.family(task.id)
        known = Known(parents, await rows.runs(task.id, limit=11), await rows.comments(task.id, 30),
                      await rows.files(task.id))  # fmt: skip
        return brief(task, run, known)

    async def _resume(self, run: Run, session: str, owner: Principal) -> str:
        """Play what waits, or what a death cut off; why that could not be, which somebody else who plays it also is."""
        played, heard = False, [time.monotonic()]
        watch = asyncio.create_task(self._watch(run, session, owner, heard))
        try:
            async with contextlib.aclosing(self._ctx.turns.resume(session, owner=owner)) as events:
                async for event in events:
                    played, now = True, time.monotonic()
                    if isinstance(event, Failed) and event.kind == "rate_limited":
                        self._limited.add(run.id)
                    if now - heard[0] > _BEAT:
                        await self._rows.claims.note(run.id)
                    heard[0] = now
        except UserError as error:
            return error.text
        finally:
            watch.cancel()
        return "" if played else "its turn does not begin"

    async def _watch(self, run: Run, session: str, owner: Principal, heard: list[float]) -> None:
        """Stop a turn of which nothing was heard for too long, unless it waits for a person's yes."""
        while True:
            left = heard[0] + self._config.stale - time.monotonic()
            if left > 0:
                await asyncio.sleep(left)
                continue
            waiting = await self._ctx.approvals.list(owner, limit=1000)
            if any(one.session_id == session for one in waiting):
                heard[0] = time.monotonic()
                continue
            self._stale.add(run.id)
            await self._ctx.turns.interrupt(session, owner=owner)
            return

    async def _close(self, run: Run) -> None:
        """Follow a turn that has said how it ends to that end; one whose task was taken away is stopped."""
        if not run.session:
            return
        turns, owner, event = self._ctx.turns, self._owner(run.person), event_of(run)
        while (past := await self._past(event, owner)) and past.state not in _CLOSED:
            if run.outcome not in TAKEN_AWAY:
                if not await self._resume(run, run.session, owner):
                    continue
            elif not await turns.interrupt(run.session, owner=owner, elsewhere=True):
                await self._drop(run)
            await asyncio.sleep(_LOOK)
            if not await turns.busy(run.session, owner=owner):
                await self._drop(run)

    async def _tidy(self, run: Run) -> None:
        """Bring the commits of a task to its repository; take its tree away once it is done and nothing is lost."""
        with contextlib.suppress(UnknownName):
            task = await self._rows.tasks.get(run.task, run.person)
            if task.options.workspace != "worktree" or not run.folder:
                return
            try:
                said = await (leave if task.status == "done" else bring)(self._ctx, task)
            except UserError as error:
                said = error.text
            if said:
                await self._rows.tasks.happened(task, "workspace", said)

    async def _past(self, event: str, owner: Principal) -> PastTurn | None:
        with contextlib.suppress(UserError):
            return await self._ctx.turns.past(event, owner=owner)
        return None

    async def _drop(self, run: Run) -> None:
        """Give up what is left of the turn of a claim."""
        if run.session:
            with contextlib.suppress(UserError):
                await self._ctx.turns.drop(run.session, owner=self._owner(run.person))

    async def _asks(self, task: Task, owner: Principal) -> str:
        """Return the chat that questions of a claim are put to: the first of its targets that can be reached."""
        for target in task.options.deliver:
            with contextlib.suppress(UserError, UnknownName):
                if chats := await self._ctx.messages.find(owner, target):
                    return chats[0].address
        return ""

    async def _outside(self, run: Run) -> bool:
        """Tell whether what a turn said comes from outside in part. What cannot be looked at does."""
        try:
            past = await self._ctx.sessions.past(self._owner(run.person), run.session)
        except UserError:
            return True
        return any(one.untrusted for one in past)
