"""A conversation on this terminal as a client of a host of this home: drawn before anything of a kernel is loaded.

The host says which platforms a person talks on, and what a screen of each shows first. What serves it here comes from
the plugins that are installed beside this program, by the names that the host gives.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping
    from typing import Any

__all__ = ["FRONTS", "strange", "through_host", "wanted"]

FRONTS = 1  # of what is said about screens; a host that says another number, or none, is of another version
_PATIENCE = 1.0  # seconds for a host to say whether it serves this terminal


def wanted(words: "list[str]") -> "dict[str, Any] | None":
    """Return what a command line asks for where it is a conversation, or a look at one; None for all else."""
    order: dict[str, Any] = {"talk": "", "session": "", "latest": False}
    if words[:1] == ["attach"]:
        if len(words) > 2 or any(word.startswith("-") for word in words[1:]):
            return None
        return {**order, "talk": "attach", "session": _utf8(words[1]) if words[1:] else ""}
    left = iter(words[1:] if words[:1] == ["chat"] else words)
    for word in left:
        head, sign, value = word.partition("=")
        if word in ("--tui", "--cli"):
            order["talk"] = word[2:]
        elif word in ("-c", "--continue"):
            order["latest"] = True
        elif head in ("--interface", "--resume") or word == "-r":
            name = "talk" if head == "--interface" else "session"
            order[name] = _utf8(value if sign else next(left, ""))
            if not order[name] or order["talk"] == "attach":
                return None  # what is wrong with it is said by who would do it
        else:
            return None
    return order


def through_host(name: str, version: str, words: "list[str]") -> "int | None":
    """Have the host of this home carry a conversation on this terminal; the exit status. None: nothing was done."""
    order = wanted(words)
    if order is None or "HERMES_RUN" in os.environ or not (sys.stdin and sys.stdout and sys.stderr):
        return None
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return None
    from hermes_front.wire import home_of, place_of

    home = home_of(name, os.environ)
    place = place_of(home)
    if not home or not os.path.exists(place):  # noqa: PTH110 - pathlib is dear
        return None
    from hermes_front.one_shot import hello
    from hermes_front.wire import Lines, connect, frame

    connection = connect(place, _PATIENCE)
    if connection is None:
        return None
    told = hello(version, home, do="front", fronts=FRONTS, **order)
    offer: Mapping[str, Any] = {}
    try:
        if told["cwd"]:  # that the folder is gone is said by who would work in it
            connection.sendall(frame(**told))
            if order["talk"] != "attach":
                import asyncio  # noqa: F401 - a screen needs it, and importing it takes as long as the host's answer
            lines = iter(Lines(connection))
            said = next(lines, {})
            if said.get("ok") and said.get("fronts") != FRONTS:
                strange(name, said)
            elif said.get("ok"):
                offer = {**next(lines, {}), "anew": said.get("anew")}
    except (OSError, ValueError):
        offer = {}
    if not offer.get("carry"):  # why is said by who does it without this
        connection.close()
        return None
    status = _carried(name, home, connection, offer)
    if status is None:
        connection.close()
    return status


def _carried(name: str, home: str, connection: "socket.socket", offer: "Mapping[str, Any]") -> "int | None":
    from importlib import import_module

    module, _, function = str(offer["carry"]).partition(":")
    try:
        carry = getattr(import_module(module), function)
    except (ImportError, AttributeError, ValueError):
        strange(name, offer)
        return None
    status: int | None = carry(name, home, connection, offer)
    return status


def strange(name: str, said: "Mapping[str, Any]") -> None:
    """Say that a host speaks otherwise than this program, and how it is begun anew, where it said that."""
    anew = said.get("anew") or f"Begin it anew: {name} gateway stop, then {name} gateway start"
    sys.stderr.write(
        f"The host of this home is of another version than this program, which starts slower for it.\n{anew}\n"
    )


def _utf8(word: str) -> str:
    try:
        return os.fsencode(word).decode()
    except UnicodeError:
        return word
