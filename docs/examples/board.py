"""Reads a sensor board: a plugin whose package is not there."""

# /// hermes
# api = 1
# name = "board"
# kind = "tool"
# summary = "Reads a sensor board."
#
# [contributes]
# tools = ["read_board"]
# ///

import RPi.GPIO

from hermes_core import hookimpl, tool


@tool
async def read_board() -> str:
    """Read the first pin of the board."""
    return str(RPi.GPIO.input(1))


@hookimpl
def register_tools():
    return [read_board]
