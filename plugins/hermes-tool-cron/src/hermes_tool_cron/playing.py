"""A run is played: rights are looked up, its turns are ordered and followed to their end, what came of it is told.

Every step is written down before it is done, and a step that is done again does nothing: a turn is ordered under the
name of its run, a message is sent under it. So whoever comes after a death goes on where the row says.
"""

import asyncio
import contextlib
from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.database import Prepared
from hermes_core.errors import HermesError, StoreError, UnknownName, UserError
from hermes_core.types import Message, PastTurn, Principal, Text, TurnOrder, TurnResult
from hermes_tool_cron.config import Config
from hermes_tool_cron.orders import agent_order, event_of, prompt_of, script_order
from hermes_tool_cron.rows import Jobs, shows
from hermes_tool_cron.script import ending_of, woken
from hermes_tool_cron.telling import is_quiet, message_of
from hermes_tool_cron.values import Job, Run
from hermes_tool_kit import used
from hermes_tool_kit.telling import continuing

__all__ = ["Player", "config_of", "is_used", "jobs_of"]

_LOOK = 1.0  # seconds between two looks at a turn that somebody else plays
_CLOSED = ("done", "failed", "interrupted")


def config_of(ctx: PluginContext) -> Config:
    """Return the settings."""
    found: Config = ctx.config or Config()
    return found


def jobs_of(ctx: PluginContext) -> Jobs:
    """Return the jobs of this home."""
    if "jobs" not in ctx.state:
        ctx.state["jobs"] = Jobs(ctx.store)
    found: Jobs = ctx.state["jobs"]
    return found


def is_used(ctx: PluginContext) -> bool:
    """Whether this home ever had a job, or their tables were opened here."""
    return used.is_used(ctx, "jobs")


class Player:
    """Plays runs in this process."""

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx, self._config = ctx, config_of(ctx)

    async def play(self, run: Run) -> Run | None:
        """Play a run to its end, from where it stands, and tell of it; None where it is gone, or somebody else does."""
        rows = jobs_of(self._ctx)
        job = await rows.get(run.job)
        if job is None:
            return None
        now: Run | None = run
        while now and now.state in ("due", "script", "agent"):
            now = await self._step(job, now)
        if now and now.delivery == "owed":
            now = await self._tell(job, now)
        return now

    async def _step(self, job: Job, run: Run) -> Run | None:
        rows, options = jobs_of(self._ctx), job.options
        try:
            if run.state == "due":
                if refused := await self._refused(job):
                    return await self._over(job, run, "refused", why=refused)
                return await rows.step(run, "script" if options.script else "agent")
            owner = Principal(profile=self._ctx.owner.profile, person=job.person)
            if run.state == "script":
                return await self._script(job, run, owner)
            return await self._agent(job, run, owner)
        except StoreError:
            raise
        except HermesError as error:
            return await self._over(job, run, "failed", why=error.text)
        except Exception:  # whatever it is: it would be the same at once again, and again
            self._ctx.log.exception("the run %s of the job %s broke", run.id, job.name)
            return await self._over(job, run, "failed", why="something is broken here; the log has more")

    async def _refused(self, job: Job) -> str:
        """Say why a job may not run: its person may do nothing now, or no longer what it does."""
        if job.person == self._ctx.owner.person:
            return ""
        rights = await self._ctx.host.rights(Principal(profile=self._ctx.owner.profile, person=job.person))
        if rights.silent or rights.role in ("blocked", "guest", ""):
            return f"{job.person} may not have jobs by now"
        if job.options.script and rights.models is not None:
            return f"{job.person} may not run scripts by now"
        return rights.refused

    async def _script(self, job: Job, run: Run, owner: Principal) -> Run | None:
        said, order = script_order(job, run, self._config, await self._asks(job, owner))
        past = await self._turn(run, "script", said, order, owner)
        outside = await self._outside(owner, past)
        if past.state != "done":
            return await self._over(job, run, past.state, why=_why(past), session=past.session_id, outside=outside)
        output, status = ending_of(past.answer)
        if status:
            why = f"its script ended with {status}"
            return await self._over(
                job, run, "failed", why=why, answer=output, session=past.session_id, outside=outside
            )
        wakes, told = woken(output)
        if job.options.no_agent or not wakes:
            quiet = not wakes or is_quiet(output)
            state, why = ("silent", "its script has nothing to tell") if quiet else ("done", "")
            return await self._over(job, run, state, why=why, answer=told, session=past.session_id, outside=outside)
        return await jobs_of(self._ctx).step(run, "agent", said=told, outside=outside)

    async def _agent(self, job: Job, run: Run, owner: Principal) -> Run | None:
        quoted, outside = await self._quoted(job, run)
        order = agent_order(job, run, self._config, await self._asks(job, owner))
        past = await self._turn(run, "agent", prompt_of(job, quoted, outside=outside), order, owner)
        quiet = past.state == "done" and is_quiet(past.answer)
        state, why = ("silent", "it had nothing to tell") if quiet else (past.state, _why(past))
        mark = await self._outside(owner, past)
        return await self._over(
            job, run, state, why=why, answer=past.answer, session=past.session_id, outside=outside or mark
        )

    async def _quoted(self, job: Job, run: Run) -> tuple[Sequence[tuple[str, str]], bool]:
        """Return what the prompt is told beside, each with its name, and whether any comes from outside."""
        found = [("what the script of the job printed", run.said)] if run.said.strip() else []
        outside = run.outside
        for name in job.options.context:
            if last := await jobs_of(self._ctx).last_done(job.person, name):
                found.append((f"what the job {name} said last", last.answer))
                outside = outside or last.outside
        return found, outside

    async def _asks(self, job: Job, owner: Principal) -> str:
        """Return the chat that questions of a run are put to: the first of its targets that can be reached."""
        for target in job.options.deliver:
            with contextlib.suppress(UserError, UnknownName):
                if chats := await self._ctx.messages.find(owner, target):
                    return chats[0].address
        return ""

    async def _turn(self, run: Run, stage: str, said: str | Message, order: TurnOrder, owner: Principal) -> PastTurn:
        """Order a turn of a run, once, and follow it to its end, whoever plays it."""
        turns, event = self._ctx.turns, event_of(run, stage)
        if await turns.past(event, owner=owner) is None:
            await turns.queue(said, owner=owner, order=order)
        refused = ""
        while True:
            past = await turns.past(event, owner=owner)
            if past is None:
                raise UserError("its turn was taken away")
            if past.state in _CLOSED:
                return past
            if past.session_id != run.session:
                run = await jobs_of(self._ctx).step(run, run.state, session=past.session_id) or run
            if refused and not await turns.busy(past.session_id, owner=owner):
                await turns.drop(past.session_id, owner=owner)
                raise UserError(refused)
            refused = await self._resume(run, past.session_id, owner)
            if refused:
                await asyncio.sleep(_LOOK)

    async def _resume(self, run: Run, session: str, owner: Principal) -> str:
        """Play what waits, or what a death cut off; why that could not be, which somebody else who plays it also is."""

        async def ends(result: TurnResult) -> Prepared[object] | None:
            if not result.answer:
                return None
            return await self._ctx.store.prepare(shows(run, result.answer))

        played = False
        try:
            async with contextlib.aclosing(self._ctx.turns.resume(session, owner=owner, ends=ends)) as events:
                async for _ in events:
                    played = True
        except UserError as error:
            return error.text
        return "" if played else "its turn does not begin"

    async def _outside(self, owner: Principal, past: PastTurn) -> bool:
        """Tell whether what a turn said comes from outside in part. What cannot be looked at does."""
        try:
            return any(one.untrusted for one in await self._ctx.sessions.past(owner, past.session_id))
        except UserError:
            return True

    async def _over(self, job: Job, run: Run, state: str, **more: object) -> Run | None:
        """Write down how a run ended, and whether somebody is to be told: not who may do nothing here by now."""
        told = state not in ("silent", "refused") and any(one != "local" for one in job.options.deliver)
        return await jobs_of(self._ctx).step(run, state, delivery="owed" if told else "", **more)

    async def _tell(self, job: Job, run: Run) -> Run | None:
        """Hand what came of a run to who sends messages, once; what cannot be told is kept with the run, and why."""
        rows, owner = jobs_of(self._ctx), Principal(profile=self._ctx.owner.profile, person=job.person)
        text = self._ctx.masks.text(message_of(job, run, wrap=self._config.wrap, program=self._ctx.program))
        message = Message(role="assistant", parts=(Text(text=text),), untrusted=run.outside)
        session, wrong = None, list[str]()
        known = {"topic": f"cron:{job.id}", "name": job.name}
        with contextlib.suppress(UserError):  # it was deleted, or there was none
            session = await self._ctx.sessions.get(owner, run.session) if run.session else None
        goes_on = continuing(self._ctx) if job.options.thread else None
        for target in job.options.deliver:
            if target == "local":
                continue
            key = f"cron:{run.id}:{target}"
            try:
                if goes_on and session:
                    await goes_on.carry_on(owner, target, message, session, key=key, **known)
                else:
                    await self._ctx.messages.send(owner, target, message, session, key=key)
            except UserError as error:  # the chat is not there: it is not told again and again
                wrong.append(f"{target}: {error.text}")
        if wrong:
            self._ctx.log.warning("the job %s could not tell of its run: %s", job.name, "; ".join(wrong))
        return await rows.step(run, run.state, delivery="; ".join(wrong) or "sent")


def _why(past: PastTurn) -> str:
    return {"failed": past.error or "it failed", "interrupted": "it was stopped"}.get(past.state, "")
