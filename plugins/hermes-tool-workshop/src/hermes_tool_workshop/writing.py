"""What the three tools do: write one, look at those there are, go back to an earlier version."""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from hermes_core.errors import HermesError, ToolError, UserError
from hermes_core.kinds import ToolContext
from hermes_tool_workshop.arguments import misfit
from hermes_tool_workshop.calls import Work
from hermes_tool_workshop.draft import Draft, draft_of
from hermes_tool_workshop.label import Label
from hermes_tool_workshop.made import Workshop
from hermes_tool_workshop.offer import Back, Look, Write
from hermes_tool_workshop.shape import full_name
from hermes_tool_workshop.store import Damaged, Ledger, ToolStore
from hermes_tool_workshop.words import aside, may

_REPLAYED = 40  # examples that a version is kept with, those of earlier ones too
_SHOWN = 20_000  # characters of a version's code that are shown


def known_name(name: str) -> str:
    """The full name of a tool. Raises ToolError."""
    try:
        return full_name(name.strip())
    except ValueError as error:
        raise ToolError(str(error)) from None


async def written(shop: Workshop, context: ToolContext, wanted: Write) -> str:
    """Check a tool, try it and keep it. Raises ToolError."""
    draft = draft_of(wanted, shop.home, shop.config.seconds)
    store, session = shop.store(context.session), context.session
    if same := await asyncio.to_thread(_same, store, draft):
        return f"{draft.name} is just this already: version {same.version} is in force."
    carried = await asyncio.to_thread(_carried, store, draft)
    await _try(shop, context, draft, carried)
    label = Label(
        name=draft.name,
        owner=f"{session.owner.profile}.{session.owner.person}",
        permissions=draft.permissions,
        seconds=draft.seconds,
        sha256=draft.sha256,
        when=time.time(),
        session=session.id,
        why=draft.why,
        examples=(*draft.examples, *carried),
    )
    ledger = await asyncio.to_thread(store.keep, draft.name, draft.code, label, shop.config.most)
    fields = {"tool": draft.name, "version": ledger.version, "sha256": draft.sha256, "session": session.id}
    shop.log.info("tool written", extra={"fields": fields})
    first = json.dumps(draft.examples[0]["arguments"], ensure_ascii=False)
    again = f", and {len(carried)} of earlier versions" if carried else ""
    return (
        f"{draft.name} version {ledger.version} is kept; every example passed{again}. "
        f"Call it by its name if you have it, else now with tool_call(name={draft.name!r}, arguments={first}). "
        "From the next message on it is among your tools. own_versions and own_rollback manage what you wrote."
    )


def _same(store: ToolStore, draft: Draft) -> Ledger | None:
    """The ledger when the version in force is this very draft, as it was approved."""
    try:
        ledger = store.ledger(draft.name)
        version = store.version(draft.name, ledger.version)
    except (UserError, Damaged):
        return None
    label = version.label
    mine = (draft.code, draft.permissions, draft.seconds)
    same = version.intact and ledger.state == "on" and (version.code, label.permissions, label.seconds) == mine
    return ledger if same else None


def _carried(store: ToolStore, draft: Draft) -> tuple[Mapping[str, Any], ...]:
    """The tests of the version in force, but for calls of which the new one says anew what they give."""
    try:
        version = store.version(draft.name, store.ledger(draft.name).version)
    except (UserError, Damaged):
        return ()
    anew = [example["arguments"] for example in draft.examples]
    earlier = [one for one in version.label.examples if one["arguments"] not in anew] if version.intact else []
    return tuple(earlier[: _REPLAYED - len(draft.examples)])


async def _try(shop: Workshop, context: ToolContext, draft: Draft, carried: Sequence[Mapping[str, Any]] = ()) -> None:
    """Run every example, and those of the version that it replaces. Raises ToolError with what each came to."""
    work = Work(
        name=draft.name, entry=draft.shape.entry, code=draft.code, permissions=draft.permissions, seconds=draft.seconds
    )
    failed = []
    for number, example in enumerate(draft.examples):
        context.progress(f"{draft.name}: example {number + 1} of {len(draft.examples)}\n")
        outcome = await shop.play(context, work, draft.shape.filled(example["arguments"]))
        wanted = example["result"]
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
    for number, example in enumerate(carried):
        context.progress(f"{draft.name}: {number + 1} of {len(carried)} of the version in force\n")
        if problem := await _differs(shop, context, draft, work, example):
            failed.append(problem)
    if failed:
        raise ToolError(
            f"{draft.name} was not kept, as it does not do what the version in force was kept for:\n- "
            + "\n- ".join(failed),
            hint="Correct the code. What is meant to change, send as an example: the same arguments, the new result.",
        )


async def _differs(shop: Workshop, context: ToolContext, draft: Draft, work: Work, example: Mapping[str, Any]) -> str:
    """How a call of an earlier version comes out otherwise now; empty when it does not."""
    given = json.dumps(example["arguments"], ensure_ascii=False)[:300]
    if problems := list(misfit(draft.shape, example["arguments"])):
        return f"{given}: {'; '.join(problems)}"
    outcome = await shop.play(context, work, draft.shape.filled(example["arguments"]))
    if problem := outcome.crash or outcome.error:
        return f"{given}: {problem}"
    if example["result"] is None or outcome.value == example["result"]:
        return ""
    got, due = (json.dumps(value, ensure_ascii=False)[:300] for value in (outcome.value, example["result"]))
    return f"{given}: it returned {due}, and returns {got} now"


def look(store: ToolStore, wanted: Look) -> str:
    """The tools there are, or one of them. Raises ToolError."""
    if not wanted.name:
        return "\n".join(_line(store, name) for name in store.names()) or "You have written no tool yet."
    name = known_name(wanted.name)
    try:
        ledger = store.ledger(name)
        version = store.version(name, wanted.version or ledger.version)
    except (Damaged, UserError) as error:
        raise _told(error) from None
    label, there = version.label, ", ".join(map(str, sorted(ledger.digests)))
    head = f"{name}, version {version.number} of {there}; in force: {ledger.version} ({state(ledger)})."
    code = version.code if len(version.code) <= _SHOWN else f"{version.code[:_SHOWN]}\n# … the rest is left out"
    return "\n".join((head, f"Written {label.written}. It may:", may(label.permissions), "", code))


def state(ledger: Ledger) -> str:
    """In words."""
    return {"on": "on", "off": "switched off", "aside": "set aside"}[ledger.state]


def _line(store: ToolStore, name: str) -> str:
    try:
        ledger = store.ledger(name)
        label = store.version(name, ledger.version).label
    except (Damaged, HermesError) as error:
        return f"{name}: {error}"
    may_do = "; ".join(label.permissions.words())
    return f"{name}: version {ledger.version} of {len(ledger.digests)}, {state(ledger)}; may {may_do}"


async def back(shop: Workshop, context: ToolContext, wanted: Back) -> str:
    """Put an earlier version in force. Raises ToolError."""
    name = known_name(wanted.name)
    ledger = await asyncio.to_thread(_back, shop.store(context.session), name, wanted.version)
    fields = {"tool": name, "version": ledger.version, "session": context.session.id}
    shop.log.info("tool rolled back", extra={"fields": fields})
    return f"Version {ledger.version} of {name} is in force."


def _back(store: ToolStore, name: str, number: int) -> Ledger:
    try:
        return store.switch(name, number, why="")
    except (Damaged, UserError) as error:
        raise _told(error) from None


def _told(error: Damaged | UserError) -> ToolError:
    if isinstance(error, UserError):
        return ToolError(error.text)
    return ToolError(f"{error}.", retry=False, hint="Tell the person.")
