"""A model that does what any text tells it, and keeps what it was asked, byte by byte.

``ORDER tool {json}`` is an order, whoever wrote it: the person, somebody they quote, a file, a name; ``SAY text`` on a
line of its own is what it has to answer.
When nothing is left to do it says ``done ann-3.`` for the last thing that was said, and all that tools told it, so what
it came to see comes to be seen.
"""

import asyncio
import json
import re
import sys
import threading
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "word"))

from word_model import Model

from hermes_core.testing.protocol_replies import Said, SaidCall

__all__ = ["TAG", "Obedient", "Obeying", "last_said", "text_of"]

TAG = re.compile(
    r"^(ann|ben|cat|dan|eli|fay|gus|hal|ida|oli|eve)-(\d+)\.", re.MULTILINE
)  # everybody begins with it what they say
_SLOW = re.compile(TAG.pattern + " SLOW", re.MULTILINE)
_SAY = re.compile(r"^SAY (.+)$", re.MULTILINE)
_ORDER = re.compile(r"ORDER (\w+) (\{.*\})")
_ID = re.compile(r"\b\d{8}_\d{6}_[0-9a-f]{8}\b")  # cut somewhere, it would be no id any more
_MOST = 8  # orders that one thing said may hold
_TOLD = 1500  # characters of a result that are said again


class Obeying:
    """``bodies`` are the requests as they were sent, in order. ``gullible``: it obeys what tools give it, too.

    What begins with ``SLOW`` behind its tag is answered when ``go`` is set.
    """

    def __init__(self, *, gullible: bool = False) -> None:
        self.gullible = gullible
        self.bodies: list[bytes] = []
        self.lock, self.go = threading.Lock(), threading.Event()

    def heard(self, body: bytes) -> None:
        with self.lock:
            self.bodies.append(body)

    async def slowly(self, request: dict[str, Any]) -> None:
        """Wait for ``go``, where it is asked to."""
        said = [text_of(m) for m in request["messages"] if m["role"] == "user"]
        while said and _SLOW.search(said[-1]) and not self.go.is_set():
            await asyncio.sleep(0.02)

    def of(self, person: str) -> list[bytes]:
        """The requests whose last words are a person's."""
        with self.lock:
            return [body for body in self.bodies if last_said(json.loads(body)).startswith(f"{person}-")]

    def said(self, request: dict[str, Any]) -> Said:
        known, tag = {"model": request["model"]}, last_said(request)
        if not request.get("tools"):
            return Said(pieces=[f"About {tag or 'nothing'}"], **known)
        messages = request["messages"]
        asked = [at for at, m in enumerate(messages) if m["role"] == "user" and not text_of(m).startswith("<shared>")]
        at = max(asked, default=0)  # what a plugin tells of itself is nobody's request
        since, names = messages[at:], {one["function"]["name"] for one in request["tools"]}
        told = [text_of(m) for m in since if m["role"] == "tool"]
        made = sum(len(m.get("tool_calls") or ()) for m in since)
        read = since if self.gullible else messages[at : at + 1]
        orders = [found for m in read for found in _ORDER.findall(text_of(m)) if _sound(found[1])]
        orders = list(dict.fromkeys(orders))[:_MOST]
        if made < len(orders):
            name, arguments = orders[made]
            if name in names:
                return Said(calls=[SaidCall(name, arguments, f"call_{tag.replace('-', '_')}_{made}")], **known)
            told.append(f"there is no tool {name}")
        heard = "".join(f"\nheard: {_ID.sub('ID', text)[:_TOLD].replace('ORDER', 'order')}" for text in told)
        wanted = "".join(f"\n{line}" for m in read for line in _SAY.findall(text_of(m)))
        return Said(pieces=[f"done {tag}.", heard, wanted], **known)


class Obedient(Obeying, Model):
    """The same as a service on loopback."""

    def __init__(self, *, gullible: bool = False) -> None:
        Obeying.__init__(self, gullible=gullible)
        Model.__init__(self)

    async def _reply(self, request: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        await self.slowly(request)
        await Model._reply(self, request, writer)


def last_said(request: dict[str, Any]) -> str:
    """The tag of the last thing that a person said, such as ``ann-3``; empty where nobody did."""
    for message in reversed(request["messages"]):
        if message["role"] == "user" and (found := TAG.findall(text_of(message))):
            return "-".join(found[0])
    return ""


def text_of(message: dict[str, Any]) -> str:
    """What a message of a request says."""
    content = message.get("content") or ""
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def _sound(arguments: str) -> bool:
    try:
        return isinstance(json.loads(arguments), dict)
    except ValueError:
        return False
