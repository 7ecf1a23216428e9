"""A command line as a list of its single commands, read by the one grammar: what hard blocks, rules and grants see.

The risk is judged on the same tree, by walking it as a shell would (``shell``). What the grammar cannot read is torn
at whatever may part commands: too much is seen then, and never too little.
"""

import shlex
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from hermes_core.patterns import pattern
from hermes_core.values import frozen
from hermes_tool_guard.escapes import ansi_c
from hermes_tool_guard.grammar import Unparseable, parse

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["Single", "plain", "singles", "torn"]

_LONGEST = 20_000  # characters of a plain line
_RUNS = ("command_substitution", "process_substitution", "arithmetic_expansion")
_REDIRECTS = ("file_redirect", "herestring_redirect", "heredoc_redirect")
_SIMPLE = frozenset({"command", "declaration_command", "unset_command", "test_command", "variable_assignment"})
_SHELLS = ("sh", "bash", "zsh", "dash", "ksh", "su")
_CARRIES = pattern(r"-[a-z]*c$")
_FOREIGN = pattern(r"`|\$\(|\([\s\S]*[\"']")  # code of another language, or of a shell, may stand in a word
_DEPTH = 3  # how deep code inside code is read
# What decides nothing while it runs: words, quoted or bare, and what joins them.
_WORD = pattern(r"(?:'[^'\x00-\x1f\x7f]*'|\"[^\"$`\\\x00-\x1f\x7f]*\"|[A-Za-z0-9_@%+=:,./-])+")
_JOINED = pattern(r"[ \t]*(&&|\|\||;|\||\n)[ \t]*")
_PLAIN = ("command", "declaration_command", "unset_command")
_KEYWORDS = frozenset(
    {"if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "in", "function"}
    | {"select", "time", "coproc"}
)
_PARTS = pattern(r"(?:\|\||&&|(?<![<>])&|(?<!>)\||[;\n])")
_GROUPS = pattern(r"\$\(|[`()]|(?:^|\s)\{\s|\s\}")
_QUOTED_CODE = pattern(r"(?:-[a-z]*c|eval|<<<)\s*[\"']")


@frozen
class Single:
    """One command of a plain line: its words, what joins it to the one before, and what joins the next one to it."""

    words: tuple[str, ...]
    before: str = ""
    after: str = ""


@lru_cache(maxsize=8)  # asked for a command by several
def _read(line: str) -> "tuple[bytes, Node] | None":
    try:
        return parse(line.encode())
    except (Unparseable, UnicodeEncodeError):
        return None


# --- every command that a line may run ------------------------------------------------------------------------------


@lru_cache(maxsize=8)
def singles(line: str) -> tuple[tuple[str, ...], ...]:
    """The words of each command in a line, those inside ``$(…)``, ``sh -c`` and here-documents too, as they come.

    Quotes are taken off; what is expanded stands as it was written, up to the first substitution in a word.
    Redirections are words of their command.
    """
    return tuple(_singles(line, 0))


def _singles(line: str, depth: int) -> Iterator[tuple[str, ...]]:
    found = _read(line.replace("\\\n", " ")) if line.isascii() or "\\\n" not in line else _read(line)
    if found is None:
        for piece in torn(line, depth):
            yield piece
            yield from _carried(piece, depth)
        return
    for words, body in _commands(*found):
        yield words
        yield from _carried(words, depth)
        if body and depth < _DEPTH:
            yield from _singles(body, depth + 1)


def _carried(words: tuple[str, ...], depth: int) -> Iterator[tuple[str, ...]]:
    """The commands in a text that a command runs."""
    shell = any(word.rpartition("/")[2] in _SHELLS for word in words)
    for word, after in pairwise(words) if depth < _DEPTH else ():
        if (shell and _CARRIES.match(word)) or word in ("eval", "<<<"):
            yield from _singles(after, depth + 1)
    for word in words:
        if _FOREIGN.search(word):
            yield from torn(word)


def _commands(source: bytes, root: "Node") -> Iterator[tuple[tuple[str, ...], str]]:
    """The words of each command in a tree, and the here-document that it reads."""
    todo: list[Node | tuple[tuple[str, ...], str]] = [root]
    last: tuple[str, ...] = ()
    while todo:
        node = todo.pop()
        if isinstance(node, tuple):  # the grammar redirects a whole list, and the shell its last command
            yield (*last, *node[0]), node[1]
            continue
        kind, inner = node.type, list(node.children)
        if kind == "array":  # a command may be made of it
            yield tuple(word for child in inner if child.is_named for word in _word(source, child)), ""
        elif kind in _SIMPLE:
            last = tuple(_words(source, node))
            yield last, ""
        elif kind == "redirected_statement":
            targets = [child for child in inner if child.type in _REDIRECTS]
            bodies = [_text(source, part) for one in targets for part in one.children if part.type == "heredoc_body"]
            words = tuple(word for one in targets for word in _redirected(source, one))
            body = next((child for child in inner if child not in targets), None)
            if body is not None and body.type in _SIMPLE:
                last = tuple(_words(source, body))
                inner = [*body.children, *targets]
                yield (*last, *words), "\n".join(bodies)
            else:
                last = ()
                todo.append((words, "\n".join(bodies)))
        todo += reversed(inner)


def _words(source: bytes, node: "Node") -> Iterator[str]:
    if node.type == "variable_assignment":
        yield from _word(source, node)
        return
    for child in node.children:
        if child.type in _REDIRECTS:
            yield from _redirected(source, child)
        else:
            yield from _word(source, child)


def _redirected(source: bytes, node: "Node") -> Iterator[str]:
    """A redirection as it was written: ``2>x`` is one word, ``2> x`` is two."""
    word, end = "", node.start_byte
    for child in node.children:
        if child.type in ("heredoc_body", "heredoc_end", "\n"):
            continue
        if word and child.start_byte > end:
            yield word
            word = ""
        word, end = word + "".join(_word(source, child)), child.end_byte
    yield word


def _word(source: bytes, node: "Node") -> Iterator[str]:
    """A word without its quotes, up to where something is run for it; nothing where that is its beginning."""
    end = min((one.start_byte for one in _inside(node) if one.type in _RUNS), default=node.end_byte)
    text = source[node.start_byte : end].decode(errors="replace")
    if node.type == "ansi_c_string":
        yield ansi_c(text[2:-1])
    elif end == node.end_byte or text.strip("\"'"):
        yield _unquoted(text)


def _inside(node: "Node") -> Iterator["Node"]:
    todo = [node]
    while todo:
        one = todo.pop()
        yield one
        todo += one.children


def _unquoted(text: str) -> str:
    if not any(sign in text for sign in "'\"\\"):
        return text
    try:
        return " ".join(shlex.split(text, comments=False))
    except ValueError:  # cut off inside of its quotes
        return text.replace('"', "").replace("'", "")


def _text(source: bytes, node: "Node") -> str:
    return source[node.start_byte : node.end_byte].decode(errors="replace")


def torn(line: str, depth: int = 0) -> Iterator[tuple[str, ...]]:
    """The words between all that may part commands, for a text that is no shell that the grammar reads."""
    line = line.replace("\\\n", " ")
    split = _PARTS.split(_GROUPS.sub(" ; ", line) if depth < _DEPTH else line)
    whole = [line] if len(split) > 1 and _QUOTED_CODE.search(line) else []  # it was split inside its quotes too
    for piece in (*split, *whole):
        try:
            yield tuple(shlex.split(piece, comments=False) if any(sign in piece for sign in "'\"\\") else piece.split())
        except ValueError:
            yield tuple(piece.split())


# --- plain lines ----------------------------------------------------------------------------------------------------


def plain(line: str) -> list[Single] | None:
    """The single commands of a line, or None when it is not plain.

    Plain is words, quoted or bare, joined by ``&&``, ``||``, ``;``, ``|``. Variables, substitutions, redirections,
    globs, escapes, background jobs and keywords decide while they run what runs; whoever remembers something about a
    command must be able to read all of it.
    """
    line = line.strip()
    found = _read(line) if line and len(line) <= _LONGEST else None
    if found is None:
        return None
    source, root = found
    nodes = list(_flat(root))
    edges = [0, *(edge for node in nodes for edge in (node.start_byte, node.end_byte)), len(source)]
    gaps = [source[a:b].decode() for a, b in zip(edges[::2], edges[1::2], strict=True)]
    joints = [_JOINED.fullmatch(gap) for gap in gaps[1:-1]]
    words = [_plain_words(source, node) for node in nodes]
    if not nodes or gaps[0] or gaps[-1] or not all(joints) or not all(words):
        return None
    marks = ["", *(joint[1] for joint in joints if joint), ""]
    return [Single(tuple(one or ()), *around) for one, around in zip(words, pairwise(marks), strict=True)]


def _flat(node: "Node") -> Iterator["Node"]:
    """The commands that stand side by side, or whatever else stands there."""
    for child in node.children:
        if child.type in ("list", "pipeline"):
            yield from _flat(child)
        elif child.is_named:
            yield child


def _plain_words(source: bytes, node: "Node") -> list[str] | None:
    """The words of a command; none of what is no command, or says more than its words."""
    words, end = list[str](), node.start_byte
    for child in node.children if node.type in _PLAIN else ():
        text, gap = _text(source, child), source[end : child.start_byte]
        if not _WORD.fullmatch(text) or gap.strip(b" \t") or (words and not gap):
            return None
        words.append("".join(shlex.split(text)))
        end = child.end_byte
    first = words[0] if words else ""
    return words if first and "=" not in first and first not in _KEYWORDS else None
