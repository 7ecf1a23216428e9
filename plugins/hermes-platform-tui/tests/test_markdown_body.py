"""The widget: written to, scrolled, resized, selected from and searched, in a running app."""

from collections.abc import Callable
from pathlib import Path

import pytest
from rich.style import Style
from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.pilot import Pilot

from hermes_platform_tui.markdown.body import MarkdownBody
from hermes_platform_tui.markdown.contrast import ratio, readable

SHOWCASE = Path(__file__).with_name("markdown_showcase.md").read_text(encoding="utf-8")


class Reader(App[None]):
    """An app that shows one message."""

    CSS = "VerticalScroll { padding: 0 1; }"

    def __init__(self, text: str = "", *, markdown: bool = True) -> None:
        super().__init__()
        self.body = MarkdownBody(text, markdown=markdown)

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield self.body


def shown(body: MarkdownBody) -> list[str]:
    return [body.render_line(place).text.rstrip() for place in range(body.size.height)]


def style_of(body: MarkdownBody, row: int, text: str) -> Style:
    styles = [segment.style for segment in body.render_line(row) if text in segment.text]
    assert styles, [segment.text for segment in body.render_line(row)]
    assert styles[0] is not None
    return styles[0]


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    for _ in range(500):
        await pilot.pause()
        if condition():
            return
        await pilot.pause(0.01)
    raise AssertionError("it never came to pass")


async def test_it_shows_what_is_written() -> None:
    app = Reader()
    async with app.run_test(size=(40, 12)) as pilot:
        for piece in ("# He", "llo\n\nsome **bo", "ld** text\n- a\x1b[", "31m\n", "- b"):
            app.body.append(piece)
        await until(pilot, lambda: shown(app.body) == ["Hello", "", "some bold text", " • a", " • b"])
        app.body.append("c\n\nend")
        app.body.finish()
        await until(pilot, lambda: shown(app.body)[-3:] == [" • bc", "", "end"])
        assert app.body.text == "# Hello\n\nsome **bold** text\n- a\n- bc\n\nend"
        app.body.set_text("other")
        await until(pilot, lambda: shown(app.body) == ["other"])
        app.body.append(" words")
        await until(pilot, lambda: shown(app.body) == ["other words"])


async def test_text_that_comes_too_early_or_too_late() -> None:
    app = Reader()
    app.body.append("early, ")
    async with app.run_test(size=(40, 12)) as pilot:
        app.body.append("then")
        await until(pilot, lambda: shown(app.body) == ["early, then"])
        await app.body.remove()
        app.body.append(" late")
        app.body.finish()
        app.body.highlight("late")
        assert app.body.find("late") == [0]
        await pilot.pause()
    assert app.body.text == "early, then late"


async def test_the_end_is_shown_as_what_it_will_be() -> None:
    app = Reader()
    async with app.run_test(size=(40, 12)) as pilot:
        app.body.append("Title with **bold wo")
        await until(pilot, lambda: shown(app.body) == ["Title with bold wo"])
        app.body.append("rds** and `co")
        await until(pilot, lambda: shown(app.body) == ["Title with bold words and co"])
        app.body.append("de`\n-")  # may be the line under a heading, or a list
        await until(pilot, lambda: shown(app.body) == ["Title with bold words and code"])
        assert not style_of(app.body, 0, "Title").bold
        app.body.finish()
        await until(pilot, lambda: bool(style_of(app.body, 0, "Title").bold))
        app.body.set_text("")
        app.body.append("a [link](https://x.or")
        await until(pilot, lambda: shown(app.body) == ["a link (https://x.or)"])
        app.body.append("g) b")
        await until(pilot, lambda: shown(app.body) == ["a link (https://x.org) b"])


@pytest.mark.long
async def test_much_text_at_once_is_shown_whole() -> None:
    app = Reader()
    text = "\n".join(f"line {number}" for number in range(30_000))
    async with app.run_test(size=(40, 12)) as pilot:
        app.body.append(text)
        assert app.body.text == text
        app.body.finish()
        await until(pilot, lambda: app.body.size.height == 30_000)
        assert app.body.render_line(29_999).text.rstrip() == "line 29999"


async def test_addresses_that_come_last_change_what_is_seen() -> None:
    app = Reader()
    async with app.run_test(size=(40, 12)) as pilot:
        app.body.append("See [it].\n\n[it]: ")
        await until(pilot, lambda: "See [it]." in app.screen.get_widget_at(1, 0)[0].render_line(0).text)
        app.body.append("http://a.b")
        app.body.finish()
        await until(pilot, lambda: shown(app.body) == ["See it (http://a.b)."])
        painted = app.body.render_lines(app.body.size.region)
        assert painted[0].text.rstrip() == "See it (http://a.b)."


async def test_only_rows_in_sight_are_made() -> None:
    app = Reader("word " * 20_000)
    asked: list[int] = []
    render_line = app.body.render_line
    app.body.render_line = lambda y: asked.append(y) or render_line(y)  # type: ignore[method-assign, func-returns-value]
    async with app.run_test(size=(40, 12)) as pilot:
        await until(pilot, lambda: bool(asked))
        assert app.body.size.height > 2_000
        assert max(asked) < 12
        app.query_one(VerticalScroll).scroll_to(y=1_000, animate=False)
        await until(pilot, lambda: max(asked) > 1_000)
        assert len(set(asked)) < 100


async def test_a_resize_wraps_anew() -> None:
    text = "\n\n".join(["some words that are long enough to be wrapped at forty columns"] * 400)
    app = Reader(text)
    async with app.run_test(size=(40, 12)) as pilot:
        await until(pilot, lambda: app.body.size.height == 400 * 3 - 1)
        app.query_one(VerticalScroll).scroll_end(animate=False)
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: app.body.size.height == 400 * 2 - 1)
        assert shown(app.body)[-1] == "some words that are long enough to be wrapped at forty columns"
        await pilot.resize_terminal(24, 12)
        await until(pilot, lambda: app.body.size.height == 400 * 5 - 1)


@pytest.mark.parametrize("width", [1, 2, 3, 5, 9])
async def test_no_room_at_all(width: int) -> None:
    app = Reader(SHOWCASE)
    async with app.run_test(size=(40, 12)) as pilot:
        app.body.styles.width = width
        await until(pilot, lambda: app.body.size.width == width)
        assert all(app.body.render_line(place).cell_length == width for place in range(app.body.size.height))


async def test_the_mouse_selects_and_copies() -> None:
    app = Reader("first **words** here\n\n> quoted 漢字 text\n\n```py\nx = 1\n```\n")
    async with app.run_test(size=(40, 12)) as pilot:
        await until(pilot, lambda: app.body.size.height == 6)
        await pilot.mouse_down(offset=(7, 0))
        await pilot.hover(offset=(12, 2))
        await pilot.mouse_up(offset=(12, 2))
        await pilot.pause()  # the cell under the pointer belongs to it
        assert app.screen.get_selected_text() == "words here\n\nquoted 漢字"
        selected, other = style_of(app.body, 0, "words"), style_of(app.body, 0, "first")
        assert selected.bgcolor not in (other.bgcolor, selected.color)
        assert selected.bold
        await pilot.double_click(offset=(3, 0))
        await pilot.pause()
        assert app.screen.get_selected_text() == "first words here\n\nquoted 漢字 text\n\nx = 1"
        app.screen.clear_selection()
        await pilot.pause()
        assert app.screen.get_selected_text() is None


async def test_a_click_on_a_link_is_told() -> None:
    class Browser(Reader):
        def on_markdown_body_link_clicked(self, event: MarkdownBody.LinkClicked) -> None:
            clicked.append(event.address)

    clicked: list[str] = []
    app = Browser("a [link](https://x.org/a) [b](file:///etc/passwd)")
    async with app.run_test(size=(60, 12)) as pilot:
        await until(pilot, lambda: app.body.size.height == 1)
        await pilot.click(offset=(1, 0))
        await pilot.click(offset=(33, 0))
        await pilot.click(offset=(4, 0))
        await until(pilot, lambda: clicked == ["https://x.org/a"])


async def test_hits_are_marked() -> None:
    app = Reader("one two\n\nthree two **tw**o")
    async with app.run_test(size=(40, 12)) as pilot:
        await until(pilot, lambda: app.body.size.height == 3)
        assert app.body.find("TWO") == [0, 2]
        plain = style_of(app.body, 0, "two")
        app.body.highlight("two", 2)
        hit, current = style_of(app.body, 0, "two"), style_of(app.body, 2, "two")
        assert len({plain.bgcolor, hit.bgcolor, current.bgcolor}) == 3
        assert style_of(app.body, 2, "tw").bgcolor == style_of(app.body, 2, "o").bgcolor == current.bgcolor
        app.body.highlight("")
        assert style_of(app.body, 0, "two") == plain


async def test_what_is_in_it_is_known_before_it_is_seen() -> None:
    body = MarkdownBody("a [link](https://x.org)\n\n```sh\nls\n```")
    assert [(code.language, code.text, code.first_row) for code in body.code_blocks] == [("sh", "ls", 2)]
    assert [(link.text, link.address) for link in body.links] == [("link", "https://x.org")]
    assert body.find("LINK") == [0]


async def test_a_theme_changes_the_colours() -> None:
    app = Reader("# Title\n\n`code`")
    async with app.run_test(size=(40, 12)) as pilot:
        await until(pilot, lambda: app.body.size.height == 3)
        before = style_of(app.body, 0, "Title").color
        app.theme = "textual-light"
        await until(pilot, lambda: style_of(app.body, 0, "Title").color != before)


@pytest.mark.parametrize(
    "theme", ["textual-dark", "textual-light", "nord", "gruvbox", "solarized-light", "catppuccin-latte"]
)
async def test_every_text_can_be_read(theme: str) -> None:
    from textual.color import Color

    app = Reader(SHOWCASE)
    async with app.run_test(size=(80, 24)) as pilot:
        app.theme = theme
        await until(pilot, lambda: app.body.size.height > 30)
        app.body.render_lines(app.body.size.region)
        for place in range(app.body.size.height):
            for text, style, _ in app.body.render_line(place):
                if text.strip(" ─━│┼┿") and style and style.color and style.bgcolor:
                    fore, ground = Color.from_rich_color(style.color), Color.from_rich_color(style.bgcolor)
                    assert ratio(fore, ground) >= 4.4, (theme, text, fore, ground)


def test_readable_keeps_what_can_be_read() -> None:
    from textual.color import Color

    white, black, grey = Color(255, 255, 255), Color(0, 0, 0), Color(120, 120, 120)
    assert readable(white, black) == white
    assert ratio(readable(grey, Color(128, 128, 128)), Color(128, 128, 128)) >= 4.5


async def test_without_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = Reader(SHOWCASE)
    async with app.run_test(size=(40, 12)) as pilot:
        await until(pilot, lambda: app.body.size.height > 30)
        strips = app.body.render_lines(app.body.size.region)
        assert "Heading one" in strips[0].text
        assert any(segment.style and segment.style.underline for segment in strips[0])


def test_snapshot_80(snap_compare: Callable[..., bool]) -> None:
    assert snap_compare(Reader(SHOWCASE), terminal_size=(80, 24))


def test_snapshot_80_end(snap_compare: Callable[..., bool]) -> None:
    async def end(pilot: Pilot[None]) -> None:
        pilot.app.query_one(VerticalScroll).scroll_end(animate=False)
        await pilot.pause()

    assert snap_compare(Reader(SHOWCASE), terminal_size=(80, 24), run_before=end)


def test_snapshot_40(snap_compare: Callable[..., bool]) -> None:
    assert snap_compare(Reader(SHOWCASE), terminal_size=(40, 12))


def test_snapshot_hits_and_selection(snap_compare: Callable[..., bool]) -> None:
    async def select(pilot: Pilot[None]) -> None:
        body = pilot.app.query_one(MarkdownBody)
        body.highlight("a", body.find("a")[1])
        await pilot.mouse_down(offset=(3, 4))
        await pilot.hover(offset=(12, 6))
        await pilot.mouse_up(offset=(12, 6))

    assert snap_compare(Reader(SHOWCASE), terminal_size=(40, 12), run_before=select)
