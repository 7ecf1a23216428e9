"""What stands within a paragraph, as lines of text with looks."""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from hermes_core.patterns import pattern
from hermes_platform_tui.markdown.clean import clean
from hermes_platform_tui.markdown.maths import to_unicode
from hermes_platform_tui.markdown.rows import PLAIN, Line, Look

if TYPE_CHECKING:  # sixty modules: they are imported with the first text
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

__all__ = ["Link", "lines_of", "linked", "parse", "parser", "too_deep"]

DEEPEST = 60  # containers in each other; what is deeper is shown as it was written
Link = tuple[str, str]  # text, address

_ADDRESS = pattern(r"https?://[^\s<>\"'`|\\^{}\[\]]+")
_SAFE = pattern(r"https?://[!-~]{1,2000}\Z", re.IGNORECASE)
_MONEY = pattern(r"[0-9A-Za-z_]")
_FORMULA = pattern(r"[\\^_{}=+]")
_WORD = pattern(r"[A-Za-z]{2,}")
_CLOSERS = {"(": ")", "[": "]"}
_BREAK = pattern(r"<br\s*/?>", re.IGNORECASE)


def _dollars(state: "StateInline", silent: bool) -> bool:
    r"""Inline rule: ``$…$``, ``$$…$$``, ``\(…\)`` and ``\[…\]``; ``$5 and $6`` is not maths."""
    source, start = state.src, state.pos
    sign = source[start]
    if sign == "$":
        span = _dollar_span(source, start, state.posMax)
    elif sign == "\\" and source[start + 1 : start + 2] in ("(", "["):
        end = source.find("\\" + _CLOSERS[source[start + 1]], start + 2, state.posMax)
        # An escaped bracket of a link or a list of one's own is not maths: it has an end in the same place as a link.
        span = None if end < 0 or (source[start + 1] == "[" and source[end + 2 : end + 3] == "(") else (start + 2, end)
    else:
        return False
    if span is None:
        return False
    first, last = span
    if not silent:
        token = state.push("maths", "", 0)
        token.content = source[first:last]
        token.markup = source[start:first]
    state.pos = last + first - start
    return True


def _dollar_span(source: str, start: int, limit: int) -> tuple[int, int] | None:
    if source.startswith("$$", start):
        end = source.find("$$", start + 2, limit)
        return (start + 2, end) if end > start + 2 else None
    if start and _MONEY.match(source[start - 1]):
        return None
    if start + 1 >= limit or source[start + 1].isspace():
        return None
    end = source.find("$", start + 1, min(limit, start + 400))
    while end > 0 and source[end - 1] == "\\":
        end = source.find("$", end + 1, min(limit, start + 400))
    if end <= start + 1 or source[end - 1].isspace() or "\n" in source[start:end]:
        return None
    return (start + 1, end) if _is_maths(source[start + 1 : end], source[end + 1 : end + 2]) else None


def _is_maths(inside: str, after: str) -> bool:
    """Whether what stands between two dollar signs is a formula, and not prices or names of variables."""
    if after.isdigit() or (after and _MONEY.match(after) and len(inside) > 1 and not _FORMULA.search(inside)):
        return False
    return not (inside[0].isdigit() and _WORD.search(inside) and "\\" not in inside)


@cache
def parser(*, links: bool = True) -> "MarkdownIt":
    """What reads the text of a block. The first call imports it, which takes longer than a key may wait."""
    from markdown_it import MarkdownIt

    made = MarkdownIt("commonmark", {"html": False, "maxNesting": DEEPEST + 4})
    made.enable(["table", "strikethrough"])
    made.disable("reference")  # definitions may stand anywhere, and footnotes are no definitions
    made.inline.ruler.before("escape", "maths", _dollars)
    return made if links else made.disable(["link", "image"])


_BRACKETS = 80


def parse(text: str, references: dict[str, Any]) -> "list[Token]":
    """The tokens of one block."""
    # For each bracket that opens nothing the parser looks through all the rest.
    reader = parser() if text.count("[") - text.count("](") <= _BRACKETS else parser(links=False)
    return reader.parse(text, {"references": references})


def too_deep(tokens: "Sequence[Token]") -> bool:
    """Whether the parser gave up on containers in containers, and lost what was in them."""
    return any(token.level >= DEEPEST for token in tokens)


@lru_cache(maxsize=512)
def _shown(text: str) -> str:
    # Entities and percent signs can spell what was not in the source when it was cleaned.
    return clean(text).replace("\n", " ")


def linked(address: str) -> str:
    """The address if a terminal may be told to open it, else nothing."""
    return address if _SAFE.match(address) else ""


class _Writer:
    """Writes tokens as lines."""

    def __init__(self, look: Look) -> None:
        self.lines = [Line()]
        self.links: list[Link] = []
        self._looks = [look]
        self._opened: list[tuple[str, int, int]] = []  # address, line and length at which a link began

    @property
    def look(self) -> Look:
        return self._looks[-1]

    def write(self, text: str, look: Look | None = None) -> None:
        self.lines[-1].add(_shown(text), look or self.look)

    def text(self, text: str) -> None:
        """Text in which addresses lead where they say."""
        text = _shown(text)
        if self._opened or "://" not in text:
            self.write(text)
            return
        place = 0
        for found in _ADDRESS.finditer(text):
            address = _trimmed(found[0])
            self.write(text[place : found.start()])
            self.write(address, Look((*self.look.roles, "link"), linked(address)))
            self.links.append((address, address))
            place = found.start() + len(address)
        self.write(text[place:])

    def open(self, role: str) -> None:
        self._looks.append(self.look.also(role))

    def close(self) -> None:
        if len(self._looks) > 1:
            self._looks.pop()

    def open_link(self, address: str) -> None:
        self._looks.append(Look((*self.look.roles, "link"), linked(address)))
        self._opened.append((address, len(self.lines) - 1, len(self.lines[-1].text)))

    def close_link(self) -> None:
        if not self._opened:
            return
        address, line, start = self._opened.pop()
        self.close()
        said = self.lines[line].text[start:]
        said = " ".join([said, *(each.text for each in self.lines[line + 1 :])]).strip()
        self.links.append((said, address))
        if _bare(said) != _bare(address):
            self.write(f" ({address})", Look((*self.look.roles, "address"), linked(address)))

    def image(self, alt: str, address: str) -> None:
        self.write(f"[image: {alt}]" if alt else "[image]", self.look.also("image"))
        self.write(f"({address})", Look((*self.look.roles, "address"), linked(address)))
        self.links.append((alt, address))


def _bare(address: str) -> str:
    for scheme in ("https://", "http://", "mailto:"):
        address = address.removeprefix(scheme)
    return address.rstrip("/")


def _trimmed(address: str) -> str:
    """The address without the sentence that it stands in."""
    while address and (
        address[-1] in ".,;:!?*_~'\"" or (address[-1] == ")" and address.count(")") > address.count("("))
    ):
        address = address[:-1]
    return address


_OPENERS = {"strong_open": "strong", "em_open": "em", "s_open": "strike"}


def lines_of(
    tokens: "Sequence[Token] | None", look: Look = PLAIN, *, breaks_as_html: bool = False
) -> tuple[list[Line], list[Link]]:
    """The lines that inline tokens say, and the links in them."""
    writer = _Writer(look)
    for token in tokens or ():
        kind = token.type
        if kind == "text":
            _write_text(writer, token.content, breaks_as_html)
        elif kind in _OPENERS:
            writer.open(_OPENERS[kind])
        elif kind in ("softbreak", "hardbreak"):
            writer.lines.append(Line())
        elif kind == "link_open":
            writer.open_link(_shown(str(token.attrs.get("href", ""))))
        elif kind == "link_close":
            writer.close_link()
        elif kind in ("strong_close", "em_close", "s_close"):
            writer.close()
        else:
            _write_other(writer, token)
    return writer.lines, writer.links


def _write_text(writer: _Writer, text: str, breaks_as_html: bool) -> None:
    parts = _BREAK.split(text) if breaks_as_html and "<" in text else [text]
    for place, part in enumerate(parts):
        if place:
            writer.lines.append(Line())
        writer.text(part)


def _write_other(writer: _Writer, token: "Token") -> None:
    if token.type == "code_inline":
        writer.write(token.content, writer.look.also("code"))
    elif token.type == "image":
        writer.image(_shown(token.content), _shown(str(token.attrs.get("src", ""))))
    elif token.type == "maths":
        shown = to_unicode(token.content).split("\n")
        for place, part in enumerate(shown):
            if place:
                writer.lines.append(Line())
            writer.write(part, writer.look.also("maths"))
    elif token.content:
        writer.write(token.content)
