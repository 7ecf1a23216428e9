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
        player = getattr(ctx.config, "player", ())
        if player and not shutil.which(player[0]):
            text = f"there is no program {player[0]}, so nothing is said aloud in `/talk on`"
            found.append(Finding(level="fault", text=text, fix="Install it, or set tools.speech.player."))
        if not shutil.which("ffmpeg"):
            text = "there is no ffmpeg, so answers go out as files and not as voice notes"
            found.append(Finding(level="warning", text=text, fix="apt install ffmpeg"))
        return found

    return [Check(name="speech", run=run)]
