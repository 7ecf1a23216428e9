"""Foreign text on one line, for places that are not the screen: titles, notices, the last line of a crash."""

from hermes_core.patterns import pattern
from hermes_platform_tui.markdown.clean import SEQUENCE

__all__ = ["cut", "plain"]

_HIDDEN = pattern("[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]")
_READ = 16_384  # characters that are looked at: what is cut away need not be cleaned


def plain(text: str, limit: int = 200) -> str:
    """The text on one line of at most ``limit`` characters, without anything that a terminal would obey."""
    text = SEQUENCE.sub("", text[:_READ])
    text = _HIDDEN.sub(" ", text).encode("utf-8", "replace").decode()
    return cut(" ".join(text.split()), limit)


def cut(text: str, limit: int) -> str:
    """The start of a text, with a sign that there was more."""
    return text if len(text) <= limit else f"{text[: max(0, limit - 1)].rstrip()}…"
