"""Pictures in the terminal: read with care, drawn as well as the terminal can.

A picture may come from anywhere. It is opened only as what it claims to be one of a few kinds of, and never unpacked
to more than the screen could use.
"""

import io
import os
import random
import warnings
from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from textual.content import Content
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from hermes_core.values import frozen
from hermes_platform_tui.terminal.fit import Capabilities
from hermes_platform_tui.terminal.plain import plain

if TYPE_CHECKING:
    from PIL.Image import Image

    from hermes_core.types import Blob


__all__ = ["Blocks", "Drawn", "How", "Kitty", "draw", "fitting", "how_to", "picture"]

How = Literal["kitty", "sixel", "blocks", "off"]

_LARGEST = 20 << 20  # bytes of a file
_PIXELS = 50_000_000  # of a picture; a photo of a good camera has as many
_KINDS = ("PNG", "JPEG", "GIF", "WEBP", "BMP")
_CELL = (10, 20)  # pixels of a cell, where the terminal does not say
_CHUNK = 4096
_COLUMNS, _ROWS = 120, 80
# The first of kitty's rowcolumn-diacritics.txt: how a placeholder says its row and column.
_MARKS = (
    "305 30d-30e 310 312 33d-33f 346 34a-34c 350-352 357 35b 363-36f 483-487 592-595 597-599 59c-5a1 "
    "5a8-5a9 5ab-5ac 5af 5c4 610-617 657-65b 65d-65e 6d6-6dc 6df-6e2 6e4 6e7-6e8 6eb-6ec 730 732-733 "
    "735-736 73a 73d 73f-741 743 745 747 749-74a 7eb-7f1 7f3 816-819 81b-823 825-827 829 "
)


@frozen(kw_only=True)
class Drawn:
    """A picture that is ready to be shown, or why it cannot be."""

    alt: str
    fault: str = ""
    columns: int = 0
    rows: int = 0
    strips: tuple[Strip, ...] = ()
    data: str = ""
    image: "Image | None" = None

    def widget(self) -> Widget:
        """A new widget that shows it."""
        if self.fault:
            return Static(Content(f"▨ {self.alt}: {self.fault}"), classes="picture-line")
        if self.strips:
            return Blocks(self)
        if self.data:
            return Kitty(self)
        if self.image is not None:
            return _sixel(self)
        return Static(Content(f"▨ {self.alt}"), classes="picture-line")


def how_to(can: Capabilities, setting: Literal["auto", "blocks", "off"], *, alone: bool = False) -> How:
    """How to draw here. Sixels only for a picture that is ``alone`` on its screen: they are made anew as it scrolls."""
    if setting == "off" or can.colours in ("none", "16") or not can.unicode:
        return "off"
    if setting == "auto" and can.images == "kitty":
        return "kitty"
    if setting == "auto" and alone and can.images in ("sixel", "iterm2"):
        return "sixel"
    return "blocks"


def picture(source: "bytes | str | Path | Blob", *, width: int, height: int, how: How, name: str = "") -> Widget:
    """A widget that shows a picture in at most ``width`` × ``height`` cells; a line that says why when it cannot.

    Reading takes its time: in an app, ``await asyncio.to_thread(draw, …)`` and then ``.widget()``.
    """
    return draw(source, width=width, height=height, how=how, name=name).widget()


def fitting(blob: "Blob", setting: Literal["auto", "blocks", "off"], columns: int) -> Widget | None:
    """Return a picture that fits among so many columns of this process's terminal; None where none is wanted."""
    how = how_to(Capabilities.of(os.environ), setting)
    return None if how == "off" else picture(blob, width=min(80, columns - 8), height=20, how=how)


def draw(source: "bytes | str | Path | Blob", *, width: int, height: int, how: How, name: str = "") -> Drawn:
    """Read and prepare a picture. Never raises for what is in it; may be called in a thread."""
    alt = plain(name or _name(source), 80) or "picture"
    if how == "off":
        return Drawn(alt=alt)
    try:
        image = _read(source, how, width, height)
    except _Refused as refused:
        return Drawn(alt=alt, fault=str(refused))
    except Exception as error:  # noqa: BLE001 - decoders raise whatever they like on broken files
        text = plain(str(error), 80) if isinstance(error, OSError) and error.errno else "the file is broken"
        return Drawn(alt=alt, fault=text)
    columns, rows = _cells(image, how, min(width, _COLUMNS), min(height, _ROWS))
    if how == "blocks":
        return Drawn(alt=alt, columns=columns, rows=rows, strips=_strips(image.resize((columns, rows * 2))))
    cell_width, cell_height = _cell_size()
    image = image.resize((columns * cell_width, rows * cell_height))
    if how == "sixel":
        return Drawn(alt=alt, columns=columns, rows=rows, image=image)
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=2)
    return Drawn(alt=alt, columns=columns, rows=rows, data=b64encode(file.getvalue()).decode())


class _Refused(Exception):
    """Why a picture is not shown, for the person."""


def _name(source: object) -> str:
    if isinstance(source, bytes):
        return ""
    path = getattr(source, "name", "") or getattr(source, "path", "") or ("" if hasattr(source, "data") else source)
    return Path(str(path or "")).name


def _bytes(source: object) -> bytes:
    data = getattr(source, "data", source)
    if isinstance(data, bytes):
        if len(data) > _LARGEST:
            raise _Refused(f"too large ({len(data) >> 20} MB)")
        return data
    path = Path(str(getattr(source, "path", source)))
    if not path.is_file():  # a pipe or a device would never end
        raise _Refused("there is no such file")
    with path.open("rb") as file:
        data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise _Refused(f"too large (over {_LARGEST >> 20} MB)")
    return data


def _read(source: object, how: How, width: int, height: int) -> "Image":
    """The picture, upright, in colours, and not much larger than it will be shown."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    data = _bytes(source)
    if not data:
        raise _Refused("the file is empty")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # the bound below is lower
            image = Image.open(io.BytesIO(data), formats=_KINDS)
    except Image.DecompressionBombError:
        raise _Refused("too many pixels") from None
    except UnidentifiedImageError:
        raise _Refused("not a picture that can be shown here") from None
    if image.width * image.height > _PIXELS:
        raise _Refused(f"too many pixels ({image.width}×{image.height})")
    if image.width < 1 or image.height < 1:
        raise _Refused("it has no pixels")
    scale = (1, 2) if how == "blocks" else _cell_size()
    most = (max(1, width * scale[0] * 2), max(1, height * scale[1] * 2))
    image.draft("RGB", most)
    image.load()
    upright = ImageOps.exif_transpose(image)
    upright.thumbnail(most)
    return upright.convert("RGBA")


def _cells(image: "Image", how: How, width: int, height: int) -> tuple[int, int]:
    """Columns and rows that keep the picture's shape; it is not made larger than it is."""
    cell_width, cell_height = (1, 2) if how == "blocks" else _cell_size()
    columns, rows = image.width / cell_width, image.height / cell_height
    scale = min(1.0, max(1, width) / columns, max(1, height) / rows)
    return max(1, round(columns * scale)), max(1, round(rows * scale))


def _cell_size() -> tuple[int, int]:
    """Pixels of a cell, as the terminal told the system; it is never asked itself: the answer would be typed."""
    import fcntl
    import struct
    import sys
    import termios

    try:
        assert sys.__stdout__ is not None
        told = fcntl.ioctl(sys.__stdout__.fileno(), termios.TIOCGWINSZ, b"\0" * 8)
        rows, columns, width, height = struct.unpack("4H", told)
        size = width // columns, height // rows
    except (OSError, ValueError, ZeroDivisionError, AssertionError):
        return _CELL
    return size if 3 < size[0] < 100 and 3 < size[1] < 200 else _CELL


def _strips(image: "Image") -> tuple[Strip, ...]:
    """A row of half blocks for every two rows of pixels; what is see-through stays the widget's own."""
    from rich.color import Color
    from rich.segment import Segment
    from rich.style import Style

    known: dict[tuple[tuple[int, ...] | None, tuple[int, ...] | None], Segment] = {}

    def half(above: tuple[int, ...] | None, below: tuple[int, ...] | None) -> Segment:
        if above is None and below is None:
            return Segment(" ")
        first, second = (above, below) if above is not None else (below, None)
        style = Style(
            color=Color.from_rgb(*first) if first else None, bgcolor=Color.from_rgb(*second) if second else None
        )
        return Segment("▀" if above is not None else "▄", style)

    width, pixels = image.width, image.tobytes()

    def at(x: int, y: int) -> tuple[int, ...] | None:
        start = (y * width + x) * 4
        return tuple(pixels[start : start + 3]) if pixels[start + 3] > 127 else None

    strips = []
    for y in range(0, image.height - 1, 2):
        row = []
        for x in range(width):
            pair = at(x, y), at(x, y + 1)
            if pair not in known:
                known[pair] = half(*pair)
            row.append(known[pair])
        strips.append(Strip(row, width))
    return tuple(strips)


class _Sized(Widget):
    """Shows a drawn picture in its own size."""

    DEFAULT_CSS = """
    _Sized { width: auto; height: auto; }
    """

    def __init__(self, drawn: Drawn) -> None:
        super().__init__(classes="picture")
        self.drawn = drawn
        self.tooltip = Content(drawn.alt)
        self.lines: tuple[Strip, ...] = drawn.strips

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """As wide as it was drawn."""
        return self.drawn.columns

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As high as it was drawn."""
        return self.drawn.rows

    def render_line(self, y: int) -> Strip:
        """One row."""
        style = self.rich_style
        line = self.lines[y] if y < len(self.lines) else Strip([])
        return line.apply_style(style).adjust_cell_length(self.size.width, style)


class Blocks(_Sized):
    """A picture of half blocks."""


class Kitty(_Sized):
    """A picture that the terminal keeps, and shows where its placeholders stand."""

    def __init__(self, drawn: Drawn) -> None:
        super().__init__(drawn)
        self.number = random.randrange(1 << 16, 1 << 24)  # noqa: S311 - a colour that is not used otherwise
        self.lines = _placeholders(self.number, drawn.columns, drawn.rows)

    def on_mount(self) -> None:
        """Hand the picture to the terminal, and again after somebody else had it."""
        self._send()
        self.app.app_resume_signal.subscribe(self, lambda _: self._send())

    def on_unmount(self) -> None:
        """Let the terminal forget it."""
        self._write(f"\x1b_Ga=d,d=I,i={self.number},q=2\x1b\\")

    def _send(self) -> None:
        data, drawn = self.drawn.data, self.drawn
        chunks = [data[start : start + _CHUNK] for start in range(0, len(data), _CHUNK)]
        first = f"a=T,U=1,f=100,q=2,i={self.number},c={drawn.columns},r={drawn.rows},"
        self._write(
            "".join(
                f"\x1b_G{'' if number else first}m={int(number < len(chunks) - 1)};{chunk}\x1b\\"
                for number, chunk in enumerate(chunks)
            )
        )

    def _write(self, words: str) -> None:
        driver = self.app._driver
        if driver is not None and not driver.is_headless:
            driver.write(words)


def _placeholders(number: int, columns: int, rows: int) -> tuple[Strip, ...]:
    """What kitty replaces by a picture: a letter with its row and column as marks, in a colour that is the number."""
    from rich.color import Color
    from rich.segment import Segment
    from rich.style import Style

    marks = _marks()
    style = Style(color=Color.from_rgb(number >> 16, number >> 8 & 255, number & 255))
    return tuple(
        Strip([Segment("".join(f"\U0010eeee{marks[y]}{marks[x]}" for x in range(columns)), style)], columns)
        for y in range(min(rows, len(marks)))
    )


def _marks() -> str:
    """The marks for 0, 1, 2 …"""
    ends = (word.partition("-") for word in _MARKS.split())
    return "".join(chr(code) for low, _, high in ends for code in range(int(low, 16), int(high or low, 16) + 1))


def _sixel(drawn: Drawn) -> Widget:
    """textual-image's own widget."""
    import sys

    stdout = sys.__stdout__
    sys.__stdout__ = io.StringIO()  # type: ignore[misc,assignment]
    try:  # imported on a terminal it asks it questions, and takes the person's keys for answers
        from textual_image import _terminal
        from textual_image.widget.sixel import Image as Sixel
    finally:
        sys.__stdout__ = stdout  # type: ignore[misc]
    _terminal.get_cell_size._result = _terminal.CellSize(*_cell_size())  # type: ignore[attr-defined]
    widget = Sixel(drawn.image)
    widget.styles.width, widget.styles.height = drawn.columns, drawn.rows
    return widget
