"""tree-sitter with the grammar of bash, loaded when first used and bounded in its work."""

import re
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

__all__ = ["LONGEST", "Unparseable", "parse"]

LONGEST = 64 * 1024  # bytes of a command; longer ones are asked about unread
SECONDS = 0.2  # the longest a parse may take; a whole hostile one of 64 KB would take minutes
# Invisible and look-alike characters: a person would read another command than the shell runs.
_DECEIVING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200c\u200e\u200f"
    "\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufeff\uffa0\ufff0-\uffff\ue000-\ue0ff\ud800-\udfff\U000e0000-\U000e0fff]"
)


_BEFORE_COMMENT = (b" ", b"\t", b"\n", b";", b"&", b"|", b"(", b")", b"")


_LATE = re.compile(  # the grammar does not read redirections between a here-document's word and a pipe
    rb"(?m)^([^'\"#\n<]*?)[ \t]*(<<-?[ \t]*(?:'[\w.-]+'|\"[\w.-]+\"|[\w.-]+))"
    rb"((?:[ \t]+(?:[012]?>>?[ \t]*/dev/null|&>[ \t]*/dev/null|[12]?>&[12]))+)"
    rb"(?=[ \t]*(?:\||&&|;|$))"
)


_HERE_STRING = re.compile(  # nor a here-string behind another redirection
    rb"((?:[12]?>>?|&>)[ \t]*(?:[\w./~${}-]+|\"[^\"\\`]*\"|'[^']*'))[ \t]+(<<<[ \t]*(?:'[^']*'|\"[^\"]*\"|[\w./$-]+))"
)
_BEGINS_COMMAND = (b"&&", b"||", b";", b"|", b"(", b"do ", b"then ", b"else ", b"{ ")


def reordered(source: bytes) -> bytes:
    """The same text with the redirections behind its first here-document put before it, where they mean the same."""
    if b"<<" not in source:
        return source
    if b"<<<" in source:
        return _HERE_STRING.sub(rb"\2 \1", source, count=1)
    first = _LATE.search(source)
    if first is None or b"<<" in source[: first.start(2)]:
        return source
    before = first[1]
    at = first.start(1) + max(before.rfind(mark) + len(mark) if mark in before else 0 for mark in _BEGINS_COMMAND)
    return b"".join((source[:at], first[3], b" ", source[at : first.end(2)], source[first.end() :]))


class Unparseable(Exception):
    """The text is no command that can be understood; the message continues a sentence that starts with "it"."""


# The grammar's scanner reads beyond its tables at characters above U+FFFF, and the process dies. To the shell any byte
# above 127 is a plain character of a word, and so is a percent sign; places in the source stay what they are.
_ASCII = bytes(range(128)) + b"%" * 128
_local = threading.local()  # a parser is one thread's


def _parser() -> "Parser":
    if not hasattr(_local, "parser"):
        import tree_sitter
        import tree_sitter_bash

        _local.parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
    parser: Parser = _local.parser
    return parser


def parse(source: bytes) -> "tuple[bytes, Node]":
    """A command as the grammar can read it, and its tree. Raises Unparseable."""
    try:
        return source, _tree(source)
    except Unparseable:
        plainer = reordered(source)
        if plainer == source:
            raise
        return plainer, _tree(plainer)


def _tree(source: bytes) -> "Node":
    """The tree of a command. Raises Unparseable when it has errors, deceives the eye, or is too long or too tangled."""
    if len(source) > LONGEST:
        raise Unparseable(f"is longer than {LONGEST // 1024} KB")
    if deceiving := _DECEIVING.search(source.decode(errors="replace")):
        raise Unparseable(f"holds the invisible character U+{ord(deceiving[0]):04X}")
    parser, source = _parser(), source if source.isascii() else source.translate(_ASCII)
    short = len(source) < 256  # so short that it cannot take long
    root = parser.parse(source).root_node if short else _bounded(parser, source)
    if root.has_error or (b"#" in source and not _comments_agree(root, source)):
        raise Unparseable("is not shell that the guard can read")
    return root


def _comments_agree(root: "Node", source: bytes) -> bool:
    """Whether comments begin where the shell begins them: the grammar also takes ``a=#b`` for one."""
    at = source.find(b"#")
    while at >= 0:
        node = root.descendant_for_byte_range(at, at + 1)
        if node is not None and node.start_byte == at and node.type in ("comment", "word"):
            begins = not at or source[at - 1 : at] in _BEFORE_COMMENT
            if begins != (node.type == "comment"):
                return False
            at = node.end_byte - 1  # what is inside of it begins nothing
        at = source.find(b"#", at + 1)
    return True


def _bounded(parser: "Parser", source: bytes) -> "Node":
    calls, most = 0, 100 + len(source) // 16
    until = time.monotonic() + SECONDS

    def stop(_offset: int, _failing: bool) -> bool:
        nonlocal calls
        calls += 1
        return calls > most or time.monotonic() > until

    try:
        return parser.parse(lambda offset, _: source[offset:], progress_callback=stop).root_node
    except ValueError:
        parser.reset()
        raise Unparseable("is too tangled to read") from None
