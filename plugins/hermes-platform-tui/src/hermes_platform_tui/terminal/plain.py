"""Foreign text on one line, for places that are not the screen: titles, notices, the last line of a crash."""

from hermes_core.patterns import pattern

__all__ = ["cut", "plain"]

_STRING = r"[\]PX^_][^\x07\x1b\x9c\n]{0,4096}"  # OSC, DCS, SOS, PM, APC up to their end
_SEQUENCE = pattern(
    rf"\x1b\[[0-?]{{0,64}}[ -/]{{0,8}}[@-~]|\x1b{_STRING}(?:\x07|\x1b\\|\x9c)|\x1b[ -/]{{0,8}}[0-~]"
    r"|\x9b[0-?]{0,64}[ -/]{0,8}[@-~]|[\x90\x98\x9d\x9e\x9f][^\x07\x1b\x9c\n]{0,4096}(?:\x07|\x1b\\|\x9c)"
)
_HIDDEN = pattern("[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]")
_READ = 16_384  # characters that are looked at: what is cut away need not be cleaned


def plain(text: str, limit: int = 200) -> str:
    """The text on one line of at most ``limit`` characters, without anything that a terminal would obey."""
    text = _SEQUENCE.sub("", text[:_READ])
    text = _HIDDEN.sub(" ", text).encode("utf-8", "replace").decode()
    return cut(" ".join(text.split()), limit)


def cut(text: str, limit: int) -> str:
    """The start of a text, with a sign that there was more."""
    return text if len(text) <= limit else f"{text[: max(0, limit - 1)].rstrip()}…"
