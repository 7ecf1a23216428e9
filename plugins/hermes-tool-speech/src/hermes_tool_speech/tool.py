"""The tool ``speak``: a text as a sound file."""

from hermes_core import Tool, option, settings, tool
from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, ToolError
from hermes_core.kinds import ToolContext
from hermes_core.types import Effect

__all__ = ["speak_tool"]


@settings
class Speak:
    """What the model gives."""

    text: str = option("What to say.")
    path: str = option("File to write, without an ending: the sound says it.", default="speech")


def speak_tool(ctx: PluginContext) -> Tool:
    """The tool, asking through this plugin's context."""

    @tool(toolset="speech", effects={Effect.WRITE_FILES, Effect.NETWORK}, seconds=300.0)
    async def speak(context: ToolContext, wanted: Speak) -> str:
        """Say a text aloud into a sound file; gives its path."""
        import mimetypes

        from hermes_tool_speech.programs import endings
        from hermes_tool_speech.ways import LONGEST, speaking

        if not wanted.text.strip():
            raise ToolError("There is nothing to say.", hint="Give a text.")
        if len(wanted.text) > LONGEST:
            raise ToolError(f"The text has {len(wanted.text):,} characters; {LONGEST:,} can be said at once.")
        try:
            sound = await speaking(ctx).speak(wanted.text, context.session)
        except HermesError as error:
            raise ToolError(f"Nobody could speak: {error}", retry=False) from error
        kind = sound.media_type.partition(";")[0].strip()
        path = wanted.path + (endings.get(kind) or mimetypes.guess_extension(kind) or ".bin")
        await context.workspace.write(path, sound.data or b"")
        return f"Written: {path}"

    return speak
