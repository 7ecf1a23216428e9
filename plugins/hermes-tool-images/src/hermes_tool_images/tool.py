"""The tool ``draw``: a picture from words, or another one from a picture that is there."""

import mimetypes
from collections.abc import Sequence

from hermes_core import Tool, option, settings, tool
from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, ToolError
from hermes_core.kinds import ToolContext
from hermes_core.types import Blob, Effect, MediaRequest

__all__ = ["draw_tool"]

_LARGEST = 20_000_000  # bytes of a picture to begin with


@settings
class Draw:
    """What the model gives."""

    prompt: str = option("What the picture shows.")
    path: str = option("File to write, without an ending: the picture says it.", default="picture")
    size: str = option("Such as 1024x1024; empty: the model's own.", default="")
    begin_with: Sequence[str] = option("Paths of pictures to change or combine.", factory=list)


def draw_tool(ctx: PluginContext) -> Tool:
    """The tool, asking through this plugin's context."""

    @tool(toolset="images", effects={Effect.READ_FILES, Effect.WRITE_FILES, Effect.NETWORK})
    async def draw(context: ToolContext, wanted: Draw) -> str:
        """Make a picture, or change pictures; gives the path of the new one."""
        if not wanted.prompt.strip():
            raise ToolError("Nothing says what to draw.", hint="Give a prompt.")
        begin = [await _picture(context, path) for path in wanted.begin_with]
        options = {"size": wanted.size} if wanted.size else {}
        asked = MediaRequest(texts=(wanted.prompt,), blobs=begin, options=options)
        try:
            made = (await ctx.llm.media("draw", asked, session=context.session)).blobs[0]
        except HermesError as error:
            raise ToolError(f"Nobody could draw it: {error}", retry=False) from error
        path = wanted.path + (mimetypes.guess_extension(made.media_type) or ".bin")
        await context.workspace.write(path, made.data or b"")
        return f"Written: {path}"

    return draw


async def _picture(context: ToolContext, path: str) -> Blob:
    kind = mimetypes.guess_type(path)[0] or ""
    if not kind.startswith("image/"):
        raise ToolError(f"{path} is no picture by its name.", hint="Give a PNG, JPEG, GIF or WebP file.")
    data = await context.workspace.read(path)
    if len(data) > _LARGEST:
        raise ToolError(f"{path} has {len(data):,} bytes; {_LARGEST:,} are the most.")
    return Blob(media_type=kind, data=data, name=path)
