"""The tool ``look``: a question about pictures, pages of a PDF, or moments of a video, that lie in the workspace."""

import mimetypes
from collections.abc import Sequence

from hermes_core import Tool, option, settings, tool
from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, ToolError
from hermes_core.kinds import ToolContext, ToolOutput
from hermes_core.options import ge, le
from hermes_core.types import Blob, Effect, Text

__all__ = ["look_tool"]

_MOST = 8  # pictures of one call
_FRAMES = 4  # of a video, where nobody says how many


@settings
class Look:
    """What the model gives."""

    path: str = option("Path of the picture, PDF or video.")
    question: str = option("What you want to know.", default="")
    others: Sequence[str] = option("Paths of more.", factory=list)
    page: int = option("First page of a PDF.", default=1, validator=ge(1))
    second: float = option("Where to begin in a video.", default=0.0, validator=ge(0))
    pages: int = option("How many pages or frames, at most 8.", default=0, validator=[ge(0), le(_MOST)])


def look_tool(ctx: PluginContext) -> Tool:
    """The tool, asking through this plugin's context."""

    @tool(
        toolset="vision",
        effects={Effect.READ_FILES, Effect.NETWORK},
        untrusted=True,
        idempotent=True,
        touches=lambda wanted: [f"file:{path}" for path in (wanted.path, *wanted.others)],
        seconds=600.0,
    )
    async def look(context: ToolContext, wanted: Look) -> ToolOutput:
        """Look at pictures in files, pages of PDFs, or frames of videos."""
        from hermes_tool_vision.describing import sees, words_for
        from hermes_tool_vision.eyes import small

        paths = [wanted.path, *wanted.others]
        if len(paths) > _MOST:
            raise ToolError(f"{len(paths)} pictures are too many.", hint=f"Look at {_MOST} at most.")
        notes, pictures = list[str](), list[Blob]()
        for path in paths:
            note, found = await _pictures(ctx, context, path, wanted)
            notes += [note] if note else []
            pictures += found
        if len(pictures) > _MOST:
            notes.append(f"(These are {_MOST} of {len(pictures)}.)")
        pictures = pictures[:_MOST]
        if ctx.config.see_with == "auto" and await sees(ctx, context.session.model):
            names = ", ".join(picture.name for picture in pictures)
            return [Text(text="\n".join([*notes, names])), *[await small(ctx, picture) for picture in pictures]]
        said = []
        for picture in pictures:
            try:
                seen, by = await words_for(ctx, context.session, picture, wanted.question or ctx.config.question)
            except HermesError as error:
                raise ToolError(f"Nobody could look at it: {error}", retry=False) from error
            alone = len(pictures) == 1 and "another model" in by
            said.append(seen if alone else f"{picture.name}, {by}:\n{seen}")
        return "\n\n".join([*notes, *said])

    return look


async def _pictures(ctx: PluginContext, context: ToolContext, path: str, wanted: Look) -> tuple[str, list[Blob]]:
    """The pictures that a file is, and what is to be told of it. Raises ToolError."""
    from hermes_tool_vision.eyes import frames_of, pages_of

    kind = mimetypes.guess_type(path)[0] or ""
    if not kind.startswith(("image/", "video/")) and kind != "application/pdf":
        hint = "Give a PNG, JPEG, GIF or WebP file, a PDF, or a video."
        raise ToolError(f"{path} is no picture by its name.", hint=hint)
    data = await context.workspace.read(path)
    if not data:
        raise ToolError(f"{path} is empty.")
    blob = Blob(media_type=kind, data=data, name=path)
    if kind.startswith("image/"):
        return "", [blob]
    try:
        if kind.startswith("video/"):
            found, length = await frames_of(ctx, blob, wanted.second, wanted.pages or _FRAMES)
            return f"{path} is {length:g} seconds long; its sound was not heard.", found
        found, count = await pages_of(ctx, blob, wanted.page, wanted.pages or 1)
    except HermesError as error:
        raise ToolError(error.text, hint=error.hint, retry=False) from error
    if not found:
        raise ToolError(f"{path} has {count} pages.")
    return f"{path} has {count} pages.", found
