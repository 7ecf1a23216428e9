"""The tool ``look``: a question about a picture that lies in the workspace."""

import mimetypes

from hermes_core import Tool, option, settings, tool
from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, ToolError
from hermes_core.kinds import ToolContext
from hermes_core.types import Blob, Effect, MediaRequest

__all__ = ["look_tool"]

_LARGEST = 20_000_000  # bytes that services take


@settings
class Look:
    """What the model gives."""

    path: str = option("Path of the picture.")
    question: str = option("What you want to know.", default="")


def look_tool(ctx: PluginContext) -> Tool:
    """The tool, asking through this plugin's context."""

    @tool(
        toolset="vision",
        effects={Effect.READ_FILES, Effect.NETWORK},
        untrusted=True,
        idempotent=True,
        touches=lambda wanted: [f"file:{wanted.path}"],
    )
    async def look(context: ToolContext, wanted: Look) -> str:
        """Ask a model that sees about a picture in a file."""
        kind = mimetypes.guess_type(wanted.path)[0] or ""
        if not kind.startswith("image/"):
            raise ToolError(f"{wanted.path} is no picture by its name.", hint="Give a PNG, JPEG, GIF or WebP file.")
        data = await context.workspace.read(wanted.path)
        if not 0 < len(data) <= _LARGEST:
            raise ToolError(f"{wanted.path} has {len(data):,} bytes.", hint=f"From 1 to {_LARGEST:,} can be seen.")
        picture = Blob(media_type=kind, data=data, name=wanted.path)
        asked = MediaRequest(blobs=(picture,), texts=(wanted.question or ctx.config.question,))
        try:
            return (await ctx.llm.media("see", asked, session=context.session)).texts[0]
        except HermesError as error:
            raise ToolError(f"Nobody could look at it: {error}", retry=False) from error

    return look
