"""Pictures: read with care, drawn in their shape, never more than a line when they are bad."""

import io
import struct
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from textual.app import App, ComposeResult
from textual.widget import Widget

from hermes_core.types import Blob
from hermes_platform_tui.terminal.fit import Capabilities
from hermes_platform_tui.terminal.pictures import Blocks, Kitty, draw, how_to, picture


def png(width: int = 40, height: int = 20, colour: tuple[int, ...] = (200, 30, 30), mode: str = "RGB") -> bytes:
    file = io.BytesIO()
    Image.new(mode, (width, height), colour).save(file, "PNG")
    return file.getvalue()


def line_of(widget: Widget) -> str:
    return str(widget.render())


class Show(App[None]):
    def __init__(self, widget: Widget) -> None:
        super().__init__()
        self.widget = widget

    def compose(self) -> ComposeResult:
        yield self.widget


def test_a_picture_keeps_its_shape_and_fits() -> None:
    drawn = draw(png(400, 100), width=40, height=20, how="blocks")
    assert (drawn.columns, drawn.rows) == (40, 5)
    drawn = draw(png(100, 400), width=40, height=10, how="blocks")
    assert (drawn.columns, drawn.rows) == (5, 10)


def test_a_small_picture_is_not_made_larger() -> None:
    drawn = draw(png(16, 16), width=80, height=40, how="blocks")
    assert (drawn.columns, drawn.rows) == (16, 8)


async def test_half_blocks_show_two_colours_in_a_cell() -> None:
    image = Image.new("RGB", (2, 2))
    image.putdata([(255, 0, 0), (0, 255, 0), (0, 0, 255), (9, 9, 9)])
    file = io.BytesIO()
    image.save(file, "PNG")
    widget = picture(file.getvalue(), width=10, height=10, how="blocks")
    async with Show(widget).run_test(size=(20, 5)) as pilot:
        await pilot.pause()
        assert isinstance(widget, Blocks)
        assert widget.size == (2, 1)
        [first, second] = list(widget.render_line(0))[:2]
        assert first.text == "▀"
        assert first.style.color.triplet == (255, 0, 0)
        assert first.style.bgcolor.triplet == (0, 0, 255)
        assert second.style.color.triplet == (0, 255, 0)


def test_what_is_see_through_is_not_drawn() -> None:
    drawn = draw(png(4, 4, (1, 2, 3, 0), "RGBA"), width=10, height=10, how="blocks")
    assert [strip.text for strip in drawn.strips] == ["    ", "    "]


async def test_kitty_gets_the_picture_once_and_forgets_it() -> None:
    widget = picture(png(300, 300), width=20, height=20, how="kitty")
    assert isinstance(widget, Kitty)
    written: list[str] = []
    widget._write = written.append  # type: ignore[method-assign]
    async with Show(widget).run_test(size=(40, 20)) as pilot:
        await pilot.pause()
        widget.refresh()
        await pilot.pause()
        [words] = written
        assert words.startswith(f"\x1b_Ga=T,U=1,f=100,q=2,i={widget.number},c={widget.drawn.columns}")
        assert words.endswith("\x1b\\")
        assert "m=0" in words
        text = widget.render_line(1).text
        assert text.startswith("\U0010eeee\u030d\u0305\U0010eeee\u030d\u030d")
        await widget.remove()
    assert written[1] == f"\x1b_Ga=d,d=I,i={widget.number},q=2\x1b\\"


def test_what_is_larger_than_a_message_of_kitty_comes_in_pieces() -> None:
    noise = io.BytesIO()
    Image.effect_noise((200, 200), 90).save(noise, "PNG")
    widget = picture(noise.getvalue(), width=20, height=20, how="kitty")
    written: list[str] = []
    widget._write = written.append  # type: ignore[attr-defined]
    widget._send()  # type: ignore[attr-defined]
    pieces = written[0].split("\x1b\\")[:-1]
    assert len(pieces) > 2
    assert all(len(piece) < 4200 for piece in pieces)
    assert [piece.partition(";")[0][-3:] for piece in pieces[1:]] == ["m=1"] * (len(pieces) - 2) + ["m=0"]


def bomb(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")
    )


BAD = [
    (b"", "the file is empty"),
    (b"hello", "not a picture that can be shown here"),
    (b"%!PS-Adobe-3.0 EPSF-3.0\n", "not a picture that can be shown here"),
    (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "not a picture that can be shown here"),
    (bomb(100_000, 100_000), "too many pixels"),
    (bomb(9_000, 9_000), "too many pixels (9000×9000)"),
    (bomb(500, 500), "the file is broken"),
    (png()[:60], "the file is broken"),
    (png() + b"\0" * (21 << 20), "too large (21 MB)"),
]


@pytest.mark.parametrize(("data", "why"), BAD, ids=[why for _, why in BAD])
def test_a_bad_picture_is_a_line_that_says_why(data: bytes, why: str) -> None:
    widget = picture(data, width=40, height=20, how="blocks", name="evil\x1b[31m\u202e.png")
    assert line_of(widget) == f"▨ evil .png: {why}"


def test_files_that_are_none_are_not_opened(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.png", Path("/dev/zero")):
        assert "there is no such file" in line_of(picture(path, width=9, height=9, how="blocks"))


def test_a_file_and_a_blob_are_read(tmp_path: Path) -> None:
    path = tmp_path / "red.png"
    path.write_bytes(png())
    for source in (path, str(path), Blob(media_type="image/png", path=str(path)), Blob(media_type="x", data=png())):
        drawn = draw(source, width=20, height=20, how="blocks")
        assert (drawn.columns, drawn.fault) == (20, "")
    assert draw(path, width=9, height=9, how="off").alt == "red.png"
    assert line_of(picture(b"", width=9, height=9, how="off")) == "▨ picture"


def test_a_photo_is_turned_upright() -> None:
    file, image = io.BytesIO(), Image.new("RGB", (40, 20))
    exif = Image.Exif()
    exif[0x0112] = 6
    image.save(file, "JPEG", exif=exif)
    drawn = draw(file.getvalue(), width=40, height=40, how="blocks")
    assert (drawn.columns, drawn.rows) == (20, 20)


@given(st.binary(max_size=200), st.integers(0, 60))
def test_spoiled_pictures_never_raise(junk: bytes, at: int) -> None:
    data = png(8, 8)
    drawn = draw(data[:at] + junk + data[at + len(junk) :], width=10, height=10, how="blocks")
    assert drawn.fault or drawn.strips


def can(**changes: object) -> Capabilities:
    usual = {"colours": "true", "images": "none", "hyperlinks": True, "unicode": True, "remote": False}
    return Capabilities(**{**usual, "multiplexed": False, **changes})


def test_the_best_way_that_is_wished_and_there() -> None:
    assert how_to(can(images="kitty"), "auto") == "kitty"
    assert how_to(can(images="kitty"), "blocks") == "blocks"
    assert how_to(can(images="kitty"), "off") == "off"
    assert how_to(can(images="sixel"), "auto") == "blocks"
    assert how_to(can(images="iterm2"), "auto", alone=True) == "sixel"
    assert how_to(can(), "auto") == "blocks"
    for poor in ({"colours": "none"}, {"colours": "16"}, {"unicode": False}):
        assert how_to(can(**poor), "auto") == "off"


async def test_sixels_are_drawn_without_asking_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    widget = picture(png(100, 100), width=10, height=10, how="sixel")
    async with Show(widget).run_test(size=(20, 10)) as pilot:
        await pilot.pause()
        assert widget.size.width == 10
    assert "\x1b[" not in capfd.readouterr().out
