"""A text with a variable a line: its values, and the same text with one of them changed."""

import re

__all__ = ["changed", "values"]

# Patterns are compiled when first used: most starts need none of them.
_LINE = r"""(?msx)^[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*
(?:"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>(?:[^'\\]|\\.)*)'|(?P<bare>[^\r\n]*?))
[ \t]*(?:(?:^|(?<=[ \t"']))\#[^\r\n]*)?\r?(?:\n|\Z)"""
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
_ESCAPED = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r", "\t": r"\t"})


def values(text: str) -> dict[str, str]:
    """Return what the variables hold, the last of a name; what is no variable is passed over."""
    return {match["name"]: _value(match) for match in re.finditer(_LINE, text)}


def changed(text: str, name: str, value: str | None) -> str:
    """Return the text with a variable changed in its place, or added at the end; None takes it out.

    Other lines and comments stay as they are; of a name that stands there several times one line is left.
    """
    lines = iter(() if value is None else (f"{name}={_quoted(value)}\n",))
    text = re.sub(_LINE, lambda match: next(lines, "") if match["name"] == name else match[0], text)
    end = next(lines, "")
    return text + ("\n" + end if end and text and not text.endswith("\n") else end)


def _value(match: re.Match[str]) -> str:
    if match["double"] is not None:
        return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), match["double"], flags=re.DOTALL)
    if match["single"] is not None:
        return re.sub(r"\\([\\'])", r"\1", match["single"])
    return match["bare"]


def _quoted(value: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9_./:@%+=,~-]*", value):
        return value
    return '"' + value.translate(_ESCAPED) + '"'
