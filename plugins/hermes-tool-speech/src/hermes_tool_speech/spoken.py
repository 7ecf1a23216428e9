"""An answer as it is said aloud, and a sound as the voice note that chats know: Opus in Ogg."""

import re
import shutil

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.types import Blob
from hermes_tool_speech.ways import LONGEST, bytes_of

__all__ = ["as_note", "is_whole", "spoken", "unspoken"]

_CODE = re.compile(r"^ *(```+|~~~+).*?(?:^ *\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_MEDIA = re.compile(r"`?MEDIA:\s*\S+`?")
_PICTURE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_ADDRESS = re.compile(r"<?https?://[^\s<>)\]]+>?")
_URL = re.compile(r"<?https?://([^\s/<>)\]]+)[^\s<>)\]]*>?")
_SOURCES = re.compile(r"(?:^[^\n:]{1,20}:\n)?(?:^\[\d+\] [^\n]*https?://\S+(?:\n|\Z))+", re.MULTILINE)
_SILENCE = re.compile(r"[\s.*_`]*(?:\[SILENT\]|NO_REPLY)[\s.*_`]*", re.IGNORECASE)  # by which models say nothing
_RULE = re.compile(r"^\s*(?:[-*_]\s*){3,}$|^\s*\|?[\s:|-]+\|[\s:|-]*$", re.MULTILINE)
_HEAD = re.compile(r"^\s*(?:#{1,6}|>|[-*+]|\d+[.)])\s+", re.MULTILINE)
_MARK = re.compile(r"(?<!\w)(?:\*\*|__|\*|_|~~|`)(?=\S)|(?<=\S)(?:\*\*|__|\*|_|~~|`)(?!\w)")
_TO_NOTE = ("ffmpeg", "-v", "error", "-nostdin", "-y", "-i", "{input}", "-vn", "-ac", "1", "-ar", "48000", "-c:a",
            "libopus", "-b:a", "32k", "-f", "ogg", "{output}")  # fmt: skip


def spoken(text: str) -> str:
    """What one says of a text in Markdown: no code, no addresses, no signs. Empty where nothing is left."""
    text = _told(text)
    if len(text) <= LONGEST:
        return text
    end = max(text.rfind(sign, 0, LONGEST) for sign in (". ", ".\n", "! ", "? ", "\n"))
    return text[: end + 1 if end > LONGEST // 2 else LONGEST].rstrip()


def is_whole(text: str) -> bool:
    """Whether a text is short enough to be said whole."""
    return len(_told(text)) <= LONGEST


def unspoken(text: str) -> str:
    """What of a text cannot be said, to be read beside it: code, files to send, addresses. Each once."""
    rest, found = text, list[str]()
    for sign in (_CODE, _MEDIA, _SOURCES):
        found += [one[0].strip() for one in sign.finditer(rest)]
        rest = sign.sub("\n", rest)
    addresses = [one[0].strip("<>").rstrip(".,;:!?") for one in _ADDRESS.finditer(rest)]
    return "\n\n".join([*dict.fromkeys(found), *(["\n".join(dict.fromkeys(addresses))] if addresses else [])])


def _told(text: str) -> str:
    if _SILENCE.fullmatch(text):
        return ""
    text = _SOURCES.sub("\n", _MEDIA.sub("", _CODE.sub("\n", text)))
    text = _URL.sub(r"\1", _LINK.sub(r"\1", _PICTURE.sub(r"\1", text)))
    text = _MARK.sub("", _HEAD.sub("", _RULE.sub("", text))).replace("|", " ")
    return re.sub(r"[ \t]+", " ", re.sub(r"\s*\n\s*", "\n", text)).strip()


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
