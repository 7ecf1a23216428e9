"""Rolls dice."""

# /// hermes
# api = 1
# name = "dice"
# kind = "tool"
# summary = "Rolls dice."
#
# [contributes]
# tools = ["roll"]
# ///

from random import randint

from hermes_core import hookimpl, option, settings, tool
from hermes_core.options import ge, le


@settings
class Dice:
    sides: int = option("Sides of a die.", default=6, validator=[ge(2), le(1000)])
    count: int = option("How many dice.", default=1, validator=[ge(1), le(100)])


@tool
async def roll(dice: Dice) -> str:
    """Roll dice and say what came up."""
    rolled = [randint(1, dice.sides) for _ in range(dice.count)]
    return f"{' + '.join(map(str, rolled))} = {sum(rolled)}"


@hookimpl
def register_tools():
    return [roll]
