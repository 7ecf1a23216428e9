"""Decides when a conversation is compacted, and does it. What would not fit is made to fit, whatever went before."""

import asyncio
import time
from collections.abc import Callable, Sequence
from datetime import date
from math import inf
from typing import Any, Literal

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.errors import ContextTooLong, HermesError, UserError
from hermes_core.types import Message, Request, Session, Text, ToolResult
from hermes_core.values import define, frozen
from hermes_memory_compressor import tokens
from hermes_memory_compressor.block import Block, assemble, is_ours
from hermes_memory_compressor.config import Config, Limits
from hermes_memory_compressor.facts import fitting, kept_lines, sentences
from hermes_memory_compressor.meter import is_due, limits_of, meter_of
from hermes_memory_compressor.pins import Pins
from hermes_memory_compressor.plan import Plan, make_plan
from hermes_memory_compressor.prune import Counts, cut, prune
from hermes_memory_compressor.summary import MOST_HANDOFF, SummaryFailed, handoff, request_for, text_of

ATTEMPTS = 3  # compactions in one turn at most
_EFFECTIVE = 0.1  # a pass that saves less than this share did not help
_PATIENCE = 2  # passes that did not help, in a row, until it waits for what would not fit
_HURRY = 0.1  # of the time for which no summary is asked for, where the conversation would not fit
_CAPS = (8_000, 4_000, 2_000, 1_000, 500)  # characters of an output at the end, when nothing else is left to cut
_SURELY = 1.1  # an estimate this far beyond the window is beyond it

How = Literal["pruned", "summary", "handoff"]


@frozen(kw_only=True)
class Compacted:
    """A context that can take the place of the old one; ``why`` says what failed when there is no summary."""

    messages: Sequence[Message]
    how: How
    plan: Plan
    counts: Counts
    why: str = ""


@define
class Progress:
    """How compaction went in one session so far."""

    failed: float = -inf  # when a summary failed last
    useless: int = 0
    turn: str = ""
    attempts: int = 0

    @property
    def waits(self) -> bool:
        """Whether it compacts nothing by itself until the conversation would not fit."""
        return self.useless >= _PATIENCE


class Compressor:
    """One for each kernel. ``clock`` counts seconds."""

    def __init__(self, ctx: PluginContext, clock: Callable[[], float] = time.monotonic) -> None:
        self.config: Config = ctx.config
        self.pins = Pins(ctx.documents, ctx.paths.data)
        self.meter = meter_of(ctx)
        self._ctx, self._clock = ctx, clock
        self._mask = ctx.masks.text
        self._progress: dict[str, Progress] = {}

    def progress(self, session_id: str) -> Progress:
        """How it went so far."""
        return self._progress.setdefault(session_id, Progress())

    async def before(self, session: Session, request: Request) -> Request | None:
        """The request with a smaller context, when it is over the threshold.

        Raises ContextTooLong when it does not fit into a known window and nothing is left to compact.
        """
        if not is_due(self._ctx, session, request):
            return None
        found, ratio = limits_of(self.config, request), self.meter.ratio(session.id)
        size = int(tokens.of_request(request) * ratio)
        room = found.window - max(int(request.options.get("max_tokens") or 0), found.window // 20)
        made = await self._automatic(session, request, found.estimated(ratio), overflow=size > room)
        if made is not None:
            return evolve(request, messages=(request.messages[0], *made))
        if request.context and size > request.context * _SURELY:
            raise _too_long(size, request.context)
        return None

    async def _automatic(
        self, session: Session, request: Request, found: Limits, *, overflow: bool
    ) -> Sequence[Message] | None:
        progress, messages = self.progress(session.id), request.messages[1:]
        progress.attempts = progress.attempts + 1 if progress.turn == session.turn else 1
        progress.turn = session.turn
        passed = self._clock() - progress.failed
        cooling = passed < self.config.cool_down_seconds * (_HURRY if overflow else 1)
        if not overflow and (progress.waits or progress.attempts > ATTEMPTS or cooling):
            return None
        beside = tokens.of_request(request) - tokens.of_messages(messages)
        try:
            made = await self.compact(
                session,
                messages,
                found,
                beside=beside,
                ask=not cooling and not progress.waits and progress.attempts <= ATTEMPTS,
                stand_in=overflow and self.config.static_handoff,
            )
        except SummaryFailed as failure:
            progress.failed = self._clock()
            self._ctx.log.warning("session %s was not compacted: %s", session.id, str(failure))
            return None
        before, after = tokens.of_messages(messages), tokens.of_messages(made.messages)
        smaller = after < before and tokens.bulk(made.messages) < tokens.bulk(messages)
        useful = smaller and after <= before * (1 - _EFFECTIVE)
        progress.useless = 0 if useful else progress.useless + 1
        if made.why and not cooling:
            progress.failed = self._clock()
            self._ctx.log.warning("a list stands in for a summary of session %s: %s", session.id, made.why)
        return made.messages if useful or (smaller and overflow) else None

    async def compact(
        self,
        session: Session,
        messages: Sequence[Message],
        found: Limits,
        *,
        beside: int = 0,
        focus: str = "",
        ask: bool = True,
        stand_in: bool = False,
        always: bool = False,
    ) -> Compacted:
        """A smaller context, for messages without the system prompt; ``beside`` is what prompt and tools take.

        ``ask`` says whether a model may be asked, ``stand_in`` whether a list may take the place of a summary that
        failed, ``always`` that a summary is wanted even where pruning would do. Raises SummaryFailed, UserError.
        """
        plan = _planned(messages, self.config, found)
        pins = await self.pins.read(session)
        head, counts = prune(plan.head, later=[*plan.middle, *plan.tail], keep=plan.whole)
        if not always:
            made, more = _pruned(messages, plan, head, pins)
            if not plan.middle or beside + tokens.of_messages(made) <= found.threshold // 2:
                fitted = _fit(made, found.threshold - beside, plan)
                return Compacted(messages=fitted, how="pruned", plan=plan, counts=_sum(counts, more))
        how: How = "summary"
        why, earlier = "", plan.earlier.summary if plan.earlier else ""
        try:
            if not ask:
                raise SummaryFailed("a summary failed a short while ago")
            summary = await self._summary(session, plan, found, earlier, focus)
        except SummaryFailed as failure:
            if not stand_in:
                raise
            how, why = "handoff", str(failure)
            summary = handoff(plan.middle, earlier=earlier, most=min(MOST_HANDOFF, found.threshold), mask=self._mask)
        block = self._block(plan, summary, found, pins)
        made = _fit(assemble(head, block, plan.rest), found.threshold - beside, plan)
        return Compacted(messages=made, how=how, plan=plan, counts=counts, why=why)

    def _block(self, plan: Plan, summary: str, found: Limits, pins: Sequence[str]) -> Block:
        """The summary with what it must not lose, as it was written: what it and the words beside it leave out."""
        earlier, mask = plan.earlier or Block(summary=""), self._mask
        said = [*earlier.said, *map(mask, plan.said)]
        room = min(found.kept, (tokens.of_messages(plan.middle) + sum(map(tokens.of_text, earlier.said))) // 3)
        near = fitting(said, room, longest=max(200, found.kept))
        there = [summary, *near, *pins, *plan.kept.values(), *(_text(m) for m in (*plan.head, *plan.rest))]
        gone = [line for text in said[: len(said) - len(near)] for line in sentences(text)]
        told = [line for text in plan.answered for line in sentences(mask(text))]
        # What leaves first where there is no room stands first: what nobody found worth a note yet.
        lines = [*kept_lines([*told, *gone], there), *earlier.items, *kept_lines(sentences(earlier.summary), there)]
        items = fitting(list(dict.fromkeys(lines)), room // 2)
        return Block(summary=summary, items=items, said=near, pins=pins, kept=plan.kept, date=_today())

    async def _summary(self, session: Session, plan: Plan, found: Limits, earlier: str, focus: str) -> str:
        """A summary; the model is told once what is wrong with its answer, if there is time. Raises SummaryFailed."""
        complaint = ""
        try:
            async with asyncio.timeout(self.config.summary_seconds):
                try:
                    return await self._asked(session, plan, found, earlier, focus, "")
                except SummaryFailed as failure:
                    if not failure.again:
                        raise
                    complaint = str(failure)
                return await self._asked(session, plan, found, earlier, focus, complaint)
        except TimeoutError:
            why = complaint or f"no summary came within {self.config.summary_seconds:g} s"
            raise SummaryFailed(why) from None

    async def _asked(
        self, session: Session, plan: Plan, found: Limits, earlier: str, focus: str, complaint: str
    ) -> str:
        """Raises SummaryFailed."""
        budget = found.summary(tokens.of_messages(plan.middle) + tokens.of_text(earlier))
        request = request_for(
            plan.middle,
            earlier=earlier,
            focus=self._mask(focus),
            budget=budget,
            room=found.window - budget * 2,
            today=_today(),
            mask=self._mask,
            complaint=complaint,
        )
        try:
            response = await self._ctx.llm.complete(request, task="compression", session=session)
        except HermesError as error:
            raise SummaryFailed(error.text) from error
        return text_of(response, budget, self._mask)


def _planned(messages: Sequence[Message], config: Config, found: Limits) -> Plan:
    if not any(message.role == "user" and not is_ours(message) for message in messages):
        raise UserError("There is nothing to compact yet.")
    return make_plan(messages, config, found)


def _pruned(
    messages: Sequence[Message], plan: Plan, head: Sequence[Message], pins: Sequence[str]
) -> tuple[list[Message], Counts]:
    """The conversation with its middle pruned, in its old order; pins and an earlier summary stay in a block."""
    there = _kept_calls(plan)
    middle, counts = prune(plan.middle, later=plan.tail, keep=[*plan.whole, *there.values()])
    new = {id(before): after for before, after in zip(plan.middle, middle, strict=True)}
    rest = [new.get(id(message), message) for message in messages[len(head) :] if not is_ours(message)]
    if not pins and not plan.earlier:
        return [*head, *rest], counts
    kept = {name: text for name, text in plan.kept.items() if name not in there}
    summary = "## Goal\nNothing was summarised; old outputs were shortened."
    earlier = plan.earlier or Block(summary=summary)
    return assemble(head, evolve(earlier, pins=pins, kept=kept, date=_today()), rest), counts


def _kept_calls(plan: Plan) -> dict[str, str]:
    """The calls in the middle whose results are kept word for word as long as the middle stays, by tool."""
    results = {p.name: p.call_id for m in plan.middle for p in m.parts if isinstance(p, ToolResult) and not p.failed}
    return {name: call_id for name, call_id in results.items() if name in plan.kept}


def _text(message: Message) -> str:
    inner = (p.parts if isinstance(p, ToolResult) else (p,) for p in message.parts)
    return "\n".join(piece.text for parts in inner for piece in parts if isinstance(piece, Text))


def _today() -> str:
    return date.today().isoformat()  # noqa: DTZ011 - the person's day


def _fit(messages: Sequence[Message], room: int, plan: Plan) -> list[Message]:
    """Cut the outputs at the end too, from the largest on, while the whole is larger than its room."""
    made = list(messages)
    for cap in _CAPS:
        if tokens.of_messages(made) <= room:
            break
        made = [_capped(message, cap, plan.whole) for message in made]
    return made


def _capped(message: Message, cap: int, whole: Sequence[str]) -> Message:
    if message.role != "tool":
        return message
    parts = tuple(
        evolve(part, parts=tuple(_cut_part(inner, cap) for inner in part.parts))
        if isinstance(part, ToolResult) and part.call_id not in whole
        else part
        for part in message.parts
    )
    return evolve(message, parts=parts)


def _cut_part(part: Any, cap: int) -> Any:
    return Text(text=cut(part.text, cap * 2 // 3, cap // 3)) if isinstance(part, Text) else part


def _sum(one: Counts, other: Counts) -> Counts:
    return Counts(
        outputs=one.outputs + other.outputs,
        duplicates=one.duplicates + other.duplicates,
        arguments=one.arguments + other.arguments,
        images=one.images + other.images,
    )


def _too_long(size: int, window: int) -> ContextTooLong:
    return ContextTooLong(
        f"This conversation no longer fits: about {size:,} tokens, the model takes about {window:,}, and nothing is "
        "left to compact by itself.",
        hint="Compact it with /compress, send a shorter message, take pins out with /pin drop N, take an exchange back "
        "with /undo, choose a model with a larger window with /model, or start anew with /new.",
    )
