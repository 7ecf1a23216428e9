"""Taint: what a conversation that holds text from outside may not do without a person.

A page, a mail or a file from elsewhere may hold orders, and a model may obey them. So once such text is in the context,
nothing that lasts, leaves the machine or runs on it is done on the model's word alone; no mode and no older grant lifts
that. The test for it is a model that obeys every order it reads.
"""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from hermes_autorun.autorun import runs_by_itself
from hermes_core.agent.policy.grants import Case
from hermes_core.agent.policy.risks import CROSSES, OWN_CODE, inside, writes_own_code
from hermes_core.patterns import pattern
from hermes_core.store.outside import by_person, outside
from hermes_core.types import JSON, Effect, Feature, Message, Text, ToolCall, ToolResult
from hermes_core.values import frozen

__all__ = ["Seen", "concern"]

# What an order from outside gains nothing by: looking, asking the person, handing it to a child, who is tainted too.
_FREE = frozenset({Effect.READ_FILES, Effect.RECALL, Effect.ASK, Effect.DELEGATE})
_CONCERNS = {
    Effect.REMEMBER: "keeps something for later conversations",
    Effect.SCHEDULE: "plans work for later",
    Effect.CONFIGURE: "changes settings, or writes what runs by itself later",
    Effect.SEND: "sends something out",
    Effect.EXECUTE: "runs a command on this machine",
}
_WHY = "and this conversation holds text from outside, which may have asked for it"
_ADDRESS = pattern(r"https?://[^\s<>\"'`\\^{|}]+", re.IGNORECASE)
_DOMAIN = pattern(r"(?<![\w@./-])(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}(?![\w-])", re.IGNORECASE)


@frozen(kw_only=True)
class Seen:
    """What a model has seen and done when it makes a call. ``messages`` is its context, oldest first."""

    messages: Sequence[Message] = ()

    @property
    def untrusted(self) -> bool:
        """Whether anything of it comes from outside."""
        return outside(self.messages)

    def hosts(self) -> set[str]:
        """Return the hosts it has: named by the person, or reached by a call that was allowed."""
        done = {p.call_id for m in self.messages for p in m.parts if isinstance(p, ToolResult) and not p.failed}
        found: set[str] = set()
        for message in self.messages:
            if by_person(message) and not message.untrusted:
                for part in message.parts:
                    if isinstance(part, Text) and not part.quotes:
                        found |= _hosts_of(part.text) | {m.lower() for m in _DOMAIN.findall(part.text)}
            for part in message.parts:
                if isinstance(part, Text):  # a page that the person had opened; not what is on it
                    found |= _hosts_of(part.quotes)
                if isinstance(part, ToolCall) and part.id in done:
                    found |= {host for text in _texts(part.arguments) for host in _hosts_of(text)}
        return found

    def was_given(self, address: str) -> bool:
        """Tell whether an address stood somewhere, whole, before the model wrote it: then it carries nothing new."""
        whole = re.compile(re.escape(address) + r"(?![\w%/?#&=+~-])")
        for message in self.messages:
            for part in message.parts:
                inside = part.parts if isinstance(part, ToolResult) else (part,)
                if isinstance(part, Text) and part.quotes and whole.search(part.text):
                    return True
                if any(isinstance(piece, Text) and whole.search(piece.text) for piece in inside):
                    # The person's words, or a page; not what the model wrote, made of a page or for a child.
                    return message.role == "tool" if message.untrusted else by_person(message)
                if isinstance(part, ToolCall) and any(address in text for text in _texts(part.arguments)):
                    return False
        return False


def concern(case: Case, seen: Seen, *, understood: bool) -> str:
    """Say why a call of a tainted conversation needs a person, or an empty string.

    A command that is ``understood`` is one that a gate knows and would let run: it writes in the session's folder only.
    """
    if case.wall is False:
        return f"{CROSSES}, {_WHY}"
    place, runs = case.workspace, Effect.EXECUTE in case.tool.effects
    bounded = {Effect.EXECUTE, Effect.WRITE_FILES} if understood else {Effect.EXECUTE}
    shut = bounded if case.wall or Feature.ISOLATED in place.features else set()
    if case.wall:  # it writes what nothing else obeys, and its way out leads to named hosts
        shut |= {Effect.NETWORK, Effect.CONFIGURE}
    if runs and Feature.OFFLINE in place.features:
        shut |= {Effect.NETWORK, Effect.SEND}
    for effect in sorted(case.effects - _FREE - shut, key=lambda e: (e is not Effect.EXECUTE, e.value)):  # worst first
        if effect is Effect.WRITE_FILES:
            why = "deletes for good" if case.wall else "changes files on this machine" if runs else _stray(case)
        elif effect is Effect.NETWORK:
            why = _leak(case, seen)
        else:
            why = _CONCERNS.get(effect, f"may {effect.value}")
        if why:
            return f"{why}, {_WHY}"
    return ""


def _stray(case: Case) -> str:
    """Say why a file must not be written on a page's word: outside of the folder, or where it runs by itself later."""
    if not case.places or not all(inside(place, case.workspace.cwd) for place in case.places):
        return "writes outside the session's folder"
    if writes_own_code(case):
        return OWN_CODE
    for place in case.places:
        path = case.path(place, case.workspace.cwd)
        if reason := runs_by_itself(path):
            return f"writes {place}, and {reason}"
        if os.path.isdir(path):  # noqa: PTH112 - anything in it, then
            return f"may write any file in {place}, also one that runs by itself"
    return ""


def _leak(case: Case, seen: Seen) -> str:
    """Say what may leave with an address that is opened."""
    hosts = [key[5:] for key in case.keys if key.startswith("host:")]
    if not hosts:
        return "opens an address"
    if new := sorted(set(hosts) - seen.hosts()):
        return f"opens {new[0]}, which you have not named"
    texts = _texts(case.call.arguments)
    made = [address for text in texts for address in _ADDRESS.findall(text) if not seen.was_given(address)]
    return f"opens an address on {hosts[0]} that the model made up itself" if made else ""


def _texts(value: JSON | Mapping[str, Any]) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, Sequence):
        for item in value:
            yield from _texts(item)


def _hosts_of(text: str) -> set[str]:
    found = set()
    for address in _ADDRESS.findall(text):
        with suppress(ValueError):
            found.add((urlsplit(address).hostname or "").lower())
    return found - {""}
