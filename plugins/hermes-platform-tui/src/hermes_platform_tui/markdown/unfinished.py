"""The end of a text that is still being written, shown as what it is about to be."""

import re

from hermes_core.patterns import pattern

__all__ = ["ambiguous", "healed"]

_SPAN = pattern(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
_ADDRESS = pattern(r"\]\([^()\s<>]+\Z")
_MARKERS = pattern(r"[ \t>]*(?:[-=*_+#|~:]{1,3}|`{1,2}|\d{1,3}[.)]?|[-*+] \[?|\[)[ \t]*\Z")


def ambiguous(line: str) -> bool:
    """Whether a line without an end may become anything: a list, a rule, a heading of the line before."""
    return _MARKERS.match(line) is not None


def healed(text: str) -> str:
    """The text with what is open at its end closed: code, bold words, the address of a link."""
    last = text.rpartition("\n\n")[2]
    if "```" in last or "~~~" in last or text.endswith((" ", "\n", "`", "**")):
        return text
    if _ADDRESS.search(last):
        return text + ")"
    plain = _SPAN.sub("", last)
    if "`" in plain:
        return text + "`" if plain.count("`") == 1 else text
    if plain.count("**") % 2:
        return text + ("*" if text.endswith("*") else "**")
    return text
