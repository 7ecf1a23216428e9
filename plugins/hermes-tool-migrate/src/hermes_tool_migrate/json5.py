"""JSON as people write it by hand (JSON5): comments, names and texts in any quotes, a comma too many."""

import json
import re
from typing import Any

from hermes_core.patterns import pattern

__all__ = ["loads"]

_PIECE = pattern(
    r"""//[^\n]*|/\*.*?\*/|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[A-Za-z_$][\w$]*|[-+]?[0-9.][\w.+-]*|[{}\[\],:]|\s+|.""",
    re.DOTALL,
)
_WORDS = ("true", "false", "null")


def loads(text: str) -> Any:
    """Return what the text says. Raises ValueError."""
    made: list[str] = []
    for match in _PIECE.finditer(text.removeprefix("\ufeff")):
        piece = match[0]
        if piece.isspace() or piece.startswith(("//", "/*")):
            continue
        if piece in "}]" and made and made[-1] == ",":
            made.pop()
        made.append(_as_json(piece))
    return json.loads(" ".join(made))


def _as_json(piece: str) -> str:
    if piece[0] in "\"'":
        inner = piece[1:-1].replace("\\\n", "").replace("\\'", "'")
        return '"' + re.sub(r'(?<!\\)((?:\\\\)*)"', r"\1\\" + '"', inner) + '"' if piece[0] == "'" else f'"{inner}"'
    if piece[0].isalpha() or piece[0] in "_$":
        return piece if piece in _WORDS else json.dumps(piece)
    sign, digits = ("-", piece[1:]) if piece[0] == "-" else ("", piece.removeprefix("+"))
    return sign + re.sub(r"^\.", "0.", re.sub(r"\.$", "", digits)) if digits else piece
