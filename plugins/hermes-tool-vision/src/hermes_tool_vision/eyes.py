"""Pictures made small, pages of PDFs and moments of videos as pictures, and text read in pictures.

All of it is done behind a wall, without the network.
A picture, a PDF and a video come from anybody, and what decodes them is large.
"""

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError, UserError
from hermes_core.types import Blob, ExecRequest

__all__ = ["can_read", "frames_of", "pages_of", "read_text", "small"]

_SIDE = 2_000  # pixels of the longer side; more is no help to a model
_AS_IT_IS = 3_500_000  # bytes of a picture that nobody needs to make smaller
_LARGEST = 50_000_000
_SECONDS = 120.0


def can_read() -> bool:
    """Whether text in pictures can be read here."""
    return find_spec("rapidocr") is not None and find_spec("onnxruntime") is not None


async def small(ctx: PluginContext, picture: Blob) -> Blob:
    """A picture that services take: as it is where it is small, else made smaller. Raises UserError, ToolError."""
    data = await asyncio.to_thread(_bytes, picture)
    if len(data) <= _AS_IT_IS:
        return Blob(media_type=picture.media_type, data=data, name=picture.name)
    if find_spec("PIL") is None:
        hint = "pip install 'hermes-tool-vision[pictures]' makes it smaller."
        raise UserError(f"{picture.name or 'The picture'} has {len(data):,} bytes, too many for a model.", hint=hint)
    made = (await _looked(ctx, "shrink", data, "{out}/small", str(_SIDE)))["small"]
    kind = "image/png" if made.startswith(b"\x89PNG") else "image/jpeg"
    return Blob(media_type=kind, data=made, name=picture.name)


async def pages_of(ctx: PluginContext, pdf: Blob, first: int, many: int) -> tuple[list[Blob], int]:
    """Pictures of pages of a PDF, counted from 1, and how many pages it has. Raises UserError, ToolError."""
    if find_spec("pypdfium2") is None or find_spec("PIL") is None:
        hint = "pip install 'hermes-tool-vision[pictures]'"
        raise UserError("Pages of PDFs cannot be seen here.", hint=hint)
    made = await _looked(ctx, "pages", await asyncio.to_thread(_bytes, pdf), "{out}", str(first), str(many), str(_SIDE))
    count = int(made.pop("").decode().strip().splitlines()[-1])
    found = [(number, made[name]) for number in range(first, first + many) if (name := f"page-{number}.jpg") in made]
    name = pdf.name or "the PDF"
    return [Blob(media_type="image/jpeg", data=data, name=f"{name}, page {number}") for number, data in found], count


async def frames_of(ctx: PluginContext, video: Blob, first: float, many: int) -> tuple[list[Blob], float]:
    """Pictures of a video, spread over what comes after a second of it; how long it is. Raises UserError, ToolError."""
    if gone := [name for name in ("ffmpeg", "ffprobe") if not shutil.which(name)]:
        raise UserError(f"Videos cannot be seen here: there is no {gone[0]}.", hint="apt install ffmpeg")
    data = await asyncio.to_thread(_bytes, video)
    made = await _looked(ctx, "frames", data, "{out}", str(first), str(many), str(_SIDE))
    length = float(made.pop("").decode().strip().splitlines()[-1])
    moments = sorted((float(name[6:-4]), found) for name, found in made.items())
    name = video.name or "the video"
    return [Blob(media_type="image/jpeg", data=one, name=f"{name}, second {at:g}") for at, one in moments], length


async def read_text(ctx: PluginContext, picture: Blob) -> str:
    """The text in a picture; empty where there is none. Raises UserError, ToolError."""
    if not can_read():
        hint = "pip install 'hermes-tool-vision[ocr]', or set auxiliary.see."
        raise UserError("Nothing here reads text in pictures.", hint=hint)
    made = await _looked(ctx, "read", await asyncio.to_thread(_bytes, picture), "{out}/text")
    return made["text"].decode("utf-8", "replace").strip()


def _bytes(blob: Blob) -> bytes:
    try:
        data = blob.data if blob.data is not None else Path(blob.path or "").read_bytes()
    except OSError as error:
        raise UserError(f"{blob.name or 'The file'} cannot be read: {error.strerror}.") from None
    if not 0 < len(data) <= _LARGEST:
        raise UserError(f"{blob.name or 'The file'} has {len(data):,} bytes; from 1 to {_LARGEST:,} can be seen.")
    return data


async def _looked(ctx: PluginContext, verb: str, data: bytes, *words: str) -> dict[str, bytes]:
    """What a script behind the wall wrote, by the names of its files; under no name what it said."""
    from hermes_backend_wall.alone import Reach, run_alone
    from hermes_backend_wall.limits import Limits
    from hermes_backend_wall.plan import base_of, records_of

    # Made and filled without a thread: what is cancelled meanwhile would leave the thread's work behind.
    with tempfile.TemporaryDirectory(prefix="hermes-vision-", ignore_cleanup_errors=True) as made:
        folder = Path(made).resolve()
        out = folder / "out"
        _laid(folder, out, data)
        script, home = Path(__file__).with_name("inside") / "eyes.py", ctx.paths.home
        argv = [
            sys.executable,
            "-I",
            str(script),
            verb,
            str(folder / "in"),
            *(word.replace("{out}", str(out)) for word in words),
        ]
        reach = Reach(
            folder=str(folder),
            aside=ctx.paths.cache / "kept",
            records=records_of(home),
            readable=[str(script), sys.prefix, os.path.realpath(sys.base_prefix), *_links()],
            writable=[str(folder)],
            hidden=(base_of(home), home),
            limits=Limits(memory_mb=4_000, processes=64),
        )
        result, _ = await run_alone(reach, ExecRequest(argv=argv, cwd=str(folder), seconds=_SECONDS))
        if result.status:
            said = result.output.decode("utf-8", "replace").strip().splitlines()
            late = f"it did not end within {_SECONDS:g} seconds"
            why = late if result.status == 124 else (said[-1][:300] if said else f"exit {result.status}")
            raise ToolError(f"It could not be looked at: {why}", retry=False)
        found = await asyncio.to_thread(_taken, out)
        return {**found, "": result.output}


def _laid(folder: Path, out: Path, data: bytes) -> None:
    out.mkdir()
    (folder / "in").write_bytes(data)


def _taken(out: Path) -> dict[str, bytes]:
    files = [path for path in out.iterdir() if path.is_file() and not path.is_symlink()]
    if sum(path.stat().st_size for path in files) > _LARGEST:
        raise ToolError("It could not be looked at: too much came of it.", retry=False)
    return {path.name: path.read_bytes() for path in files}


def _links() -> Sequence[str]:
    """Where the link of a virtual environment to its Python leads by the way."""
    found: list[str] = []
    path = sys.executable
    while os.path.islink(path) and len(found) < 40:  # noqa: PTH114
        path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))  # noqa: PTH115, PTH118, PTH120
        found.append(path)
    return found
