"""Pictures of a screen: the dumps that an X server gives, as a picture of a size that a model takes."""

import struct
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["Picture", "of_dump", "of_png", "shown"]

_HEADER = struct.Struct(">25I")
_LARGEST = 16_384  # pixels of a side: more is no screen
_RGB = (0xFF0000, 0x00FF00, 0x0000FF)


class Picture(NamedTuple):
    """What a model sees: a PNG, its size, and how many pixels of the screen one of it is."""

    png: bytes
    width: int
    height: int
    scale: float


def of_dump(dump: bytes) -> "Image":
    """The picture in a dump of ``xwd``, or of the memory of an Xvfb. Raises ValueError for what is none."""
    from PIL import Image

    if len(dump) < _HEADER.size:
        raise ValueError("the picture of the screen is not whole")
    size, version, form, _, width, height, _, order, _, _, _, bits, line, _, *masks = _HEADER.unpack_from(dump)[:17]
    colours = _HEADER.unpack_from(dump)[19]
    if version != 7 or form != 2 or bits != 32 or tuple(masks) != _RGB:
        raise ValueError("the screen has colours of a kind that is not known here; it needs 24 bits")
    if not (0 < width <= _LARGEST and 0 < height <= _LARGEST and line >= width * 4 and colours <= 65_536):
        raise ValueError("the picture of the screen has no size")
    start = size + colours * 12
    pixels = dump[start : start + line * height]
    if len(pixels) < line * height:
        raise ValueError("the picture of the screen is not whole")
    return Image.frombuffer("RGB", (width, height), pixels, "raw", "XRGB" if order else "BGRX", line, 1)


def of_png(data: bytes) -> "Image":
    """The picture in a file. Raises ValueError."""
    import io

    from PIL import Image, UnidentifiedImageError

    try:
        picture = Image.open(io.BytesIO(data), formats=("PNG",))
        if max(picture.size) > _LARGEST:
            raise ValueError("the picture of the screen is too large")
        return picture.convert("RGB")
    except (UnidentifiedImageError, OSError, SyntaxError) as error:
        raise ValueError("the picture of the screen is not whole") from error


def shown(image: "Image", largest: int, points: int = 0) -> Picture:
    """A picture as a model gets it. ``points`` is the width of the screen where that is not its pixels."""
    import io

    width, height = image.size
    longest = max(width, height)
    if longest > largest:
        small = (max(1, round(width * largest / longest)), max(1, round(height * largest / longest)))
        image = image.resize(small)
    out = io.BytesIO()
    image.save(out, "PNG", compress_level=6)
    return Picture(out.getvalue(), *image.size, (points or width) / image.size[0])
