"""The tools of boards: for who works on a task, and for who was given them by ``kanban.tools``."""

import base64
import binascii
from collections.abc import Sequence
from typing import Any

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError, UserError
from hermes_core.kinds import Tool, ToolContext, tool
from hermes_core.types import Effect
from hermes_tool_kanban import actions, words
from hermes_tool_kanban.actions import Door
from hermes_tool_kanban.briefing import Known, brief
from hermes_tool_kanban.chats import is_shared
from hermes_tool_kanban.claims import Ending
from hermes_tool_kanban.playing import TAKEN_AWAY, config_of
from hermes_tool_kanban.values import PERSON, Options, Run, Task
from hermes_tool_kanban.wanted import (
    Answer,
    Blocking,
    Completing,
    File,
    Handing,
    Linking,
    Listing,
    New,
    Note,
    Reading,
    Remark,
    Reviewing,
    Which,
)

__all__ = ["TOOLSET", "tools_of"]

TOOLSET = "kanban"
_SHOWN = 100


def tools_of(ctx: PluginContext) -> Sequence[Tool]:
    """Return all of them. What a worker does to a task needs its claim; what it says is kept as the model's words."""
    desk = _Desk(ctx)
    return (*_about_own(ctx, desk), *_about_any(desk))


def _about_any(desk: "_Desk") -> Sequence[Tool]:
    @tool(name="kanban_show", toolset=TOOLSET, effects=[Effect.RECALL], idempotent=True, touches=_keys)
    async def show(context: ToolContext, wanted: Which) -> str:
        """All about a task of the board."""
        return await desk.show(context, wanted)

    @tool(name="kanban_list", toolset=TOOLSET, effects=[Effect.RECALL], idempotent=True, touches=_keys)
    async def listing(context: ToolContext, wanted: Listing) -> str:
        """The tasks of a board."""
        return await desk.list(context, wanted)

    @tool(name="kanban_comment", toolset=TOOLSET, touches=_keys)
    async def remark(context: ToolContext, wanted: Remark) -> str:
        """Remark something about a task, for who works on it."""
        door, task = await desk.at(context, wanted.task)
        await actions.comment(door, task, wanted.text)
        return "Kept."

    @tool(name="kanban_create", toolset=TOOLSET, effects=[Effect.DELEGATE], touches=_keys)
    async def create(context: ToolContext, wanted: New) -> str:
        """Make a task that a worker does by itself."""
        return await desk.create(context, wanted)

    @tool(name="kanban_link", toolset=TOOLSET, idempotent=True, touches=_keys)
    async def link(context: ToolContext, wanted: Linking) -> str:
        """Have a task wait for another."""
        return await desk.link(context, wanted)

    @tool(name="kanban_unblock", toolset=TOOLSET, effects=[Effect.DELEGATE], touches=_keys)
    async def unblock(context: ToolContext, wanted: Answer) -> str:
        """Let a blocked task go on."""
        return await desk.unblock(context, wanted)

    @tool(name="kanban_attach", toolset=TOOLSET, touches=_keys)
    async def attach(context: ToolContext, wanted: File) -> str:
        """Keep a file with a task."""
        return await desk.attach(context, wanted)

    @tool(name="kanban_attachments", toolset=TOOLSET, effects=[Effect.RECALL], idempotent=True, touches=_keys)
    async def attachments(context: ToolContext, wanted: Reading) -> str:
        """The files of a task, or one of them to read."""
        return await desk.files(context, wanted)

    return show, listing, remark, create, link, unblock, attach, attachments


def _about_own(ctx: PluginContext, desk: "_Desk") -> Sequence[Tool]:
    @tool(name="kanban_complete", toolset=TOOLSET, idempotent=True, touches=_keys)
    async def complete(context: ToolContext, wanted: Completing) -> str:
        """Your task is done. Then stop."""
        return await desk.complete(context, wanted)

    @tool(name="kanban_block", toolset=TOOLSET, idempotent=True, touches=_keys)
    async def block(context: ToolContext, wanted: Blocking) -> str:
        """Your task cannot be done now. Then stop."""
        return await desk.block(context, wanted)

    @tool(name="kanban_handoff", toolset=TOOLSET, idempotent=True, touches=_keys)
    async def handoff(context: ToolContext, wanted: Handing) -> str:
        """Another worker goes on with your task. Then stop."""
        return await desk.hand(context, wanted)

    @tool(name="kanban_review", toolset=TOOLSET, idempotent=True, touches=_keys)
    async def review(context: ToolContext, wanted: Reviewing) -> str:
        """Your verdict on the task you review. Then stop."""
        return await desk.review(context, wanted)

    @tool(name="kanban_heartbeat", toolset=TOOLSET, idempotent=True, touches=_keys)
    async def heartbeat(context: ToolContext, wanted: Note) -> str:
        """Say how far your task is."""
        run, _ = await desk.claim(context)
        await desk.rows.claims.note(run.id, note=ctx.masks.text(wanted.note))
        return "Noted."

    return complete, block, handoff, review, heartbeat


def _keys(_: object) -> Sequence[str]:
    return ("kanban",)


class _Desk:
    """What the tools do."""

    def __init__(self, ctx: PluginContext) -> None:
        from hermes_tool_kanban.playing import store_of

        self._ctx, self.rows = ctx, store_of(ctx)

    async def claim(self, context: ToolContext, role: str = "") -> tuple[Run, Task]:
        """Return the claim that this session works on. Raises ToolError where there is none, or not such a one."""
        found = await self.rows.claims.of_session(context.session.id)
        if found is None or found[0].outcome in TAKEN_AWAY:
            raise ToolError("No task is yours in this session, or it was taken from you.", hint="Stop here.")
        if role and found[0].role != role:
            raise ToolError(f"You {'review' if found[0].role == 'review' else 'work on'} {found[1].id}: use the other "
                            "tool for that.")  # fmt: skip
        return found

    async def planner(self, context: ToolContext) -> tuple[Run, Task] | None:
        """Return the claim of who makes or frees tasks, None in a conversation. Raises ToolError in a bounded turn.

        What is made there would be done without the bounds that somebody put around it.
        """
        found = await self.rows.claims.of_session(context.session.id)
        if found is None and context.session.bounds is not None:
            raise ToolError("This turn has bounds, so it hands out no tasks.", retry=False)
        if found and found[0].state != "open":
            raise ToolError("Your claim has ended: it hands out no more tasks.", hint="Stop here.", retry=False)
        return found

    async def _door(self, context: ToolContext, found: tuple[Run, Task] | None) -> Door:
        """Return the door of a session. Raises UserError in one of a chat where others read what is said."""
        if found is None and await is_shared(self._ctx, context.session):
            raise UserError("Others read this chat: its boards are a person's to see to, with /kanban.")
        author = _author(found, context.session.id)
        if found:  # a worker is at its own board, which may be that of a chat
            return Door(self._ctx, context.session.owner, context.session, author=author,
                        outside=context.session.untrusted)  # fmt: skip
        return Door.of(self._ctx, context.session, author=author)

    async def at(self, context: ToolContext, task: str) -> tuple[Door, Task]:
        """Return the door of this session, and a task: the one named, on the own board, else its own."""
        found = await self.rows.claims.of_session(context.session.id)
        try:
            door = await self._door(context, found)
            await door.admit()
            if task:
                wanted = await door.task(task)
            elif found:
                wanted = found[1]
            else:
                raise UserError("Say which task.")
        except UserError as error:
            raise ToolError(error.text, hint=error.hint) from error
        if found and wanted.board != found[1].board:
            raise ToolError(f"{wanted.id} is on another board than yours.")
        if found and wanted.options.tenant != found[1].options.tenant:
            raise ToolError(f"{wanted.id} is done for somebody else than your task.")
        return door, wanted

    async def show(self, context: ToolContext, wanted: Which) -> str:
        _, task = await self.at(context, wanted.task)
        rows = self.rows.tasks
        parents, children = await rows.family(task.id)
        runs, remarks = await rows.runs(task.id, limit=10), await rows.comments(task.id, 30)
        known = Known(parents, runs, remarks, await rows.files(task.id))
        told = brief(task, Run(id="", task=task.id, board="", person=""), known)
        if told.untrusted or task.result_outside or any(one.outside for one in children):
            context.from_outside()
        return words.about(task, parents, children, runs, remarks, known.files)

    async def list(self, context: ToolContext, wanted: Listing) -> str:
        found = await self.rows.claims.of_session(context.session.id)
        try:
            door = await self._door(context, found)
            await door.admit()
            board = found[1].board if found else (await door.board(wanted.board)).id
        except UserError as error:
            raise ToolError(error.text, hint=error.hint) from error
        whose = found[1].options.tenant if found else wanted.tenant or None
        there = await self.rows.tasks.list(board, status=wanted.status, assignee=wanted.assignee, tenant=whose)
        if any(one.outside or one.result_outside for one in there[:_SHOWN]):
            context.from_outside()
        more = f"\n… and {len(there) - _SHOWN} more" if len(there) > _SHOWN else ""
        return ("\n".join(map(words.line, there[:_SHOWN])) or "There is no such task.") + more

    async def complete(self, context: ToolContext, wanted: Completing) -> str:
        run, task = await self.claim(context, "work")
        for one in wanted.created:
            try:
                made = await self.rows.tasks.get(one, task.person)
            except UserError:
                raise ToolError(f"You name {one} as made for it, and there is no such task.") from None
            if made.maker != _author((run, task), context.session.id):
                raise ToolError(f"You name {one} as made for it, and {made.maker} made it.")
        return await self._end(context, run, "completed", wanted.summary, meta=wanted.metadata)

    async def block(self, context: ToolContext, wanted: Blocking) -> str:
        run, _ = await self.claim(context, "work")
        return await self._end(context, run, "blocked", wanted.reason, kind=wanted.kind)

    async def hand(self, context: ToolContext, wanted: Handing) -> str:
        run, task = await self.claim(context, "work")
        there = actions.workers(self._ctx)
        if wanted.assignee not in there or wanted.assignee == task.options.reviewer:
            raise ToolError(f"{wanted.assignee} cannot have it.", hint=f"There is: {', '.join(there)}.")
        return await self._end(context, run, "handed_off", wanted.note, worker=wanted.assignee)

    async def review(self, context: ToolContext, wanted: Reviewing) -> str:
        run, _ = await self.claim(context, "review")
        if wanted.verdict == "approve":
            return await self._end(context, run, "approved", wanted.reason)
        if not wanted.reason.strip():
            raise ToolError("Say what is wrong, so that it can be mended.")
        return await self._end(context, run, "rejected", wanted.reason)

    async def _end(self, context: ToolContext, run: Run, outcome: str, said: str, **more: Any) -> str:
        if run.state != "open":  # this call was made before, and what came of it was not known
            return f"Your claim has ended: {run.outcome}. Stop here."
        said = self._ctx.masks.text(said.strip())
        if not said and outcome != "approved":
            raise ToolError("Say it in words: they are all that others learn.")
        config = config_of(self._ctx)
        ending = Ending(outcome=outcome, summary=said, outside=context.session.untrusted, limit=config.failures,
                        again=config.rejections, **more)  # fmt: skip
        try:
            task = await self.rows.claims.end(run.id, ending)
        except UserError as error:
            raise ToolError(error.text, hint=error.hint) from error
        if task is None:
            raise ToolError("The task was taken from you.", hint="Stop here.")
        return f"{task.id} is {task.status} now. Stop here."

    async def create(self, context: ToolContext, wanted: New) -> str:
        found = await self.planner(context)
        options = Options(
            reviewer=wanted.reviewer, skills=tuple(wanted.skills), seconds=wanted.seconds, tenant=wanted.tenant
        )
        try:
            door = await self._door(context, found)
            board = found[1].board if found else wanted.board
            if wanted.reviewer not in ("", PERSON, *actions.workers(self._ctx)):
                raise UserError(f"Nobody is called {wanted.reviewer}.")
            for parent in wanted.parents:
                await self.at(context, parent)
            like = found[1] if found else None
            task, new = await actions.create(
                door, wanted.title, body=wanted.body, board=board, assignee=wanted.assignee, parents=wanted.parents,
                priority=wanted.priority, status="triage" if wanted.triage else "todo", mark=wanted.mark,
                options=options, like=like,
            )  # fmt: skip
            hint = await actions.running(door, task)
        except UserError as error:
            raise ToolError(error.text, hint=error.hint) from error
        return f"{words.line(task)}{'' if new else ' (it was there)'}\n{hint}".strip()

    async def link(self, context: ToolContext, wanted: Linking) -> str:
        found = await self.planner(context)
        _, child = await self.at(context, wanted.child)
        door, parent = await self.at(context, wanted.parent)
        if found and child.id != found[1].id and child.maker != _author(found, context.session.id):
            raise ToolError(f"{child.id} is neither yours nor made by you.")
        try:
            linked = await self.rows.tasks.link(parent.id, child.id, door.owner.person)
        except UserError as error:
            raise ToolError(error.text, hint=error.hint) from error
        return f"{linked.id} waits for {parent.id}."

    async def unblock(self, context: ToolContext, wanted: Answer) -> str:
        if await self.planner(context):
            raise ToolError("Who works on a task lets no other go on.")
        door, task = await self.at(context, wanted.task)
        if task.kind in ("person", "review", "failures", "again"):
            raise ToolError(f"{task.id} waits for a person's word: {task.error}")
        if not wanted.text.strip():
            raise ToolError("Say the answer to what it waits for.", hint=task.error)
        try:
            await actions.comment(door, task, wanted.text)
            return words.line(await self.rows.moves.unblock(task, "by a model"))
        except UserError as error:
            raise ToolError(error.text, hint=error.hint) from error

    async def attach(self, context: ToolContext, wanted: File) -> str:
        door, task = await self.at(context, wanted.task)
        try:
            data = base64.b64decode(wanted.content, validate=True) if wanted.base64 else wanted.content.encode()
            kept = await actions.attach(door, task, wanted.name, data)
        except (binascii.Error, ValueError):
            raise ToolError("The content is not base64.") from None
        except UserError as error:
            raise ToolError(error.text, hint=error.hint) from error
        return f"Kept as {kept.id}."

    async def files(self, context: ToolContext, wanted: Reading) -> str:
        _, task = await self.at(context, wanted.task)
        there = await self.rows.tasks.files(task.id)
        if not wanted.file:
            if any(one.outside for one in there):
                context.from_outside()
            return "\n".join(f"{one.id} {one.name} ({one.size:,} bytes)" for one in there) or "It has no file."
        file = next((one for one in there if wanted.file in (one.id, one.name)), None)
        if file is None:
            raise ToolError(f"{task.id} has no file {wanted.file}.")
        if file.outside:
            context.from_outside()
        data = await self.rows.tasks.data(file.id)
        if len(data) <= 20_000 and b"\0" not in data:
            return data.decode("utf-8", "replace")
        return f"{file.name} lies at {await context.spill(file.name, data)}"


def _author(found: tuple[Run, Task] | None, session: str) -> str:
    return f"{found[0].worker or 'worker'} of {found[1].id}" if found else f"the agent of {session}"
