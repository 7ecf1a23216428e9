"""The tool ``speak``: a text as a sound file."""

import mimetypes

from hermes_core import Tool, option, settings, tool
from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, ToolError
from hermes_core.kinds import ToolContext
from hermes_core.types import Effect, MediaRequest

__all__ = ["speak_tool"]


@settings
class Speak:
    """What the model gives."""

    text: str = option("What to say.")
    path: str = option("File to write, without an ending: the sound says it.", default="speech")


def speak_tool(ctx: PluginContext) -> Tool:
    """The tool, asking through this plugin's context."""

    @tool(toolset="speech", effects={Effect.WRITE_FILES, Effect.NETWORK})
    async def speak(context: ToolContext, wanted: Speak) -> str:
        """Say a text aloud into a sound file; gives its path."""
        if not wanted.text.strip():
            raise ToolError("There is nothing to say.", hint="Give a text.")
        options = {"voice": ctx.config.voice} if ctx.config.voice else {}
        asked = MediaRequest(texts=(wanted.text,), options=options)
        try:
            sound = (await ctx.llm.media("speak", asked, session=context.session)).blobs[0]
        except HermesError as error:
            raise ToolError(f"Nobody could speak: {error}", retry=False) from error
        path = wanted.path + (mimetypes.guess_extension(sound.media_type) or ".bin")
        await context.workspace.write(path, sound.data or b"")
        return f"Written: {path}"

    return speak
