"""Passwords and keys behind words that are not in Latin letters, which particles join to what they say, or nothing."""

from hermes_tool_redaction.look import Where, is_secret_value
from hermes_tool_redaction.patterns import compiled as _re
from hermes_tool_redaction.patterns import words
from hermes_tool_redaction.values import trimmed

__all__ = ["foreign"]

_GAP = (
    r"(?:[ ]?키)?(?:은요|는요|은|는|이|가|を|は|が)?(?:[ ]?[（(][^()（）\n]{1,20}[)）])?[ \t]*"
    r"(?P<sign>[:：=＝→|]|->|は|是|为|為)?[ \t]*(?P<quote>[\"'`「『“‘«])?(?P<value>[!-~]{4,200})"
)


def foreign(text: str, begin: int, end: int) -> list[tuple[int, int, bool]]:
    """The value behind a word of ``foreign`` or ``foreign_keys``."""
    match = _re(_GAP).match(text, end)
    if match is None:
        return []
    first, last = match.span("value")
    if match["quote"]:
        closing = text.find(match["quote"], first, last)  # of signs that are alike on both sides
        last = closing if closing > first else last
    else:
        last = trimmed(text, first, first + len(text[first:last].rstrip(".,;\"'`")))
    value = text[first:last]
    if text[begin:end].lower() in words("foreign_keys"):
        where = Where(quoted=bool(match["quote"]))
        return [(first, last, False)] if match["sign"] and is_secret_value(value, "S", where) else []
    # without a quote or a sign it is a sentence, in which the next word may be any; so it may in a table
    where = Where(quoted=bool(match["quote"]), prose=not (match["quote"] or match["sign"] not in (None, "|")))
    if where.prose and not _re(r"(?=.*\d)(?=.*[A-Za-z]).{6,}").fullmatch(value):
        return []
    return [(first, last, True)] if is_secret_value(value, "P", where) else []
