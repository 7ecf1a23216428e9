"""Code as rows: highlighted where the language is known, long lines folded with a mark and copied whole."""

from functools import cache, lru_cache
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from hermes_platform_tui.markdown.clean import clean
from hermes_platform_tui.markdown.inline import parser
from hermes_platform_tui.markdown.rows import Code, Line, Look, Row, framed, hard_rows
from hermes_platform_tui.markdown.source import Block
from hermes_platform_tui.markdown.width import clip

if TYPE_CHECKING:
    from pygments.lexer import Lexer  # type: ignore[import-untyped]

__all__ = ["code_rows", "warm"]

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
    """Import what reads text and colours code, beside the loop: it takes long enough to be felt when it is shown."""

    def load() -> None:
        parser()
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


class _Reading(NamedTuple):
    """Code as it was read, and what has to stand before the code that follows for it to be read rightly."""

    lines: list[Line]
    after: str


_AFTER: WeakKeyDictionary[Block, str] = WeakKeyDictionary()
_CONTEXT = 6  # lines
_COMMENTS = (("/*", "*/"), ("<!--", "-->"))
_PROBE = "qzxprobe"  # a word after the code: how it is read tells whether a comment or string goes on


def _read(text: str, language: str, before: str) -> _Reading:
    lines = [Line()]
    lexer = _lexer(language)
    if lexer is None:
        return _Reading([Line([(line, _CODE)] if line else []) for line in text.split("\n")], "")
    whole = f"{before}\n{text}" if before else text
    run, place = -1, 0  # where the comment or string at hand began
    # Many lexers see a comment only where it ends.
    ends = (" " + closing for opening, closing in _COMMENTS if whole.rfind(opening) > whole.rfind(closing))
    for token, said in lexer.get_tokens(f"{whole}\n{_PROBE}{next(ends, '')}"):
        if said.strip() or run < 0:
            run = (place if run < 0 else run) if _spans_lines(token) else -1
        place += len(said)
        look = _look(token)
        for number, part in enumerate(said.split("\n")):
            if number:
                lines.append(Line())
            if part:
                lines[-1].add(part, look)
    skip = before.count("\n") + 1 if before else 0
    wanted = text.count("\n") + 1
    lines = lines[skip : skip + wanted]
    lines += [Line() for _ in range(wanted - len(lines))]
    if 0 <= run < len(whole):
        return _Reading(lines, whole[run:].partition("\n")[0][:200])
    return _Reading(lines, "\n".join(text.split("\n")[-_CONTEXT:]))


def _spans_lines(token: tuple[str, ...]) -> bool:
    return token[:1] == ("Comment",) or token[:2] == ("Literal", "String")


def _read_part(block: Block, language: str) -> list[Line]:
    """The lines of a part of a code block, read as what goes on from the part before."""
    earlier = block.before
    if earlier is not None and earlier not in _AFTER:
        _AFTER[earlier] = _read(earlier.text, language, _AFTER.get(earlier.before, "") if earlier.before else "").after
    reading = _read(block.text, language, _AFTER[earlier] if earlier is not None and not block.glued else "")
    _AFTER[block] = reading.after
    return reading.lines


def code_rows(block: Block, width: int) -> list[Row]:
    """The rows of a part of a code block, on a ground of their own."""
    rows: list[Row] = []
    language = clean(block.language).strip("{}.")
    if language.lower() not in _BORING and not block.continues:
        rows.append(Row([("  " + clip(language, width - 2), _LABEL)], fill=_CODE, drawn=True))
    for place, line in enumerate(_read_part(block, language.lower())):
        parts = hard_rows(line, width - 2)
        glued = block.glued and place == 0
        framed(parts, [("↪ " if glued else "  ", _MARK)], [("↪ ", _MARK)])
        rows += parts
    code = Code(language, block.text, block.continues, block.glued)
    for row in rows:
        row.fill, row.code = _CODE, code
    return rows
