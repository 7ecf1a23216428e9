"""The runs of an eval: each a hidden turn of its own, ordered once, found again by what it asks."""

import asyncio
import contextlib
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, UserError
from hermes_core.types import Message, PastTurn, Text, TurnBounds, TurnOrder, Usage
from hermes_paths.places import PathRules, open_parent
from hermes_tool_eval.cases import Case, digest_of
from hermes_tool_eval.checks import Found, checked
from hermes_tool_eval.judge import Judge

__all__ = ["Player", "Row", "Variant"]


@frozen(kw_only=True)
class Variant:
    """What is compared: a model, ``[provider:]model``, with a prompt that is added; and what that is called."""

    label: str
    model: str
    system: str = ""


@frozen(kw_only=True)
class Row:
    """What came of one run. ``again``: it had run before. ``seconds``, tokens and ``cost`` (US dollars) are its turn's.

    ``priced`` says how the cost is known, as of ``Usage``. ``score`` is the mean of its checks, ``ok`` all of them.
    """

    case: str
    variant: str
    run: int
    ok: bool
    score: float
    answer: str = ""
    why: str = ""
    error: str = ""
    model: str = ""
    seconds: float = 0.0
    input: int = 0
    output: int = 0
    calls: int = 0
    cost: float = 0.0
    priced: str = ""
    session: str = ""
    again: bool = False


@frozen(kw_only=True)
class Player:
    """Plays an eval. ``folder`` is where cases with files or tools work; ``money`` bounds all of it, 0 does not."""

    ctx: PluginContext
    name: str
    folder: Path
    at_once: int
    money: float
    judge: Judge
    granted: dict[str, float] = field(factory=dict)  # US dollars that the runs under way may use
    spent: list[float] = field(factory=list)

    async def play(
        self, cases: Sequence[Case], variants: Sequence[Variant], runs: int, told: Callable[[Row], object]
    ) -> list[Row]:
        """Do what is left of all runs, and give what came of each, by variant, case and number. Raises HermesError."""
        room = asyncio.Semaphore(self.at_once)

        async def one(case: Case, variant: Variant, number: int) -> Row:
            async with room:
                row = await self._one(case, variant, number)
            told(row)
            return row

        wanted = [(case, variant, n) for n in range(1, runs + 1) for case in cases for variant in variants]
        tasks = [asyncio.create_task(one(*each)) for each in wanted]
        try:
            found = await asyncio.gather(*tasks)
        finally:  # what cannot go on at all ends the others
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        order = {variant.label: number for number, variant in enumerate(variants)}
        names = {case.name: number for number, case in enumerate(cases)}
        return sorted(found, key=lambda row: (order[row.variant], names[row.case], row.run))

    async def _one(self, case: Case, variant: Variant, number: int) -> Row:
        what = digest_of(case.input, case.system, dict(case.files), list(case.tools), variant.model, variant.system)
        event = f"{self.name}:{what}:{number}"
        folder = self.folder / f"{what}-{number}" if case.works else None
        past = await self.ctx.turns.past(event)
        kept = folder is None or "files" not in case.expect or folder.is_dir()  # else there is nothing to look at
        again = past is not None and past.state == "done" and kept
        if past is None or not again:
            try:
                past = await self._played(case, variant, event, folder, past)
            finally:
                self.granted.pop(event, None)
        self.spent.append(past.usage.cost)
        row = Row(case=case.name, variant=variant.label, run=number, ok=False, score=0.0, again=again, **_facts(past))
        if past.state != "done":
            why = {"open": "its turn is at work elsewhere"}.get(past.state, past.error or "its turn was stopped")
            return evolve(row, error=why)
        found = await asyncio.to_thread(checked, case.expect, past.answer, folder)
        if "judge" in case.expect:
            try:
                found.append(await self.judge.judge(case, past.answer))
            except HermesError as error:
                return evolve(row, error=f"not judged: {error.text}")
        return evolve(
            row, ok=all(one.ok for one in found), score=sum(one.score for one in found) / len(found), why=_why(found)
        )

    async def _played(
        self, case: Case, variant: Variant, event: str, folder: Path | None, past: PastTurn | None
    ) -> PastTurn:
        """Play what was not, or finish what a death cut. Raises HermesError for what no run could do."""
        turns = self.ctx.turns
        if past and past.state in ("failed", "interrupted", "done"):  # it is asked anew
            await turns.forget(event)
            past = None
        if past is None:
            if folder:
                await asyncio.to_thread(_lay_out, case, folder)
            system = "\n\n".join(filter(None, (variant.system, case.system)))
            bounds = TurnBounds(tools=tuple(case.tools), money=self._grant(event))
            order = TurnOrder(
                event=event, system=system, folder=str(folder or ""), model=variant.model, bounds=bounds, hidden=True
            )
            events = turns.run(Message(role="user", parts=(Text(text=case.input),)), order=order)
        else:
            events = turns.resume(past.session_id)
        async with contextlib.aclosing(events) as each:
            async for _ in each:
                pass
        found = await turns.past(event)
        if found is None:  # it was deleted meanwhile
            raise UserError(f"The run of {case.name} is gone.", hint="Run this again.")
        return found

    def _grant(self, event: str) -> float:
        """Say what a run may spend; 0 for no bound. Raises UserError where nothing is left."""
        if not self.money:
            return 0.0
        left = self.money - sum(self.spent) - sum(self.granted.values())
        if left <= 0:
            raise UserError(f"The {self.money:g} dollars are spent.", hint="Run it again with more: what ran is kept.")
        self.granted[event] = left / max(1, self.at_once - len(self.granted))
        return self.granted[event]


def _facts(past: PastTurn) -> dict[str, Any]:
    used: Usage = past.usage
    return {
        "answer": past.answer, "model": f"{past.provider}:{past.model}", "session": past.session_id,
        "seconds": round(max(0.0, past.ended - past.started), 3), "input": used.input, "output": used.output,
        "calls": used.calls, "cost": used.cost, "priced": used.priced,
    }  # fmt: skip


def _why(found: Sequence[Found]) -> str:
    return "; ".join(f"{one.kind}: {one.why}" for one in found if not one.ok)


def _lay_out(case: Case, folder: Path) -> None:
    """Make the folder of a run with its files, as the case has them. Raises UserError."""
    try:
        if folder.is_dir():  # of a run that failed
            shutil.rmtree(folder)
        folder.mkdir(parents=True)
        for name, text in case.files.items():
            parent, last = open_parent(name, PathRules(cwd=str(folder), roots=[str(folder)]))
            _write(parent, last, text)
    except OSError as error:
        raise UserError(f"The folder of {case.name} cannot be made: {error}.") from error


def _write(parent: int, name: str, text: str) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with open(os.open(name, flags, 0o644, dir_fd=parent), "wb") as file:  # noqa: PTH123 - a descriptor
            file.write(text.encode("utf-8", "replace"))
    finally:
        os.close(parent)
