r"""LaTeX as one can read it in a terminal: ``\frac{a}{b}`` is a/b, ``x^2`` is x². What is not known stays."""

import re
from functools import lru_cache

from hermes_core.patterns import pattern
from hermes_platform_tui.markdown.symbols import ACCENTS, SUBSCRIPTS, SUPERSCRIPTS, alphabet, symbol

__all__ = ["to_unicode"]

_TOKEN = pattern(r"\\begin\s*\{[a-zA-Z]+\*?\}|\\end\s*\{[a-zA-Z]+\*?\}|\\[a-zA-Z]+\*?|\\.|\s+|.", re.DOTALL)
_LONGEST = 4000
_DEEPEST = 40
_GROUP = pattern(r"\([^()]*\)")
_SIMPLE = pattern(r"[^\s+\-−=<>≤≥/,]*\Z")
_ATOM = pattern(r"[√∛∜]?(?:[\d.]+|\w)[⁰-₟²³¹ᵢ-ᵪⱼ]*\Z")
_WRAPPER_NAMES = """
text textrm textbf textit texttt textsf mathrm mathbf mathit mathsf mathtt operatorname boldsymbol bm mbox pmb emph
boxed phantom mathop
"""
_WRAPPERS = frozenset(_WRAPPER_NAMES.split())
_MATRICES = {
    "pmatrix": ("(", ")"),
    "bmatrix": ("[", "]"),
    "Bmatrix": ("{", "}"),
    "vmatrix": ("|", "|"),
    "Vmatrix": ("‖", "‖"),
    "cases": ("{ ", ""),
}
_HALVES = {("1", "2"): "½", ("1", "3"): "⅓", ("2", "3"): "⅔", ("1", "4"): "¼", ("3", "4"): "¾"}


@lru_cache(maxsize=512)
def to_unicode(source: str) -> str:
    """The formula as text, perhaps of several lines."""
    source = source.strip()
    if len(source) > _LONGEST:
        return source
    reader = _Reader(_TOKEN.findall(source))
    lines = (" ".join(line.split()) for line in reader.read(0).split("\n"))
    return "\n".join(line for line in lines if line)


class _Reader:
    """Reads pieces from left to right. Never fails: what has no sense is kept as it is."""

    def __init__(self, pieces: list[str]) -> None:
        self._pieces = pieces
        self._place = 0

    def read(self, depth: int, until: str = "") -> str:
        """Everything up to a piece, which is skipped."""
        done = ""
        while (piece := self._next()) is not None:
            if piece == until or (until == "\\end" and piece.startswith("\\end")):
                return done
            done = self._append(done, piece, depth)
        return done

    def _next(self) -> str | None:
        if self._place >= len(self._pieces):
            return None
        self._place += 1
        return self._pieces[self._place - 1]

    def _peek(self) -> str:
        return self._pieces[self._place] if self._place < len(self._pieces) else ""

    def _append(self, done: str, piece: str, depth: int) -> str:
        if piece in ("^", "_"):
            return done + _script(self._argument(depth), raised=piece == "^")
        shown = self._one(piece, depth)
        spaced = shown and done and piece.startswith("\\") and shown.isalpha() and len(shown) > 1
        return done + (" " if spaced and done[-1].isalnum() else "") + shown

    def _one(self, piece: str, depth: int) -> str:
        """What one piece says, with the arguments that it takes."""
        if depth > _DEEPEST:
            return piece
        if piece == "{":
            return self.read(depth + 1, "}")
        if piece == "}":
            return ""
        if piece.isspace() or piece == "~":
            return " "
        if piece == "&":
            return " "
        if piece in ("\\\\", "\\cr"):
            return "\n"
        if piece.startswith("\\begin"):
            return self._environment(piece, depth)
        if piece.startswith("\\end"):
            return ""
        return self._command(piece[1:], depth) if piece.startswith("\\") and len(piece) > 1 else piece

    def _command(self, name: str, depth: int) -> str:
        if name in ("frac", "dfrac", "tfrac", "cfrac", "sfrac"):
            return _fraction(self._argument(depth), self._argument(depth))
        if name in ("binom", "dbinom", "tbinom"):
            return f"C({self._argument(depth)}, {self._argument(depth)})"
        if name == "sqrt":
            return self._root(depth)
        if name in _WRAPPERS:
            return self._words(depth)
        if name in ACCENTS:
            inside = self._argument(depth)
            return "".join(letter + ACCENTS[name] for letter in inside) if len(inside) < 24 else inside
        if name in ("left", "right") and self._peek() == ".":
            self._next()
            return ""
        if name in ("overset", "underset", "stackrel"):
            mark, base = self._argument(depth), self._argument(depth)
            return base + _script(mark, raised=name != "underset")
        shown = symbol(name.rstrip("*"))
        if shown is not None:
            return (
                f"{shown} " if shown.isalpha() and shown == name and self._peek() not in ("(", "_", "^", "{") else shown
            )
        return self._lettered(name, depth)

    def _lettered(self, name: str, depth: int) -> str:
        if alphabet(name, "") is not None:
            return alphabet(name, self._argument(depth)) or ""
        kept = f"\\{name}"
        while self._peek() == "{":
            self._next()
            kept += "{" + self.read(depth + 1, "}") + "}"
        return kept

    def _words(self, depth: int) -> str:
        r"""The argument of ``\text`` and its like; spaces count."""
        if self._peek() == "{":
            self._next()
            return self.read(depth + 1, "}")
        return self._argument(depth)

    def _argument(self, depth: int) -> str:
        piece = self._next()
        while piece is not None and piece.isspace():
            piece = self._next()
        if piece is None:
            return ""
        if piece == "}":
            self._place -= 1
            return ""
        return self._one(piece, depth + 1).strip()

    def _root(self, depth: int) -> str:
        index = ""
        if self._peek() == "[":
            self._next()
            index = self.read(depth + 1, "]").strip()
        inside = self._argument(depth)
        sign = {"": "√", "3": "∛", "4": "∜"}.get(index) or _script(index, raised=True) + "√"
        return sign + (inside if _SIMPLE.match(inside) and len(inside) < 4 else f"({inside})")

    def _environment(self, piece: str, depth: int) -> str:
        name = piece[piece.index("{") + 1 : -1].rstrip("*")
        if name == "array" and self._peek() == "{":
            self._next()
            self.read(depth + 1, "}")
        inside = self.read(depth + 1, "\\end")
        if name not in _MATRICES:
            return f"\n{inside}\n" if "\n" in inside else inside
        rows = [" ".join(row.split()) for row in inside.split("\n") if row.strip()]
        left, right = _MATRICES[name]
        return left + "; ".join(rows) + right


def _script(text: str, *, raised: bool) -> str:
    table = SUPERSCRIPTS if raised else SUBSCRIPTS
    if raised and text in ("∘", "°"):
        return "°"
    if text and all(letter in table for letter in text):
        return "".join(table[letter] for letter in text)
    sign = "^" if raised else "_"
    return sign + (text if len(text) == 1 else f"({text})")


def _fraction(above: str, below: str) -> str:
    if (above, below) in _HALVES:
        return _HALVES[above, below]
    above = above if _SIMPLE.match(_GROUP.sub("", above)) else f"({above})"
    return f"{above}/{below}" if _ATOM.match(below) else f"{above}/({below})"
