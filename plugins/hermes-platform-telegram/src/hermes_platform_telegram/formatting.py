"""From the markdown that models write to text with entities, as Telegram shows it.

Every character of the text is kept: raw HTML and what Telegram has no form for is shown as it was written. Tables are
set in columns, headings in bold, list items get their marks.
"""

from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from hermes_platform_telegram.entities import Entity, Formatted, clean, lawful, units

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

__all__ = ["formatted"]

_STYLES = {"strong": "bold", "em": "italic", "s": "strikethrough"}
_LINK = 2048  # characters of an address that is made a link


def formatted(markdown: str, *, limit: int) -> Formatted:
    """The text and entities for a markdown text.

    It is never longer than the text as written where that matters: what fits into ``limit`` units still does.
    """
    source = clean(markdown)
    page = _Page()
    page.blocks(_tree(source))
    found = page.finished()
    if not found.text.strip() or units(found.text) > limit >= units(source):
        return Formatted(source)
    return found


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": 20})
    return parser.enable(["table", "strikethrough"]).disable(["entity", "html_block", "html_inline"])


def _tree(source: str) -> "SyntaxTreeNode":
    from markdown_it.tree import SyntaxTreeNode

    return SyntaxTreeNode(_parser().parse(source))


class _Page:
    """What has been written so far, and its formatting."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self._entities: list[Entity] = []
        self._margin = ""  # what the lines of a list item begin with

    def finished(self) -> Formatted:
        text = "".join(self._pieces).rstrip()
        length = units(text)
        inside = [Entity(e.kind, e.start, min(e.end, length), e.more) for e in self._entities if e.start < length]
        return lawful(text, inside)

    def blocks(self, parent: "SyntaxTreeNode", *, tight: bool = False) -> None:
        for number, node in enumerate(parent.children):
            if number:
                self._write(("\n" if tight else "\n\n") + self._margin)
            self._block(node)

    def _write(self, text: str) -> None:
        self._pieces.append(text)
        self._length += units(text)

    def _mark(self, kind: str, start: int, more: str = "") -> None:
        if self._length > start:
            self._entities.append(Entity(kind, start, self._length, more))

    def _block(self, node: "SyntaxTreeNode") -> None:
        start = self._length
        match node.type:
            case "heading":
                self._inline(node)
                self._mark("bold", start)
            case "fence" | "code_block":
                self._write(node.content.rstrip("\n"))
                self._mark("pre", start, _language(node.info))
            case "blockquote":
                margin, self._margin = self._margin, ""
                self.blocks(node)
                self._margin = margin
                self._mark("blockquote", start)
            case "bullet_list" | "ordered_list":
                self._list(node)
            case "table":
                self._write(_columns(node))
                self._mark("pre", start)
            case "hr":
                self._write("———")
            case _:
                self._inline(node)

    def _list(self, node: "SyntaxTreeNode") -> None:
        first = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else 0
        tight = all(part.hidden for item in node.children for part in item.children if part.type == "paragraph")
        margin = self._margin
        for number, item in enumerate(node.children):
            if number:
                self._write(("\n" if tight else "\n\n") + margin)
            self._write(f"{first + number}{item.markup} " if node.type == "ordered_list" else "• ")
            self._margin = margin + "  "
            self.blocks(item, tight=tight)
            self._margin = margin

    def _inline(self, node: "SyntaxTreeNode") -> None:
        for child in node.children:
            self._span(child)

    def _span(self, node: "SyntaxTreeNode") -> None:
        start = self._length
        match node.type:
            case "softbreak" | "hardbreak":
                self._write("\n" + self._margin)
            case "code_inline":
                self._write(node.content)
                self._mark("code", start)
            case "strong" | "em" | "s":
                self._inline(node)
                self._mark(_STYLES[node.type], start)
            case "link":
                before = len(self._pieces)
                self._inline(node)
                self._linked(start, "".join(self._pieces[before:]), str(node.attrs.get("href", "")))
            case "image":
                self._write(node.content or "image")
                self._linked(start, node.content or "image", str(node.attrs.get("src", "")))
            case _ if node.children:
                self._inline(node)
            case _:
                self._write(node.content)

    def _linked(self, start: int, label: str, address: str) -> None:
        """Link the label, which begins at ``start``; or write the address beside it when Telegram would not take it."""
        if not label.strip():
            self._write(address)
        elif label in (address, address.removeprefix("mailto:")):
            return  # Telegram finds it by itself
        elif _linkable(address):
            self._mark("text_link", start, address)
        elif address:
            self._write(f" ({address})")


def _linkable(address: str) -> bool:
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
        usable = parts.scheme in ("http", "https") and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
    proper = "." in host.strip(".") and all(c.isalnum() or c in "-._" for c in host)
    return usable and proper and parts.username is None and len(address) <= _LINK and address.isascii()


def _language(info: str) -> str:
    word = next(iter(info.split()), "")
    return word if len(word) <= 32 and all(c.isalnum() or c in "+-_#." for c in word) and word.isascii() else ""


def _columns(table: "SyntaxTreeNode") -> str:
    rows = [[_plain(cell) for cell in row.children] for part in table.children for row in part.children]
    width = [max(len(row[n]) for row in rows if n < len(row)) for n in range(max(map(len, rows)))]
    lines = ["  ".join(text.ljust(width[n]) for n, text in enumerate(row)).rstrip() for row in rows]
    lines.insert(1, "  ".join("─" * w for w in width))
    return "\n".join(lines)


def _plain(node: "SyntaxTreeNode") -> str:
    if node.children:
        return "".join(map(_plain, node.children))
    return " " if node.type in ("softbreak", "hardbreak") else node.content
