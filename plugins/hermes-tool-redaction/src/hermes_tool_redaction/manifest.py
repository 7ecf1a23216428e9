"""Secrets in the manifests of Kubernetes, whose values are encoded and whose names may be anything.

The fields are those of the kind ``Secret``: https://kubernetes.io/docs/concepts/configuration/secret/
"""

import base64

from hermes_tool_redaction.look import Where, drawn_by_lot, is_secret_value
from hermes_tool_redaction.patterns import compiled as _re

__all__ = ["Manifest", "in_one_line"]

Span = tuple[int, int, bool]
_FAR = 60  # lines outside of data after which a manifest counts as over
_FIELD = r"([ \t]*(?:-[ ]+)?)[\"']?([\w./-]{1,253})[\"']?[ \t]*:[ \t]*([\"']?)([^\"'\n]*?)\3[ \t]*,?[ \t]*\r?$"
_ENCODED = r"[A-Za-z0-9+/]{4,}={0,2}"


class Manifest:
    """One manifest, line by line, from the line with its ``apiVersion`` on."""

    def __init__(self, before: str) -> None:
        """``before`` is what stands right before that line, as the kind may."""
        kind = _re(r"[\"']?kind[\"']?:[ ]*[\"']?(\w+)[\"']?,?\s*$").search(before[-80:])
        self._kind = kind[1] if kind else ""
        self._data: tuple[int, str] | None = None  # the indent and the name of the block we are in
        self._left = _FAR

    def line(self, text: str, begin: int, end: int) -> tuple[list[Span], bool]:
        """What is secret of the next line; whether the manifest goes on after it."""
        field = _re(_FIELD).match(text[begin:end])
        indent = len(field[1]) if field else len(text[begin:end]) - len(text[begin:end].lstrip())
        if text.startswith(("---", "..."), begin) or (field and field[2] == "apiVersion"):
            return [], False
        if not text[begin:end].strip():
            return [], True
        if self._data and indent > self._data[0]:
            return self._value(text, begin, end), True
        self._data, self._left = None, self._left - 1
        if field and field[2] == "kind":
            self._kind = field[4].partition(" #")[0].strip()
        elif field and field[2] in ("data", "stringData") and field[4] in ("", "{") and self._kind in ("", "Secret"):
            self._data = indent, field[2]
        elif field and field[2] in ("data", "stringData") and field[4][:1] == "{" and self._kind == "Secret":
            values = _re(r":[ ]*[\"']?([^\s\"',{}]{4,})").finditer(text, begin + field.start(4), begin + field.end(4))
            return [(*value.span(1), True) for value in values], self._left > 0
        return [], self._left > 0

    def _value(self, text: str, begin: int, end: int) -> list[Span]:
        found = _re(_FIELD).match(text[begin:end])
        first, last = (begin + found.start(4), begin + found.end(4)) if found else (begin, end)
        first, last = last - len(text[first:last].lstrip()), first + len(text[first:last].rstrip())
        value = text[first:last]
        if self._data and self._data[1] == "stringData":
            good = bool(found) and is_secret_value(value, "P", Where(quoted=True))
        else:
            good = _is_encoded(value, surely=self._kind == "Secret")
        return [(first, last, True)] if good else []


def _is_encoded(value: str, *, surely: bool) -> bool:
    if len(value) % 4 or not _re(_ENCODED).fullmatch(value):
        return False
    if surely or (len(value) >= 16 and drawn_by_lot(value)):
        return True
    try:
        return base64.b64decode(value).decode().isprintable()
    except ValueError:
        return False


def in_one_line(text: str, begin: int, end: int) -> list[Span]:
    """The values of a Secret that stands on one line, as JSON."""
    if not _re(r"\"kind\\*\"[ ]*:[ ]*\\*\"Secret\\*\"").search(text, begin, end):
        return []
    spans = []
    for block in _re(r"\"(?:data|stringData)\\*\"[ ]*:[ ]*\{([^{}]*)\}").finditer(text, begin, end):
        values = _re(r":[ ]*\\*\"([^\"\\]{4,})\\*\"").finditer(text, *block.span(1))
        spans += [(*value.span(1), True) for value in values]
    return spans
