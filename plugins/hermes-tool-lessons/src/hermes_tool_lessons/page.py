"""What was learned, in the full screen, ``/lessons page``: how it went, what waits, what is told, the last turns."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from hermes_core.errors import UserError
from hermes_tool_kit.plots import bars
from hermes_tool_kit.screens import Card, Column, Key, Picture, Screen, Tone

if TYPE_CHECKING:
    from hermes_core.context import PluginContext
    from hermes_tool_lessons.values import Event, Lesson, State

__all__ = ["LearnedScreen"]

_DAYS, _TURNS, _MOST = 14, 20, 100  # so many days fit into a column
_STATES: Mapping["State", tuple[str, Tone]] = {
    "candidate": ("waits for you", "waits"), "trial": ("is tried", "busy"), "active": ("is told", "good"),
    "retired": ("was let go of", "quiet"),
}  # fmt: skip


class LearnedScreen(Screen):
    """The lessons of whose Hermes it is, with plots of what became of them."""

    name = "page"
    title = "What was learned"
    every = 5.0
    keys = (
        Key(key="a", does="approve"),
        Key(key="x", does="let go of"),
        Key(key="f", does="freeze or thaw"),
        Key(key="u", does="undo its last change", sure="Make it what it was before?"),
        Key(key="g", does="that went well"),
        Key(key="b", does="that went badly", asks="What should have been?"),
    )

    def __init__(self, ctx: "PluginContext") -> None:
        self._ctx = ctx

    async def picture(self) -> Picture:
        from hermes_tool_lessons.reporting import days_of
        from hermes_tool_lessons.shared import is_on, is_used, ledger_of, queue_of, rows_of

        if not is_used(self._ctx):
            off = "" if is_on(self._ctx) else f" Learning is off: {self._ctx.program} config set learning.mode ask"
            return Picture(columns=[Column(id="days", title=f"{_DAYS} days")], note=f"Nothing was learned yet.{off}")
        owner, masked = self._ctx.owner, self._ctx.masks.text
        lessons = await rows_of(self._ctx).list(owner)
        drawn = await days_of(self._ctx, owner, _DAYS)
        plots = [Card(id=f"plot:{name}", title=f"{name:<5} {bars(values)}") for name, values in drawn.items()]
        since = await queue_of(self._ctx).now() - _DAYS * 86_400
        events = await ledger_of(self._ctx).since(owner, since, "turn", "outcome")
        ends = {one.turn: bool(one.value) for one in events if one.kind == "outcome"}
        turns = [one for one in events if one.kind == "turn"][: -_TURNS - 1 : -1]
        return Picture(
            columns=[
                Column(id="days", title=f"{_DAYS} days", cards=plots),
                *(
                    Column(id=state, title=title, tone=tone, cards=_cards(lessons, state, masked))
                    for state, (title, tone) in _STATES.items()
                ),
                Column(id="turns", title="your last turns", cards=[_turn(one, ends, masked) for one in turns]),
            ],
            note=f"lessons: {len(lessons)}",
        )

    async def about(self, card: str) -> str:
        from hermes_tool_lessons.reporting import report, why
        from hermes_tool_lessons.shared import ledger_of, rows_of

        kind, _, name = card.partition(":")
        if kind == "plot":
            return await report(self._ctx, self._ctx.owner, _DAYS)
        if kind == "turn":
            taught = await ledger_of(self._ctx).of_turn(self._ctx.owner, name)
            return "\n".join(f"{one.kind}: {self._ctx.masks.text(one.text)}" for one in taught)
        return await why(self._ctx, await rows_of(self._ctx).find(self._ctx.owner, name))

    async def press(self, key: str, card: str, text: str = "") -> str:
        from hermes_tool_lessons import doing
        from hermes_tool_lessons.shared import ledger_of, rows_of

        kind, _, name = card.partition(":")
        owner, rows = self._ctx.owner, rows_of(self._ctx)
        if key in ("g", "b"):
            taught = await ledger_of(self._ctx).of_turn(owner, name) if kind == "turn" else ()
            turn = next((one for one in taught if one.kind == "turn"), None)
            if turn is None:
                raise UserError("Choose one of your last turns.")
            return await doing.marked(self._ctx, owner, turn, good=key == "g", said=text)
        lesson = await rows.find(owner, name) if kind == "lesson" else None
        if lesson is None:
            raise UserError("Choose a lesson.")
        does: Mapping[str, Callable[[], Awaitable[Lesson]]] = {
            "a": lambda: rows.settle(owner, name, "active", "a person let it in"),
            "x": lambda: rows.settle(owner, name, "retired", "a person let go of it"),
            "f": lambda: rows.pin(owner, name, pinned=not lesson.pinned),
            "u": lambda: rows.revert(owner, name),
        }
        if key not in does:
            raise UserError(f"Nothing is done by {key}.")
        now = await does[key]()
        return f"{now.id} is {now.state}{', and frozen' if now.pinned else ''}."


def _cards(lessons: Sequence["Lesson"], state: str, masked: Callable[[str], str]) -> Sequence[Card]:
    return [
        Card(
            id=f"lesson:{one.id}",
            title=masked(one.text),
            note=masked(f"{one.trigger or 'always'} · {one.wins}/{one.uses}{' · frozen' if one.pinned else ''}"),
            tone="bad" if one.asks and one.state == "candidate" else _STATES[one.state][1],
        )
        for one in lessons
        if one.state == state
    ][:_MOST]


def _turn(turn: "Event", ends: Mapping[str, bool], masked: Callable[[str], str]) -> Card:
    from hermes_tool_lessons.values import facts_of

    good = ends.get(turn.turn)
    tone: Tone = "" if good is None else "good" if good else "bad"
    said = {True: "went well", False: "went badly", None: "not known: g or b"}[good]
    return Card(id=f"turn:{turn.turn}", title=masked(facts_of(turn).get("asked") or "(no words)"), note=said, tone=tone)
