"""The three tools the model has: write one, look at those there are, go back to an earlier version."""

import asyncio
import json
import time
from typing import Any

from hermes_core.errors import HermesError, ToolError, UserError
from hermes_core.kinds import Tool, ToolContext, tool
from hermes_core.options import option, settings
from hermes_core.types import Effect, Session
from hermes_tool_workshop.calls import Work
from hermes_tool_workshop.draft import Draft, Write, draft_of
from hermes_tool_workshop.label import Label
from hermes_tool_workshop.made import Workshop
from hermes_tool_workshop.shape import full_name
from hermes_tool_workshop.shelf import Damaged, Ledger, Shelf
from hermes_tool_workshop.words import aside, may

_SHOWN = 20_000  # characters of a version's code that are shown


@settings
class Look:
    """What to look at."""

    name: str = option("One tool, with its code; default: all of them.", default="")
    version: int = option("Default: the one in force.", default=0)


@settings
class Back:
    """What to go back to."""

    name: str = option("The tool.")
    version: int = option("An earlier version of it.")


def make_tools(shop: Workshop) -> list[Tool]:
    """The tool that writes, over one workshop. The others are made by it: they cost nothing where none was written."""

    def none_yet(session: Session) -> str | None:
        return None if shop.shelf(session).names() else "no tool was written yet"

    @tool(toolset="workshop", idempotent=True, touches=lambda _: (), needs=none_yet)
    async def own_versions(context: ToolContext, wanted: Look) -> str:
        """The tools you wrote, their versions and code."""
        return await asyncio.to_thread(_look, shop.shelf(context.session), wanted)

    @tool(
        toolset="workshop",
        effects={Effect.CONFIGURE},
        touches=lambda wanted: (f"workshop:{wanted.name}",),
        needs=none_yet,
    )
    async def own_rollback(context: ToolContext, wanted: Back) -> str:
        """Put an earlier version of a tool you wrote in force."""
        name = known_name(wanted.name)
        ledger = await asyncio.to_thread(_back, shop.shelf(context.session), name, wanted.version)
        fields = {"tool": name, "version": ledger.version, "session": context.session.id}
        shop.log.info("tool rolled back", extra={"fields": fields})
        return f"Version {ledger.version} of {name} is in force."

    # Writing the same again is one version, so that a call whose process died may be run again.
    @tool(
        toolset="workshop",
        effects={Effect.CONFIGURE, Effect.EXECUTE},
        idempotent=True,
        touches=lambda wanted: (f"workshop:{wanted.name}",),
        makes=lambda session: [*shop.tools(session), own_versions, own_rollback],
        seconds=3600.0,
    )
    async def tool_write(context: ToolContext, wanted: Write) -> str:
        """Write yourself a Python tool, or a new version of one; call it at once. A person approves it."""
        draft = draft_of(wanted, shop.home, shop.config.seconds)
        return await _written(shop, context, draft)

    return [tool_write]


def known_name(name: str) -> str:
    """The full name of a tool. Raises ToolError."""
    try:
        return full_name(name.strip())
    except ValueError as error:
        raise ToolError(str(error)) from None


async def _written(shop: Workshop, context: ToolContext, draft: Draft) -> str:
    shelf, session = shop.shelf(context.session), context.session
    if same := await asyncio.to_thread(_same, shelf, draft):
        return f"{draft.name} is just this already: version {same.version} is in force."
    await _try(shop, context, draft)
    label = Label(
        name=draft.name,
        owner=f"{session.owner.profile}.{session.owner.person}",
        permissions=draft.permissions,
        seconds=draft.seconds,
        sha256=draft.sha256,
        when=time.time(),
        session=session.id,
        why=draft.why,
        examples=draft.examples,
    )
    ledger = await asyncio.to_thread(shelf.keep, draft.name, draft.code, label, shop.config.most)
    fields = {"tool": draft.name, "version": ledger.version, "sha256": draft.sha256, "session": session.id}
    shop.log.info("tool written", extra={"fields": fields})
    first = json.dumps(draft.examples[0]["arguments"], ensure_ascii=False)
    return (
        f"{draft.name} version {ledger.version} is kept; every example passed. "
        f"Call it by its name if you have it, else now with tool_call(name={draft.name!r}, arguments={first}). "
        "In later conversations it is there from the start. own_versions and own_rollback manage what you wrote."
    )


def _same(shelf: Shelf, draft: Draft) -> Ledger | None:
    """The ledger when the version in force is this very draft, as it was approved."""
    try:
        ledger = shelf.ledger(draft.name)
        version = shelf.version(draft.name, ledger.version)
    except (UserError, Damaged):
        return None
    label = version.label
    mine = (draft.code, draft.permissions, draft.seconds)
    same = version.intact and ledger.state == "on" and (version.code, label.permissions, label.seconds) == mine
    return ledger if same else None


async def _try(shop: Workshop, context: ToolContext, draft: Draft) -> None:
    """Run every example. Raises ToolError with what each came to, when not all are as they should be."""
    work = Work(
        name=draft.name, entry=draft.shape.entry, code=draft.code, permissions=draft.permissions, seconds=draft.seconds
    )
    failed = []
    for number, example in enumerate(draft.examples):
        context.progress(f"{draft.name}: example {number + 1} of {len(draft.examples)}\n")
        given = {one.name: one.default for one in draft.shape.arguments if not one.required}
        outcome = await shop.play(context.workspace, work, {**given, **example["arguments"]})
        wanted: Any = example["result"]
        if problem := outcome.crash or outcome.error:
            failed.append("\n  ".join((f"examples[{number}]: {problem}", *aside(outcome))))
        elif wanted is not None and outcome.value != wanted:
            got, due = (json.dumps(value, ensure_ascii=False)[:500] for value in (outcome.value, wanted))
            failed.append(f"examples[{number}]: it should return {due}, and returned {got}")
    if failed:
        raise ToolError(
            f"{draft.name} was not kept: {len(failed)} of {len(draft.examples)} examples did not pass:\n- "
            + "\n- ".join(failed),
            hint="Correct the code or the example and send all of it again.",
        )


def _look(shelf: Shelf, wanted: Look) -> str:
    if not wanted.name:
        return "\n".join(_line(shelf, name) for name in shelf.names()) or "You have written no tool yet."
    name = known_name(wanted.name)
    try:
        ledger = shelf.ledger(name)
        version = shelf.version(name, wanted.version or ledger.version)
    except (Damaged, UserError) as error:
        raise _told(error) from None
    label, there = version.label, ", ".join(map(str, sorted(ledger.digests)))
    head = f"{name}, version {version.number} of {there}; in force: {ledger.version} ({state(ledger)})."
    code = version.code if len(version.code) <= _SHOWN else f"{version.code[:_SHOWN]}\n# … the rest is left out"
    return "\n".join((head, f"Written {label.written}. It may:", may(label.permissions), "", code))


def state(ledger: Ledger) -> str:
    """In words."""
    return {"on": "on", "off": "switched off", "aside": "set aside"}[ledger.state]


def _line(shelf: Shelf, name: str) -> str:
    try:
        ledger = shelf.ledger(name)
        label = shelf.version(name, ledger.version).label
    except (Damaged, HermesError) as error:
        return f"{name}: {error}"
    may_do = "; ".join(label.permissions.words())
    return f"{name}: version {ledger.version} of {len(ledger.digests)}, {state(ledger)}; may {may_do}"


def _back(shelf: Shelf, name: str, number: int) -> Ledger:
    try:
        return shelf.switch(name, number, why="")
    except (Damaged, UserError) as error:
        raise _told(error) from None


def _told(error: Damaged | UserError) -> ToolError:
    if isinstance(error, UserError):
        return ToolError(error.text)
    return ToolError(f"{error}.", retry=False, hint="Tell the person.")
