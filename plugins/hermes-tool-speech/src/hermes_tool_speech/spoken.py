"""An answer as it is said aloud, and a sound as the voice note that chats know: Opus in Ogg."""

import re
import shutil

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.types import Blob
from hermes_tool_speech.ways import LONGEST, bytes_of

__all__ = ["as_note", "spoken"]

_CODE = re.compile(r"^ *(```+|~~~+).*?(?:^ *\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_MEDIA = re.compile(r"`?MEDIA:\s*\S+`?")
_PICTURE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_URL = re.compile(r"<?https?://([^\s/<>)\]]+)[^\s<>)\]]*>?")
_RULE = re.compile(r"^\s*(?:[-*_]\s*){3,}$|^\s*\|?[\s:|-]+\|[\s:|-]*$", re.MULTILINE)
_HEAD = re.compile(r"^\s*(?:#{1,6}|>|[-*+]|\d+[.)])\s+", re.MULTILINE)
_MARK = re.compile(r"(?<!\w)(?:\*\*|__|\*|_|~~|`)(?=\S)|(?<=\S)(?:\*\*|__|\*|_|~~|`)(?!\w)")
_TO_NOTE = ("ffmpeg", "-v", "error", "-nostdin", "-y", "-i", "{input}", "-vn", "-ac", "1", "-ar", "48000", "-c:a",
            "libopus", "-b:a", "32k", "-f", "ogg", "{output}")  # fmt: skip


def spoken(text: str) -> str:
    """What one says of a text in Markdown: no code, no addresses, no signs. Empty where nothing is left."""
    text = _MEDIA.sub("", _CODE.sub("\n", text))
    text = _URL.sub(r"\1", _LINK.sub(r"\1", _PICTURE.sub(r"\1", text)))
    text = _MARK.sub("", _HEAD.sub("", _RULE.sub("", text))).replace("|", " ")
    text = re.sub(r"[ \t]+", " ", re.sub(r"\s*\n\s*", "\n", text)).strip()
    if len(text) <= LONGEST:
        return text
    end = max(text.rfind(sign, 0, LONGEST) for sign in (". ", ".\n", "! ", "? ", "\n"))
    return text[: end + 1 if end > LONGEST // 2 else LONGEST].rstrip()


async def as_note(ctx: PluginContext, sound: Blob) -> Blob:
    """A sound as a voice note; as it is where there is nothing that makes one of it."""
    from hermes_tool_speech.programs import endings, run_in_folder

    kind = sound.media_type.partition(";")[0].strip()
    if kind in ("audio/ogg", "audio/opus") or not shutil.which("ffmpeg"):
        return sound
    given = {"input": (f"input{endings.get(kind, '.bin')}", bytes_of(sound))}
    try:
        made = await run_in_folder(ctx, _TO_NOTE, {}, given, "note.ogg", seconds=60.0)
    except HermesError as error:
        ctx.log.warning("a voice note stays %s: %s", kind, error)
        return sound
    return Blob(media_type="audio/ogg", data=made, name="voice.ogg") if made.startswith(b"OggS") else sound
