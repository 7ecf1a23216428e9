"""A screen as a plugin brings one: chores in columns, with something of everything."""

from collections.abc import Sequence

from attrs import evolve

from hermes_core.errors import UserError
from hermes_core.kinds import Service
from hermes_tool_kit.screens import Card, Column, Key, Picture, Screen, Screens

HOSTILE = "\x1b[31mred\x1b]0;own\x07 [bold]x[/] [@click=app.quit]go[/] \x9b2J"


class Chores(Screen):
    """Three columns, of which one is long, and keys that ask, warn, and do."""

    name = "chores"
    title = "Chores"
    keys = (
        Key(key="d", does="done"),
        Key(key="w", does="wait", asks="What for?"),
        Key(key="x", does="drop", sure="Drop it?"),
        Key(key="n", does="new", asks="What is to be done?", alone=True),
    )

    def __init__(self) -> None:
        some = [
            Card(id="rice", title="Cook rice", note="ada · in a minute", goes=("done",)),
            Card(id="日本", title="日本語のメモをまとめる, too long for a column", note=HOSTILE, tone="bad"),
            Card(id="wash", title=HOSTILE, note="waits for water", tone="waits", goes=("done",)),
        ]
        old = [
            Card(id=f"old {n}", title=f"Chore of day {n}", note="done", tone="good", goes=("todo",)) for n in range(40)
        ]
        self.columns = [
            Column(id="todo", title="To do", cards=some),
            Column(id="doing", title="Under way", tone="busy"),
            Column(id="done", title="Done", cards=old, tone="good"),
        ]
        self.wrong: UserError | None = None
        self.pressed: list[tuple[str, str, str]] = []

    async def picture(self) -> Picture:
        if self.wrong:
            raise self.wrong
        return Picture(columns=tuple(self.columns), note="43 chores", at="todo")

    async def about(self, card: str) -> str:
        return f"All about {card}.\n{HOSTILE}"

    async def press(self, key: str, card: str, text: str = "") -> str:
        self.pressed.append((key, card, text))
        if key == "x":
            raise UserError("That one stays.", hint="It is nobody's to drop.")
        return f"{key} {card} {text}".strip()

    async def move(self, card: str, column: str) -> str:
        moved = next(one for place in self.columns for one in place.cards if one.id == card)
        for number, place in enumerate(self.columns):
            cards: Sequence[Card] = [one for one in place.cards if one.id != card]
            self.columns[number] = evolve(place, cards=[moved, *cards] if place.id == column else cards)
        return f"{card} is {column} now."


class House(Service, Screens):
    """A service that has it."""

    name = "house"

    async def run(self) -> None:
        """Do nothing."""

    def screens(self) -> Sequence[Screen]:
        return [Chores()]
