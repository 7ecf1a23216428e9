"""Tool calls, put together from the fragments of every dialect.

A call is handed on when the reply ends, whole: only then is it sure which fragments repeat, replace or go on with
what was there before.
"""

import json
import os
from collections.abc import Mapping

from hermes_core.types import JSON, CallDelta
from hermes_openai_wire.arguments import Arguments, reads
from hermes_provider_kit.surrogates import mend

__all__ = ["CallCollector"]


class _Call:
    __slots__ = ("arguments", "extra", "id", "last", "name", "whole")

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.arguments = Arguments()
        self.last = ""
        self.whole: JSON = None  # arguments that came as an object
        self.extra: JSON = None

    def text(self) -> str:
        return self.arguments.text()

    def complete(self) -> bool:
        return self.whole is not None or self.arguments.complete()


class CallCollector:
    """The tool calls of one reply. ``key`` is the provider's key in ``meta``."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._by_id: dict[str, _Call] = {}

    def __bool__(self) -> bool:
        return bool(self._calls)

    def add(self, fragments: JSON) -> None:
        """Take the ``tool_calls`` of one chunk or of a whole message."""
        if isinstance(fragments, dict):
            fragments = [fragments]
        if not isinstance(fragments, list):
            return
        for position, fragment in enumerate(fragments):
            if isinstance(fragment, dict):
                self._add_one(fragment, position)

    def add_legacy(self, function: JSON) -> None:
        """Take the ``function_call`` of the oldest dialect: one call, without an id."""
        if isinstance(function, dict):
            self._add_one({"index": 0, "function": function}, 0)

    def deltas(self) -> list[CallDelta]:
        """One CallDelta for each call, in the order they began; ids are made up where missing or used twice."""
        seen: set[str] = set()
        made: list[CallDelta] = []
        for call in self._calls:
            if not call.name and not call.text().strip() and call.whole is None:
                continue
            name_id = call.id if call.id and call.id not in seen else f"call_{os.urandom(9).hex()}"
            seen.add(name_id)
            meta = {self._key: {"extra_content": call.extra}} if call.extra is not None else {}
            made.append(CallDelta(index=len(made), id=name_id, name=call.name, arguments=_arguments(call), meta=meta))
        return made

    def _add_one(self, fragment: Mapping[str, JSON], position: int) -> None:
        function = fragment.get("function")
        if not isinstance(function, dict):
            function = fragment
        name = _word(function.get("name"))
        call = self._find(_index(fragment.get("index")), _word(fragment.get("id")), name, position)
        call.id = call.id or _word(fragment.get("id"))
        self._by_id.setdefault(call.id, call)
        _grow_name(call, name)
        _grow_arguments(call, function.get("arguments", function.get("parameters")))
        if (extra := fragment.get("extra_content")) is not None:
            call.extra = extra

    def _find(self, index: int | None, call_id: str, name: str, position: int) -> _Call:
        if index is not None:
            call = self._by_index.get(index)
            if call is None or _begins_anew(call, call_id, name):
                call = self._by_index[index] = self._new()
            return call
        last = self._calls[-1] if self._calls else None
        if call_id:
            known = self._by_id.get(call_id)
            if known is not None and (not name or not position or not known.complete()):
                return known
            return last if last is not None and not name else self._new()
        if last is None or (name and (position or name != last.name or last.complete())):
            return self._new()
        return last

    def _new(self) -> _Call:
        call = _Call()
        self._calls.append(call)
        return call


def _begins_anew(call: _Call, call_id: str, name: str) -> bool:
    # Several calls under one index differ in id and bring a name. Servers that make up a new id for every fragment
    # bring no name, or are in the middle of the arguments.
    if not (call_id and name and call.id and call_id != call.id):
        return False
    return not call.arguments.size or call.complete()


def _index(value: JSON) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    return value if isinstance(value, int) else None


def _word(value: JSON) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return mend(str(value).strip())


def _grow_name(call: _Call, name: str) -> None:
    if not name or call.name == name:
        return
    if name.startswith(call.name):  # the first piece, or a name that is sent again as it grows
        call.name = name
    elif not call.arguments.size and call.whole is None:
        call.name += name


def _grow_arguments(call: _Call, arguments: JSON) -> None:
    if isinstance(arguments, dict | list):
        call.whole = arguments
    elif isinstance(arguments, str) and arguments:
        if arguments == call.last and len(arguments) > 2 and call.complete():
            return  # the whole text once more
        if arguments != "{}" and call.arguments.size == 2 and call.text() == "{}":
            call.arguments = Arguments()  # an empty object as the first piece stands for "to come"
        call.arguments.add(arguments)
        call.last = arguments


def _arguments(call: _Call) -> str:
    if call.whole is not None:
        return mend(json.dumps(call.whole, ensure_ascii=False))
    text = call.text().strip()
    if not text or text == "null":
        return "{}"
    if not reads(text):
        half = text[: len(text) // 2]
        if len(text) % 2 == 0 and half * 2 == text and reads(half):
            text = half
        elif reads(call.last) and call.last.lstrip().startswith("{"):
            text = call.last  # pieces first, then the whole; or every piece holds all before it
    return mend(_unquoted(text))


def _unquoted(text: str) -> str:
    if text.startswith('"'):
        try:
            inner = json.loads(text)
        except (ValueError, RecursionError):
            return text
        if isinstance(inner, str) and inner.lstrip().startswith("{") and reads(inner):
            return inner
    return text
