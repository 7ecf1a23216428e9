"""Code as rows: highlighted where the language is known, long lines folded with a mark and copied whole."""

from collections.abc import Iterable
from functools import cache, lru_cache
from threading import Thread
from typing import TYPE_CHECKING, Any

from hermes_platform_tui.markdown.clean import clean
from hermes_platform_tui.markdown.rows import Code, Line, Look, Row, framed, hard_rows
from hermes_platform_tui.markdown.source import Block
from hermes_platform_tui.markdown.width import clip

if TYPE_CHECKING:
    from pygments.lexer import Lexer  # type: ignore[import-untyped]

__all__ = ["code_rows", "highlighted", "warm"]

_CODE = Look(("block",))
_MARK = Look(("block", "muted"))
_LABEL = Look(("block", "label"))

# The nearest of a token's ancestors that is here says how it looks.
_ROLES = {
    "Comment": "comment",
    "Comment.Preproc": "keyword",
    "Keyword": "keyword",
    "Operator.Word": "keyword",
    "Literal.String": "string",
    "Literal.Number": "number",
    "Literal.Date": "number",
    "Keyword.Constant": "number",
    "Name.Function": "name",
    "Name.Class": "name",
    "Name.Namespace": "name",
    "Name.Decorator": "builtin",
    "Name.Builtin": "builtin",
    "Name.Exception": "builtin",
    "Name.Tag": "keyword",
    "Name.Attribute": "name",
    "Name.Variable": "builtin",
    "Generic.Inserted": "inserted",
    "Generic.Deleted": "deleted",
    "Generic.Heading": "name",
    "Generic.Subheading": "name",
    "Generic.Strong": "strong",
    "Generic.Emph": "em",
    "Generic.Prompt": "comment",
    "Generic.Output": "",
}
_BORING = frozenset(("", "text", "txt", "plain", "plaintext", "output", "none"))


@cache
def warm() -> None:
    """Import what colours code, beside the loop: it takes long enough to be felt when the first code is shown."""

    def load() -> None:
        for language in ("python", "javascript", "bash", "json", "diff", "yaml"):
            _lexer(language)

    Thread(target=load, name="hermes-tui-pygments", daemon=True).start()


@lru_cache(maxsize=64)
def _lexer(language: str) -> "Lexer | None":
    if language in _BORING:
        return None
    from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]

    try:
        return get_lexer_by_name(language, stripnl=False)  # with a line end at the end: many lexers need it
    except ClassNotFound:
        return None


@lru_cache(maxsize=512)
def _look(token: Any) -> Look:
    while token:
        role = _ROLES.get(".".join(token))
        if role is not None:
            return Look(("block", f"code-{role}")) if role else _CODE
        token = token.parent
    return _CODE


def _tokens(text: str, language: str) -> Iterable[tuple[Any, str]]:
    lexer = _lexer(language)
    if lexer is None:
        yield (), text
        return
    yield from lexer.get_tokens(text)


def highlighted(text: str, language: str, before: str = "") -> list[Line]:
    """The lines of the code. ``before`` is code that stands before it and decides on how it is read."""
    lines = [Line()]
    skip = before.count("\n") + 1 if before else 0
    for token, said in _tokens(f"{before}\n{text}" if before else text, language):
        look = _look(token)
        for place, part in enumerate(said.split("\n")):
            if place:
                lines.append(Line())
            if part:
                lines[-1].add(part, look)
    wanted = text.count("\n") + 1
    shown = lines[skip : skip + wanted]
    return shown + [Line() for _ in range(wanted - len(shown))]


def code_rows(block: Block, width: int) -> list[Row]:
    """The rows of a part of a code block, on a ground of their own."""
    before = block.before.text if block.before and not block.glued else ""
    rows: list[Row] = []
    language = clean(block.language).strip("{}.")
    if language.lower() not in _BORING and not block.continues:
        rows.append(Row([(" " + clip(language, width - 2), _LABEL)], fill=_CODE, drawn=True))
    for place, line in enumerate(highlighted(block.text, language.lower(), before)):
        parts = hard_rows(line, width - 2)
        glued = block.glued and place == 0
        framed(parts, [("↪ " if glued else "  ", _MARK)], [("↪ ", _MARK)])
        rows += parts
    code = Code(language, block.text, block.continues, block.glued)
    for row in rows:
        row.fill, row.code = _CODE, code
    return rows
