"""Looks at a file behind the wall: `eyes.py shrink|pages|frames|read IN OUT …`. It knows nothing of Hermes.

``shrink IN OUT SIDE`` makes a picture small enough; ``pages IN FOLDER FIRST MANY SIDE`` pictures of pages of a PDF;
``frames IN FOLDER FIRST MANY SIDE`` of moments of a video, which are spread over what comes after a second of it;
``read IN OUT`` writes down the text that is in a picture. What it says on its last line is for people.
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_PIXELS = 100_000_000  # of a picture; beyond that it is a bomb


def shrink(source: str, target: str, side: str) -> None:
    """Write a picture whose longer side is not longer, as JPEG, or as PNG where something shines through."""
    from PIL import Image, ImageOps

    Image.MAX_IMAGE_PIXELS = _PIXELS
    with Image.open(source) as opened:
        if opened.width * opened.height > _PIXELS:
            raise ValueError(f"it has {opened.width} times {opened.height} pixels")
        opened.draft("RGB", (int(side), int(side)))
        picture: Any = ImageOps.exif_transpose(opened)
        picture.thumbnail((int(side), int(side)))
        if picture.mode in ("RGBA", "LA", "P") and picture.convert("RGBA").getextrema()[3][0] < 255:
            picture.convert("RGBA").save(target, "PNG")
        else:
            picture.convert("RGB").save(target, "JPEG", quality=85)


def pages(source: str, folder: str, first: str, many: str, side: str) -> None:
    """Write pictures of pages, and say how many pages there are."""
    import pypdfium2  # type: ignore[import-untyped]

    document = pypdfium2.PdfDocument(source)
    count = len(document)
    for number in range(int(first), min(int(first) + int(many), count + 1)):
        page = document[number - 1]
        wide, high = page.get_size()
        scale = min(int(side) / max(wide, high, 1.0), 4.0)
        picture = page.render(scale=scale).to_pil().convert("RGB")
        picture.save(Path(folder) / f"page-{number}.jpg", "JPEG", quality=85)
    sys.stdout.write(f"{count}\n")


def frames(source: str, folder: str, first: str, many: str, side: str) -> None:
    """Write pictures of moments, and say how many seconds it has."""
    asked = ["ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", source]
    try:
        length = float(_ran(asked).split()[0])
    except (IndexError, ValueError):  # it does not say
        length = 0.0
    begin, count = float(first), int(many)
    if begin > length:
        raise ValueError(f"it has {length:.1f} seconds")
    moments = [begin + (length - begin) * (number + 0.5) / count for number in range(count)]
    small = f"scale=w='min({side},iw)':h='min({side},ih)':force_original_aspect_ratio=decrease"
    for at in dict.fromkeys([begin] if count == 1 and begin else moments):
        target = str(Path(folder) / f"frame-{at:.2f}.jpg")
        words = ["-ss", f"{at:.3f}", "-i", source, "-frames:v", "1", "-vf", small, "-q:v", "3", target]
        _ran(["ffmpeg", "-v", "error", "-nostdin", "-y", *words])
    sys.stdout.write(f"{length:.1f}\n")


def _ran(words: list[str]) -> str:
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError((done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1])
    return done.stdout


def read(source: str, target: str) -> None:
    """Write down the lines of text in a picture, from top to bottom."""
    import logging

    logging.disable(logging.WARNING)
    from rapidocr import RapidOCR

    found: Any = RapidOCR()(source)
    lines = zip(found.txts or (), found.scores or (), strict=True)
    Path(target).write_text("\n".join(text for text, score in lines if score >= 0.5), "utf-8")


if __name__ == "__main__":
    try:
        verbs: dict[str, Callable[..., None]] = {"shrink": shrink, "pages": pages, "frames": frames, "read": read}
        verbs[sys.argv[1]](*sys.argv[2:])
    except Exception as error:  # noqa: BLE001 - told in a line
        sys.stdout.write(f"{type(error).__name__}: {error}"[:300])
        sys.exit(1)
