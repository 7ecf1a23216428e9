"""Where a value begins and ends: in quotes of any kind, or up to what cannot be part of it."""

from hermes_tool_redaction.look import Where, is_secret_value
from hermes_tool_redaction.patterns import compiled as _re
from hermes_tool_redaction.patterns import text_of
from hermes_tool_redaction.places import line_end

__all__ = ["LONGEST", "MARK", "PLAIN", "between_quotes", "judged", "trimmed"]

LONGEST = 4096  # characters of one value
MARK = text_of("values.mark")
PLAIN = text_of("values.plain")


def between_quotes(text: str, place: int) -> tuple[int, int] | None:
    """Begin and end of what is in quotes at a place; quotes may be escaped, several times, or entities."""
    mark = _re(MARK).match(text, place)
    if mark is None:
        return None
    begin, sign = mark.end(), mark[0]
    if len(sign) == 1:
        if text.startswith(sign * 2, begin):  # three quotes
            begin += 2
        if text.startswith(sign, begin):
            return begin, begin
        body = _re(rf"(?:[^{sign}\\\n]|\\.){{0,{LONGEST}}}").match(text, begin)
        return begin, body.end()  # type: ignore[union-attr]
    line = line_end(text, begin, LONGEST)
    end = text.find(sign, begin, line)
    return begin, line if end == -1 else end


def trimmed(text: str, begin: int, end: int) -> int:
    """Without closing brackets that were not opened in the value, and without what only ends a sentence."""
    end -= text.endswith("):", begin, end)  # of a head of a function
    while end > begin and (c := text[end - 1]) in ")]}.\\":
        if c in ")]}" and text.count("([{"[")]}".index(c)], begin, end) >= text.count(c, begin, end):
            break
        end -= 1
    return end


def judged(text: str, begin: int, end: int, kind: str, where: Where) -> list[tuple[int, int, bool]]:
    """The span of a value, when it is a secret."""
    return [(begin, end, kind == "P")] if is_secret_value(text[begin:end], kind, where) else []
