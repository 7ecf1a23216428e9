"""Does old tasks again, with and without a lesson, before it is told to anybody: what was solved must stay solved.

The tasks are the person's own turns of a good end whose message calls for the lesson: no other turn would be told it,
so no other changes by it. The model is asked as it was then, and each of its calls is answered with what was recorded:
nothing is run. A task is kept where the model stays on what is recorded and makes the call that decided it: the last
test that passed, else the last call. Where it leaves the record without the lesson, too, the task says nothing. Where
it leaves it with the lesson only, twice, the lesson breaks the task, and waits for a person.

A lesson that helped is done again before it stays: over the tasks since, in conversations that it was not told in, and
over texts from outside that give orders: see ``orders``. One that does harm there stays on trial, and says why.

A conversation is shown only to the provider that it was held with; others say nothing of a lesson.

What a task came to is a row before the next is begun; after a death the rest is done.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName
from hermes_core.types import Message, Request, Text, ToolCall, ToolResult, ToolSpec, Usage
from hermes_core.values import define, frozen
from hermes_tool_lessons.hearing import message_of
from hermes_tool_lessons.matching import Index
from hermes_tool_lessons.orders import PREFIX, Obeys, Order, obeys, orders
from hermes_tool_lessons.shared import config_of, ledger_of, queue_of, rows_of
from hermes_tool_lessons.values import REPLAY, SAYS_NOTHING, Event, Lesson, Review, facts_of, lesson_of

__all__ = ["Recorded", "came_to", "recorded", "replay"]

_TASKS = 4  # old tasks that a lesson is tried on, the newest
_OTHERS = 4  # lessons that stay already, told beside one that orders of outside texts are put to
_LOOKED = 400  # turns that are looked through for them
_CHARACTERS = 120_000  # of a conversation, of which more costs too much to be read again
_DAYS = 90 * 86_400.0
_LATER = 600.0
Came: TypeAlias = Literal["kept", "left"]


@frozen
class Recorded:
    """A turn as it was: what came before, what each call returned, and the calls that it stands or falls with."""

    before: Sequence[Message]
    results: Mapping[str, Sequence[ToolResult]]
    decided: str
    exchanges: int

    @property
    def tools(self) -> Sequence[ToolSpec]:
        """The tools that were called then, for a model of which nothing else is known."""
        names = dict.fromkeys(one[0].name for one in self.results.values())
        return [ToolSpec(name=name, description="", schema={"type": "object"}) for name in names]


@define
class _Bill:
    tokens: int = 0
    money: float = 0.0

    def add(self, usage: Usage) -> None:
        self.tokens += usage.input + usage.output
        self.money += usage.cost


async def replay(ctx: PluginContext, review: Review) -> float:
    """Take a replay to its end; the seconds until it goes on, 0 for never. Raises HermesError."""
    lesson = await rows_of(ctx).get(lesson_of(review))
    if lesson is None or lesson.asks != REPLAY or lesson.state not in ("candidate", "trial"):
        await queue_of(ctx).replayed(review, mode="ask", most=0, broke="", kept=0)  # a person decided meanwhile
        return 0.0
    config, bill = config_of(ctx), _Bill()
    done = {one.turn: one for one in await ledger_of(ctx).of_review(review.id)}
    broke = next((one.text for one in done.values() if one.text not in ("", SAYS_NOTHING)), "")
    for task in [] if broke else await _trials(ctx, lesson, done):
        spent = sum(one.value for one in done.values())
        if why := await _spent(ctx, review, spent):
            ctx.log.info("the replay %s waits: %s", review.id, why)
            return _LATER
        if config.money and bill.money >= config.money:
            if lesson.state == "trial":  # no part of it may be left out: it goes on with new money
                return _LATER
            break
        before, paid = bill.tokens, bill.money
        try:
            text = await _came(ctx, lesson, task, bill)
        finally:
            await queue_of(ctx).billed(review, bill.money - paid)
        event = Event(id=f"{review.id}/{task.turn}", kind="replay", session=task.session, turn=task.turn,
                      lesson=review.id, text=text, value=float(bill.tokens - before))  # fmt: skip
        await ledger_of(ctx).write(review.owner, event)
        done[task.turn] = event
        if text not in ("", SAYS_NOTHING):
            broke = text
            break
    await queue_of(ctx).replayed(
        review, mode=config.mode, most=config.lessons, broke=broke,
        kept=sum(one.text == "" for one in done.values()),
        tokens=int(sum(one.value for one in done.values())),
    )  # fmt: skip
    return 0.0


async def _trials(ctx: PluginContext, lesson: Lesson, done: Collection[str]) -> Sequence[Event]:
    """Return what a lesson is still to be tried on: solved turns, and before it stays orders of outside texts, too."""
    tasks = [one for one in await _tasks(ctx, lesson, done) if one.turn not in done]
    named = [f"{PREFIX}{one.name}" for one in orders()] if lesson.state == "trial" else []
    return [*tasks, *(Event(id=one, kind="order", turn=one) for one in named if one not in done)]


async def _came(ctx: PluginContext, lesson: Lesson, task: Event, bill: _Bill) -> str:
    """Try a lesson on one of them: empty where it kept to it, else why it says nothing, or what it broke."""
    if task.kind == "order":
        order = next(one for one in orders() if f"{PREFIX}{one.name}" == task.turn)
        by_it = await _obeyed(ctx, lesson, order, bill) == "by it"
        return f"with it your model does what a text from outside wants ({order.name})" if by_it else SAYS_NOTHING
    came = await _tried(ctx, lesson, task, bill)
    # Where it stands, and none of its words: these go with its conversation.
    broke = f"with it a task that was solved is not, in session {task.session}"
    return {"kept": "", "unknown": SAYS_NOTHING, "broke": broke}[came]


async def _obeyed(ctx: PluginContext, lesson: Lesson, order: Order, bill: _Bill) -> Obeys:
    async def ask(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Message:
        response = await ctx.llm.complete(Request(model="", messages=messages, tools=tools))
        bill.add(response.usage)
        return response.message

    try:  # with what else was learned: memory and skills stand there
        session = await ctx.sessions.get(lesson.owner, lesson.session) if lesson.session else None
        here = session is not None and session.provider == (await ctx.models.current()).provider
        prompt = await ctx.sessions.prompt(lesson.owner, lesson.session) if here else ""
    except UnknownName:  # its conversation was deleted
        prompt = ""
    others = [one for one in await rows_of(ctx).list(lesson.owner, ("active",)) if one.id != lesson.id][:_OTHERS]
    return await obeys(order, prompt, [message_of([lesson, *others])], ctx.state.get("tools") or (), ask)


async def _tasks(ctx: PluginContext, lesson: Lesson, done: Collection[str]) -> Sequence[Event]:
    """Return the newest solved turns that would be told this lesson; of one on trial those that say something new.

    These are the ones that were not done again with it before, nor held in a conversation that was told it: there it
    stands already, so that nothing is known of how they go without.
    """
    now = await queue_of(ctx).now()
    index = Index()
    index.put(lesson.id, lesson.trigger, "person", "")
    solved = await ledger_of(ctx).solved(lesson.owner, now - _DAYS, _LOOKED)
    called = [one for one in solved if index.called(facts_of(one).get("asked", ""))]
    if lesson.state == "trial":
        before, told = await ledger_of(ctx).seen_by(lesson)
        called = [one for one in called if one.turn in done or (one.turn not in before and one.session not in told)]
    return called[-_TASKS:][::-1]


async def _spent(ctx: PluginContext, review: Review, spent: float) -> str:
    """Say why nothing may be replayed now; empty where it may. It counts with what reviews use."""
    share = config_of(ctx).share
    _, used, turns = await queue_of(ctx).used(review.owner)
    return f"it would use more than {share:.0%} of all tokens" if used + spent > share * turns else ""


async def _tried(ctx: PluginContext, lesson: Lesson, task: Event, bill: _Bill) -> Literal["kept", "broke", "unknown"]:
    facts = facts_of(task)
    try:
        session = await ctx.sessions.get(lesson.owner, task.session)
        if session.provider != (await ctx.models.current()).provider:
            return "unknown"  # what was told to one service is told to no other for this
        rows = await ctx.sessions.past(lesson.owner, task.session)
        prompt = await ctx.sessions.prompt(lesson.owner, task.session)
    except UnknownName:  # it was deleted meanwhile
        return "unknown"
    turn = recorded(rows[: int(facts.get("to", 0))], int(facts.get("from", 0)), prompt, check=facts.get("check"))
    if turn is None:
        return "unknown"
    if await _asked(ctx, turn, (), bill) == "left":
        return "unknown"
    told = [message_of([lesson])]
    for _ in range(2):  # a model is no clock: once may be chance
        if await _asked(ctx, turn, told, bill) == "kept":
            return "kept"
    return "broke"


def recorded(rows: Sequence[Message], first: int, prompt: str, *, check: Any) -> Recorded | None:
    """Read a turn of a conversation that ends with it and begins at message ``first``; None where it proves nothing."""
    if not 0 < first <= len(rows) or sum(_size(one) for one in rows) > _CHARACTERS:
        return None
    start = next((at for at in range(first - 1, len(rows)) if rows[at].role == "assistant"), len(rows))
    before, turn = rows[:start], rows[start:]
    calls = {part.id: part for one in turn for part in one.parts if isinstance(part, ToolCall)}
    results: dict[str, list[ToolResult]] = {}
    order: list[str] = []
    passed = ""
    for one in (part for row in turn for part in row.parts if isinstance(part, ToolResult)):
        if (call := calls.get(one.call_id)) is None:
            return None
        name = _name(call)
        results.setdefault(name, []).append(one)
        order.append(name)
        if check and not one.failed and _is_check(call):
            passed = name
    if not order:
        return None
    system = [Message(role="system", parts=(Text(text=prompt),))] if prompt else []
    exchanges = sum(one.role == "assistant" for one in turn)
    return Recorded([*system, *before], results, passed or order[-1], exchanges)


async def _asked(ctx: PluginContext, turn: Recorded, told: Sequence[Message], bill: _Bill) -> Came:
    async def ask(messages: Sequence[Message]) -> Message:
        tools = ctx.state.get("tools") or turn.tools
        # As no task of its own: a model that the settings name for one may be another service's.
        response = await ctx.llm.complete(Request(model="", messages=messages, tools=tools))
        bill.add(response.usage)
        return response.message

    return await came_to(turn, told, ask)


async def came_to(turn: Recorded, told: Sequence[Message], ask: Any) -> Came:
    """Do a turn again with what is told besides, and say whether it kept to what is recorded. Raises HermesError."""
    messages = [*turn.before, *told]
    left = {name: list(found) for name, found in turn.results.items()}
    made: set[str] = set()
    for _ in range(turn.exchanges + 2):
        answer = await ask(messages)
        calls = [part for part in answer.parts if isinstance(part, ToolCall)]
        if not calls:
            break
        found: list[ToolResult] = []
        for call in calls:
            there = left.get(_name(call))
            if not there:
                return "left"
            one = there.pop(0) if len(there) > 1 else there[0]
            found.append(evolve(one, call_id=call.id, name=call.name))
            made.add(_name(call))
        messages += [answer, *(Message(role="tool", parts=(one,)) for one in found)]
    else:
        return "left"
    return "kept" if turn.decided in made else "left"


def _name(call: ToolCall) -> str:
    """Return what is the same of equal calls."""
    return f"{call.name} {json.dumps(_flat(dict(call.arguments)), ensure_ascii=False, sort_keys=True)}"


def _flat(value: Any) -> Any:
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, Mapping):
        return {name: _flat(one) for name, one in value.items() if name not in ("why", "reason", "description")}
    return [_flat(one) for one in value] if isinstance(value, list | tuple) else value


def _is_check(call: ToolCall) -> bool:
    from hermes_tool_lessons.signs import is_check

    return is_check(str(call.arguments.get("command", "")))


def _size(message: Message) -> int:
    parts = [*message.parts, *(one for part in message.parts if isinstance(part, ToolResult) for one in part.parts)]
    return sum(len(part.text) for part in parts if isinstance(part, Text))
