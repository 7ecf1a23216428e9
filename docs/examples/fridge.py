"""Shows what is in the fridge as a screen: ``/fridge shelves``. Each thing is a document: its shelf, under its name."""

# /// hermes
# api = 1
# name = "fridge"
# kind = "tool"
# summary = "Shows what is in the fridge."
# contributes = {services = ["fridge"]}
# ///

from hermes_core import hookimpl
from hermes_core.errors import UnknownName
from hermes_core.kinds import Service
from hermes_tool_kit.screens import Card, Column, Key, Picture, Screen, Screens

SHELVES = ("top", "middle", "bottom")


class Shelves(Screen):
    name, title = "shelves", "The fridge"
    keys = (Key(key="b", does="buy", asks="What?", alone=True), Key(key="e", does="eat", sure="Eat it?"))

    def __init__(self, ctx):
        self._food = ctx.documents

    async def picture(self):
        columns = {shelf: [] for shelf in SHELVES}
        for one in await self._food.list():
            columns[one.value].append(Card(id=one.name, title=one.name, goes=SHELVES))
        return Picture(columns=[Column(id=name, title=name, cards=cards) for name, cards in columns.items()])

    async def press(self, key, card, text=""):
        if key == "b" and text:
            await self._food.put(text, "top")
            return f"There is {text} now."
        if key == "e" and await self._food.delete(card):
            return f"{card} is eaten."
        raise UnknownName("food", card, ())

    async def move(self, card, column):
        if await self._food.change(card, lambda shelf: shelf and column):
            return f"{card} is on the {column} shelf."
        raise UnknownName("food", card, ())


class Fridge(Service, Screens):
    name = "fridge"

    def __init__(self, ctx):
        self._shelves = Shelves(ctx)

    async def run(self): ...  # it has no work beside the screen

    def screens(self):
        return [self._shelves]


@hookimpl
def register_services(ctx):
    return [Fridge(ctx)]
