"""``/compress`` and ``/pin``, for the person."""

from collections.abc import Callable, Sequence
from math import inf
from typing import TYPE_CHECKING

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_core.types import Message, Session, SlashCommand
from hermes_memory_compressor import tokens
from hermes_memory_compressor.config import Limits, limits
from hermes_memory_compressor.summary import SummaryFailed

if TYPE_CHECKING:
    from hermes_memory_compressor.compressor import Compressor
    from hermes_memory_compressor.plan import Plan

_FEW = 4  # messages beside the first ones that are not worth a summary


def slash_commands(ctx: PluginContext, compressor: "Callable[[], Compressor]") -> Sequence[SlashCommand]:
    """The commands; ``compressor`` gives the one of this kernel when it is needed."""
    commands = _Commands(ctx, compressor)
    return [
        SlashCommand(name="compress", run=commands.compress),
        SlashCommand(name="pin", run=commands.pin),
    ]


class _Commands:
    def __init__(self, ctx: PluginContext, compressor: "Callable[[], Compressor]") -> None:
        self._ctx, self._compressor = ctx, compressor

    async def compress(self, session: Session, rest: str) -> str:
        messages = await self._read(session)
        if not messages:
            return "There is nothing to compact yet."
        about = _About(self._compressor(), session, messages)
        plan = about.plan()
        if rest == "preview":
            return about.preview(plan, len(await about.compressor.pins.read(session)))
        if not about.is_long(plan):
            return f"Nothing was changed: the {len(messages)} messages are too few to compact."
        try:
            made = await about.compressor.compact(
                session, messages, about.limits, beside=about.beside, focus=rest, always=True
            )
        except SummaryFailed as failure:
            return f"Nothing was changed: {str(failure).rstrip('.')}."
        size = about.size(made.messages)
        if size >= about.now:
            return f"Nothing was changed: compacted it would have about {size:,} tokens instead of {about.now:,}."
        await self._ctx.history.replace(session.owner, session.id, made.messages)
        progress = about.compressor.progress(session.id)
        progress.useless, progress.failed = 0, -inf
        return (
            f"Compacted: about {about.now:,} tokens became {size:,} ({_saved(about.now, size)} less); "
            f"{len(messages)} messages became {len(made.messages)}. All of them can still be searched."
        )

    async def _read(self, session: Session) -> Sequence[Message]:
        try:
            return await self._ctx.history.read(session.owner, session.id)
        except UnknownName:  # nothing was said yet
            return ()

    async def pin(self, session: Session, rest: str) -> str:
        pins, words = self._compressor().pins, rest.split()
        if not rest:
            return _listed(await pins.read(session))
        if len(words) == 2 and words[0] == "drop" and words[1].isdecimal():
            return f"Taken out.\n{_listed(await pins.drop(session, int(words[1])))}"
        if words[0] == "drop" and len(words) == 1:
            raise UserError("Say which pin to take out: /pin drop N", hint="/pin lists them.")
        made = await pins.add(session, rest)
        return f"Pinned, {len(made)} in all. Whenever this conversation is compacted, it is kept word for word."


class _About:
    """One conversation as it is now. Counts are estimates of real tokens, prompt and tools included."""

    def __init__(self, compressor: "Compressor", session: Session, messages: Sequence[Message]) -> None:
        self.compressor, self.messages = compressor, messages
        window, reply, self.beside = compressor.meter.around(session.id)
        self._ratio = compressor.meter.ratio(session.id)
        self.real = limits(compressor.config, window, reply)
        self.now = self.size(messages)
        found, content = self.real.estimated(self._ratio), tokens.of_messages(messages)
        tail, threshold = int(content * compressor.config.target_ratio), max(content, 1_000)
        self.limits: Limits = evolve(found, tail=min(found.tail, tail), threshold=min(found.threshold, threshold))

    def size(self, messages: Sequence[Message]) -> int:
        """Tokens of a request with these messages."""
        return int((self.beside + tokens.of_messages(messages)) * self._ratio)

    def plan(self) -> "Plan":
        """What would be done by hand: the end that stays is a share of what there is, not of the window."""
        from hermes_memory_compressor.plan import make_plan

        return make_plan(self.messages, self.compressor.config, self.limits)

    def is_long(self, plan: "Plan") -> bool:
        """Whether there is enough to make a summary worth it."""
        return bool(plan.middle) and len(self.messages) > len(plan.head) + _FEW

    def preview(self, plan: "Plan", pins: int) -> str:
        """What a compaction would do, in lines."""
        from hermes_memory_compressor.prune import prune

        head, counts = prune(plan.head, later=[*plan.middle, *plan.tail], keep=plan.whole)
        content = tokens.of_messages(plan.middle)
        summary = self.limits.summary(content) if plan.middle else 0
        summary += min(self.limits.kept, content // 3) * 3 // 2  # and what is kept word for word beside it
        rest = [*head, *plan.rest]
        after = self.size(rest) + int(summary * self._ratio)
        full = f"{self.real.threshold:,} of {self.real.window:,}"
        lines = [f"{len(self.messages)} messages, about {self.now:,} tokens; compacts by itself at {full}."]
        if not self.is_long(plan):
            return "\n".join([*lines, "", "There are too few messages to compact. Nothing was changed."])
        lines += [
            "",
            _row("stays as it is", len(rest), self._real(rest), _where(plan)),
            _row("summarised", len(plan.middle), int(content * self._ratio), f"into at most {summary:,} tokens"),
        ]
        if counts.outputs or counts.duplicates or counts.images:
            outputs = counts.outputs + counts.duplicates
            lines.append(f"    shortened        {outputs} old tool outputs, {counts.images} pictures at the start")
        kept = [f"{pins} pinned {'fact' if pins == 1 else 'facts'}", *(f"the last result of {n}" for n in plan.kept)]
        lines.append(f"    word for word    the last request, {', '.join(kept)}")
        if after >= self.now:
            return "\n".join([*lines, "", "It would save nothing. Nothing was changed."])
        less = f"{_saved(self.now, after)} less"
        return "\n".join([*lines, "", f"After: at most about {after:,} tokens ({less}). Nothing was changed."])

    def _real(self, messages: Sequence[Message]) -> int:
        return int(tokens.of_messages(messages) * self._ratio)


def _row(name: str, count: int, size: int, more: str) -> str:
    return f"    {name:<16} {count:>4} messages  {size:>9,} tokens   {more}"


def _where(plan: "Plan") -> str:
    asked = ", the last request" if plan.asked else ""
    start = f"the first {len(plan.head)}{asked} and " if plan.head else f"{asked[2:]} and " if asked else ""
    return f"{start}the last {len(plan.tail)}"


def _saved(before: int, after: int) -> str:
    return f"{100 * (before - after) // max(1, before)} %"


def _listed(pins: Sequence[str]) -> str:
    lines = [f"    {number}  {' '.join(pin.split())}" for number, pin in enumerate(pins, 1)]
    return "\n".join(lines) or "Nothing is pinned. Pin a fact: /pin TEXT"
