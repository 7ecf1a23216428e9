"""Blocks of markdown as rows for one width."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from attrs import field

from hermes_core.values import define
from hermes_platform_tui.markdown.code import code_rows
from hermes_platform_tui.markdown.inline import Link, lines_of, parse, too_deep
from hermes_platform_tui.markdown.maths import to_unicode
from hermes_platform_tui.markdown.rows import PLAIN, Line, Look, Part, Row, framed, rows_of
from hermes_platform_tui.markdown.source import Block
from hermes_platform_tui.markdown.table import Table, read_table
from hermes_platform_tui.markdown.width import expand

if TYPE_CHECKING:
    from markdown_it.token import Token

__all__ = ["NARROWEST", "Content", "lay_out", "read"]

NARROWEST = 8  # columns; less than that is laid out as if it were that, and cut
_BULLETS = "•◦▪"
_BULLET = Look(("bullet",))
_DONE = Look(("done",))
_BAR = Look(("bar",))


@define(slots=True, eq=False)
class Content:
    """What a block says, whatever the width: its tokens and, once laid out, its links and code."""

    tokens: "list[Token]"
    raw: bool = False
    """Whether it is shown as it was written."""
    links: list[Link] = field(factory=list)
    table: Table | None = None
    like: Table | None = None
    """The first part of the table that this one goes on with."""


def read(block: Block, references: dict[str, Any], before: Table | None = None) -> Content:
    """Parse a block; ``before`` is the first part of a long table."""
    if block.kind != "text":
        return Content([], raw=block.kind == "plain")
    tokens = parse(block.text, references)
    if too_deep(tokens):
        return Content([], raw=True)
    return Content(tokens, like=before)


def lay_out(block: Block, content: Content, width: int) -> list[Row]:
    """The rows of a block, without an empty row before or after it."""
    width = max(width, NARROWEST)
    if block.kind == "code":
        return code_rows(block, width)
    if block.kind == "maths":
        return _maths_rows(block.text, width)
    if content.raw:
        lines = (Line([(line, PLAIN)] if line else []) for line in map(expand, block.text.split("\n")))
        return [row for line in lines for row in rows_of(line, width)]
    return _Page(content, block).rows(width)


def _maths_rows(text: str, width: int) -> list[Row]:
    inside = text.strip()
    inside = inside.removeprefix("$$").removesuffix("$$").removeprefix("\\[").removesuffix("\\]")
    look = Look(("maths",))
    lines = [Line([(line, look)]) for line in to_unicode(inside).split("\n")]
    return framed([row for line in lines for row in rows_of(line, width - 2)], [("  ", PLAIN)], [("  ", PLAIN)])


class _Page:
    """Lays out the tokens of one block."""

    def __init__(self, content: Content, block: Block) -> None:
        self._content = content
        self._block = block
        self._tokens = content.tokens
        self._place = 0
        self._lists = 0
        self._first = True  # no list has begun yet
        self._kinds: dict[str, Callable[[Token, int], list[Row]]] = {
            "heading_open": self._heading,
            "paragraph_open": self._paragraph,
            "bullet_list_open": self._list,
            "ordered_list_open": self._list,
            "blockquote_open": self._quote,
            "table_open": self._table,
            "fence": self._fence,
            "code_block": self._fence,
            "hr": self._rule,
        }

    def rows(self, width: int) -> list[Row]:
        """All of it."""
        return self._children(width, "", look=PLAIN)

    def _children(self, width: int, until: str, look: Look, *, tight: bool = False) -> list[Row]:
        """Blocks up to a closing token, set off from each other."""
        rows: list[Row] = []
        while self._place < len(self._tokens):
            token = self._tokens[self._place]
            self._place += 1
            if token.type == until:
                break
            lay = self._kinds.get(token.type)
            if lay is None:
                continue
            more = lay(token, width)
            if rows and more and not tight:
                rows.append(Row([]))
            rows += more
        return _looking(rows, look) if look.roles else rows

    def _inline(self, look: Look = PLAIN) -> list[Line]:
        """The lines of the inline token that is next."""
        lines: list[Line] = []
        while self._place < len(self._tokens):
            token = self._tokens[self._place]
            self._place += 1
            if token.type != "inline":
                break
            more, links = lines_of(token.children, look)
            lines += more
            self._content.links += links
        return lines

    def _paragraph(self, token: "Token", width: int) -> list[Row]:
        return [row for line in self._inline() for row in rows_of(line, width)]

    def _heading(self, token: "Token", width: int) -> list[Row]:
        look = Look((f"heading-{token.tag[1:]}",))
        return [row for line in self._inline(look) for row in rows_of(line, width)]

    def _rule(self, token: "Token", width: int) -> list[Row]:
        return [Row([("─" * width, Look(("rule",)))], drawn=True)]

    def _fence(self, token: "Token", width: int) -> list[Row]:
        info = token.info.split()
        part = Block(kind="code", text=token.content.removesuffix("\n"), language=info[0] if info else "")
        return code_rows(part, width)

    def _quote(self, token: "Token", width: int) -> list[Row]:
        bar: list[Part] = [("▎ ", _BAR)]
        rows = self._children(_room(width, 2), "blockquote_close", Look(("quote",)))
        return framed(rows, bar, bar) if _room(width, 2) < width else rows

    def _table(self, token: "Token", width: int) -> list[Row]:
        table, self._place = read_table(self._tokens, self._place, self._content.links)
        if self._content.table is None:
            self._content.table = table
        return table.rows(width, like=self._content.like)

    def _list(self, token: "Token", width: int) -> list[Row]:
        ordered = token.type == "ordered_list_open"
        first, self._first = self._first, False
        number = int(token.attrs.get("start", 1)) if ordered else 0
        if first and self._block.number is not None and ordered:
            number = self._block.number
        outermost = first and self._block.continues
        rows: list[Row] = []
        self._lists += 1
        while self._place < len(self._tokens):
            item = self._tokens[self._place]
            self._place += 1
            if item.type != "list_item_open":
                break
            tight = self._tight()
            more = self._item(width, f"{number}." if ordered else "", hidden=outermost and not rows, tight=tight)
            if rows and not tight:
                rows.append(Row([]))
            rows += more
            number += 1
        self._lists -= 1
        return rows

    def _tight(self) -> bool:
        """Whether the parts of the item at hand are not set apart: the parser hides paragraphs of those."""
        for token in self._tokens[self._place :]:
            if token.type == "paragraph_open":
                return token.hidden
            if token.type == "list_item_close":
                break
        return True

    def _item(self, width: int, number: str, *, hidden: bool, tight: bool) -> list[Row]:
        task = self._task()
        mark, keep = f" {_BULLETS[min(self._lists - 1, len(_BULLETS) - 1)]} ", "- "
        if number:
            mark, keep = f"{number.rjust(3)} ", f"{number} "
        if task:
            mark, keep = (" ☑ ", "- [x] ") if task == "x" else (" ☐ ", "- [ ] ")
        if hidden:
            mark, keep = " " * len(mark), " " * len(keep)
        first: list[Part] = [(mark, _DONE if task == "x" else _BULLET)]
        room = _room(width, len(mark))
        rows = self._children(room, "list_item_close", PLAIN, tight=tight) or [Row([])]
        if room == width:
            return rows
        return framed(rows, first, [(" " * len(mark), PLAIN)], keep)

    def _task(self) -> str:
        """The mark of a task, taken out of the text: ``x``, a space, or nothing."""
        for token in self._tokens[self._place : self._place + 2]:
            if token.type == "inline" and token.children and token.children[0].type == "text":
                text = token.children[0].content
                if text[:4] in ("[ ] ", "[x] ", "[X] "):
                    token.children[0].content = text[4:]
                    token.meta["task"] = text[1].lower()
                return str(token.meta.get("task", ""))
        return ""


def _room(width: int, taken: int) -> int:
    """What is left of the width; where that is too little, containers do not indent."""
    return width - taken if width - taken >= NARROWEST else width


def _looking(rows: Sequence[Row], look: Look) -> list[Row]:
    """The rows with a role more under what they have."""
    for row in rows:
        row.parts = [(text, Look((*look.roles, *old.roles), old.link)) for text, old in row.parts]
    return list(rows)
