"""CommonMark to the HTML that Matrix clients show. Nothing a model writes becomes a tag of its own."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

__all__ = ["html_of", "sound"]

_SCHEMES = ("https", "http", "ftp", "mailto", "magnet")
_PLAIN = {"text", "softbreak", "hardbreak", "text_special"}
_KEPT = {"a": ("href",), "ol": ("start",)}  # attributes by tag; Matrix allows more, none that is of use here


def sound(text: str) -> str:
    """The text without what no event can carry: NUL, and halves of characters."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def html_of(text: str) -> str:
    """The HTML of a message, or an empty string when it says no more than the text."""
    parser = _parser()
    tokens = parser.parse(text, {})
    if _is_plain(tokens):
        return ""
    for token in tokens:
        _tame(token)
    return str(parser.renderer.render(tokens, parser.options, {})).strip()


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    made = MarkdownIt("commonmark", {"html": False, "breaks": True, "linkify": False})
    return made.enable(["table", "strikethrough"])


def _is_plain(tokens: Sequence["Token"]) -> bool:
    """Whether it is nothing but one paragraph of words."""
    if [t.type for t in tokens] not in ([], ["paragraph_open", "inline", "paragraph_close"]):
        return False
    return all(c.type in _PLAIN for t in tokens for c in t.children or ())


def _tame(token: "Token") -> None:
    """Keep what Matrix's list of tags and attributes allows; the rest becomes text."""
    _bare(token)
    if token.children is None:
        return
    children: list[Token] = []
    dropped = False  # inside a link that is not wanted; links do not nest
    for child in token.children:
        if child.type == "link_open" and not _may_link(str(child.attrGet("href") or "")):
            dropped = True
        elif child.type == "link_close" and dropped:
            dropped = False
        elif child.type == "image":
            children.extend(_picture(child))
        else:
            _bare(child)
            children.append(child)
    token.children = children


def _bare(token: "Token") -> None:
    """Without attributes that are not wanted."""
    token.attrs = {k: v for k, v in token.attrs.items() if k in _KEPT.get(token.tag, ())}
    if token.type == "fence":
        token.info = "".join(c for c in token.info.strip().split(" ")[0] if c.isalnum() or c in "+-#._")


def _picture(token: "Token") -> list[Any]:
    """A link in place of a picture: Matrix shows only pictures that are on a homeserver."""
    from markdown_it.token import Token

    source = str(token.attrGet("src") or "")
    text = Token("text", "", 0, content=token.content or source)
    if not _may_link(source):
        return [text]
    return [Token("link_open", "a", 1, attrs={"href": source}), text, Token("link_close", "a", -1)]


def _may_link(address: str) -> bool:
    try:
        return urlsplit(address).scheme.lower() in _SCHEMES
    except ValueError:
        return False
