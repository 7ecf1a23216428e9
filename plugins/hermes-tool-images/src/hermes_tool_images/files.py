"""Files of pictures and videos: read from the workspace, written with the ending that their bytes say."""

import mimetypes

from hermes_core.errors import ToolError
from hermes_core.kinds import ToolContext
from hermes_core.types import Blob

__all__ = ["picture", "written"]

_LARGEST = 20_000_000  # bytes of a picture to begin with
_TERMINALS = frozenset({"cli", "oneshot", "embed", "api", "child"})
_SIGNS = (
    (0, b"\x89PNG", ".png"),
    (0, b"\xff\xd8\xff", ".jpg"),
    (0, b"GIF8", ".gif"),
    (8, b"WEBP", ".webp"),
    (4, b"ftypavif", ".avif"),
    (4, b"ftyp", ".mp4"),
    (0, b"\x1aE\xdf\xa3", ".webm"),
)


async def picture(context: ToolContext, path: str) -> Blob:
    """A picture of the workspace. Raises ToolError."""
    kind = mimetypes.guess_type(path)[0] or ""
    if not kind.startswith("image/"):
        raise ToolError(f"{path} is no picture by its name.", hint="Give a PNG, JPEG, GIF or WebP file.")
    data = await context.workspace.read(path)
    if len(data) > _LARGEST:
        raise ToolError(f"{path} has {len(data):,} bytes; {_LARGEST:,} are the most.")
    return Blob(media_type=kind, data=data, name=path)


async def written(context: ToolContext, path: str, data: bytes, said: str = "") -> str:
    """Write what was made, and say where. Raises ToolError for what is neither a picture nor a video.

    ``said`` is its ending as the maker says it, for what no sign tells.
    """
    ending = next((end for at, sign, end in _SIGNS if data[at : at + len(sign)] == sign), said)
    if not ending:
        raise ToolError("What came is neither a picture nor a video.", retry=False)
    whole = path if path.lower().endswith(ending) else path + ending
    await context.workspace.write(whole, data)
    if context.session.origin in _TERMINALS:
        return f"Written: {whole}"
    there = whole if whole.startswith("/") else f"{context.workspace.cwd.rstrip('/')}/{whole}"
    return f"Written: {whole}\nTo send it, write on a line of its own: MEDIA:{there}"
