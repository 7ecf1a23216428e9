"""Finished blocks of markdown as rows of text with colors. Imports rich: only for the first answer, off the loop."""

from collections.abc import Iterable
from io import StringIO
from typing import ClassVar

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import (
    BlockQuote,
    CodeBlock,
    Heading,
    HorizontalRule,
    ListItem,
    Markdown,
    MarkdownElement,
    TableElement,
)
from rich.segment import Segment
from rich.style import Style
from rich.syntax import ANSISyntaxTheme, Syntax
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from hermes_platform_cli.blocks import Block

__all__ = ["Renderer"]

PROSE = 100  # columns; longer lines tire the eye
_INDENT = "  "

# Only the terminal's own sixteen colors and no backgrounds, so that it reads well on light and on dark.
_THEME = Theme(
    {
        "markdown.h1": "bold underline",
        "markdown.h2": "bold",
        "markdown.h3": "bold",
        "markdown.h4": "italic",
        "markdown.h5": "italic",
        "markdown.h6": "italic",
        "markdown.code": "cyan",
        "markdown.block_quote": "dim",
        "markdown.item.bullet": "dim",
        "markdown.item.number": "dim",
        "markdown.hr": "dim",
        "markdown.link": "none",
        "markdown.link_url": "underline dim",
        "markdown.table.border": "dim",
        "markdown.table.header": "bold",
        "markdown.s": "strike",
    }
)


def _code_theme() -> ANSISyntaxTheme:
    from pygments.token import Comment, Keyword, Name, Number, Operator, String, Token  # type: ignore[import-untyped]

    return ANSISyntaxTheme(
        {
            Token: Style(),
            Comment: Style(dim=True, italic=True),
            Keyword: Style(color="magenta"),
            Operator.Word: Style(color="magenta"),
            String: Style(color="green"),
            Number: Style(color="cyan"),
            Name.Function: Style(color="blue"),
            Name.Class: Style(color="blue"),
            Name.Decorator: Style(color="cyan"),
            Name.Builtin: Style(color="cyan"),
            Name.Tag: Style(color="blue"),
        }
    )


class _LeftHeading(Heading):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        yield self.text


class _PlainCode(CodeBlock):
    """Code inside a list or quotation; code of its own goes through Renderer."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in str(self.text).rstrip().split("\n"):
            yield Text(_INDENT + line, style="cyan")


class _Quote(BlockQuote):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = console.render_lines(self.elements, options.update(width=options.max_width - 2), style=self.style)
        for line in lines:
            yield Segment("│ ", self.style)
            yield from line
            yield Segment("\n")


class _Line(HorizontalRule):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text("─" * min(options.max_width, 40), style="markdown.hr")


class _Item(ListItem):
    def render_number(self, console: Console, options: ConsoleOptions, number: int, last_number: int) -> RenderResult:
        # Items are rendered one by one, so the width of the number cannot come from the last one.
        width = max(4, len(str(number)) + 2)
        lines = console.render_lines(self.elements, options.update(width=options.max_width - width), style=self.style)
        style = console.get_style("markdown.item.number")
        for row, line in enumerate(lines):
            yield Segment((f"{number}.".rjust(width - 1) if row == 0 else " " * (width - 1)) + " ", style)
            yield from line
            yield Segment("\n")


class _Table(TableElement):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table = Table(box=box.SIMPLE_HEAD, border_style="markdown.table.border", pad_edge=False, show_edge=False)
        for column in self.header.row.cells if self.header and self.header.row else ():
            title = column.content.copy()
            title.stylize("markdown.table.header")
            table.add_column(title, overflow="fold")
        for row in self.body.rows if self.body else ():
            table.add_row(*(cell.content for cell in row.cells))
        yield table


class _AnswerMarkdown(Markdown):
    """Markdown with line breaks kept, raw HTML shown as text, and every link's address in sight."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _LeftHeading,
        "fence": _PlainCode,
        "code_block": _PlainCode,
        "blockquote_open": _Quote,
        "hr": _Line,
        "list_item_open": _Item,
        "table_open": _Table,
    }

    def __init__(self, text: str) -> None:
        from markdown_it import MarkdownIt

        super().__init__("", hyperlinks=False)
        parser = MarkdownIt("commonmark", {"html": False}).enable("strikethrough").enable("table")
        self.parsed = parser.parse(text)
        for token in self.parsed:
            children = token.children or []
            for child in children:
                if child.type == "softbreak":
                    child.type = "hardbreak"
                elif child.type == "image":
                    child.type, child.tag, child.children = "text", "", None
                    child.content = f"[{child.content or 'picture'}] ({child.attrs.get('src', '')})"
            token.children = [c for i, c in enumerate(children) if not _bare_link(children, i)] or token.children


def _bare_link(children: list, index: int) -> bool:  # type: ignore[type-arg]
    """Whether this token opens or closes a link that reads like its own address."""
    for start in (index, index - 2):
        if start >= 0 and start + 2 < len(children) and children[start].type == "link_open":
            inside, end = children[start + 1], children[start + 2]
            if end.type == "link_close" and inside.content == children[start].attrs.get("href"):
                return True
    return False


class Renderer:
    """Makes rows of blocks for one terminal. Keeps the code before a part, so that its colors go on rightly."""

    def __init__(self) -> None:
        self._theme = _code_theme()
        self._before = ""
        self._highlighters: dict[str, Syntax] = {}
        self._consoles: dict[int, Console] = {}

    def rows(self, block: Block, columns: int) -> list[str]:
        """The rows of a block, without an empty row before or after it."""
        console = self._console(columns)
        if block.kind == "code":
            return self._code(block, console, columns)
        options = console.options.update(width=min(columns, PROSE))
        lines = console.render_lines(_AnswerMarkdown(block.text), options, pad=False)
        rows = [_ansi(line) for line in lines]
        while rows and not rows[0]:
            rows.pop(0)
        while rows and not rows[-1]:
            rows.pop()
        return rows

    def _console(self, columns: int) -> Console:
        if columns not in self._consoles:
            self._consoles.clear()
            self._consoles[columns] = Console(
                file=StringIO(),
                width=max(columns, 8),
                force_terminal=True,
                color_system="standard",
                theme=_THEME,
                highlight=False,
                markup=False,
                emoji=False,
                legacy_windows=False,
                _environ={},
            )
        return self._consoles[columns]

    def _code(self, block: Block, console: Console, columns: int) -> list[str]:
        before = "" if block.fresh else self._before
        self._before = block.text
        language = block.language or "text"
        if language not in self._highlighters:
            self._highlighters[language] = Syntax("", language, theme=self._theme)
        source = f"{before}\n{block.text}" if before else block.text
        lines = self._highlighters[language].highlight(source.expandtabs(4)).split("\n", allow_blank=True)
        wanted = block.text.count("\n") + 1
        first = before.count("\n") + 1 if before else 0
        rows = []
        for line in lines[first : first + wanted]:
            wrapped = line.wrap(console, max(4, columns - len(_INDENT)), overflow="fold", no_wrap=False)
            parts = list(wrapped) or [Text("")]
            rows += [(_INDENT + _ansi(part.render(console))).rstrip() for part in parts]
        return rows


def _ansi(segments: Iterable[Segment]) -> str:
    """A row with its colors; blanks at its end are dropped, so that copied text has none."""
    shown = [segment for segment in segments if segment.text and not segment.control]
    while shown and not shown[-1].text.strip() and not (shown[-1].style and shown[-1].style.underline):
        shown.pop()
    parts = []
    for position, (text, style, _) in enumerate(shown):
        body = text.rstrip() if position == len(shown) - 1 else text
        codes = style.render("\0") if style else "\0"
        parts.append(codes.replace("\0", body))
    return "".join(parts)
