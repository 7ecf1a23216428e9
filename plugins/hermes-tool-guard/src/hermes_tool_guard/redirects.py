"""Redirections: where output goes, where input comes from."""

import os
import re
from typing import TYPE_CHECKING

from hermes_tool_guard.escapes import unquoted
from hermes_tool_guard.judgement import DERIVED, OPAQUE, Class
from hermes_tool_guard.run import Run

if TYPE_CHECKING:
    from tree_sitter import Node

    from hermes_tool_guard.scene import Folders
    from hermes_tool_guard.shell import Shell

__all__ = ["REDIRECTS", "redirect"]

REDIRECTS = ("file_redirect", "heredoc_redirect", "herestring_redirect")

_DUPLICATE = re.compile(r"\d+-?|-")


# A descriptor that the grammar takes for a word of the command: sh 0<<< text, sh {x}< file.
_DESCRIPTOR = re.compile(rb"(?<![^\s;|&()<>])(?:\d+|\{\w+\})$")


def redirect(
    shell: "Shell", node: "Node", folders: "Folders", stdin: str | None
) -> "tuple[str | None, list[Node], bool]":
    """Judge one redirection: what standard input is now, statements found inside, and whether output goes elsewhere."""
    if _DESCRIPTOR.search(shell.source[: node.start_byte][-20:]):
        shell._misread()
    if node.type != "file_redirect" and any(child.type == "file_descriptor" for child in node.children):
        shell._misread()  # text for a descriptor; which one it is, the grammar does not always say
    if node.type == "heredoc_redirect":
        return _heredoc(shell, node, folders)
    if node.type == "herestring_redirect":
        values = shell.words.single(node.children[-1])
        return (values[0] if len(values) == 1 else DERIVED), [], False
    operator = next((c.type for c in node.children if "<" in c.type or ">" in c.type), "")
    descriptor = next((shell.words.text(c) for c in node.children if c.type == "file_descriptor"), "")
    targets = node.children_by_field_name("destination")[:1]  # what follows are words of the command
    if not targets:
        if operator not in (">&-", "<&-"):
            shell.scene.ask(Class.UNCLEAR, "redirects in a way that the guard cannot read")
        return stdin, [], False
    if operator not in ("<", ">", ">>", ">|", "&>", "&>>", ">&", "<&"):
        shell.scene.ask(Class.UNCLEAR, "redirects in a way that the guard cannot read")
    run = Run(shell.scene, ["redirection"], folders, None)
    elsewhere, shell._targets = False, []
    for target in targets:
        for word in (field for one in shell.words.fields(target) for field in one or [OPAQUE]):
            if operator in (">&", "<&") and _DUPLICATE.fullmatch(word):
                continue
            if operator in ("<", "<&"):
                run.read(word)
                stdin = DERIVED if descriptor in ("", "0") else stdin
            else:
                run.write(word, keeps=">>" in operator)
                shell._targets += map(os.path.normpath, shell.scene.places.absolute(word, folders))
                elsewhere = elsewhere or descriptor in ("", "1")
    return stdin, [], elsewhere


def _heredoc(shell: "Shell", node: "Node", folders: "Folders") -> "tuple[str | None, list[Node], bool]":
    start = body = end = None
    nested: list[Node] = []
    kept: list[str] = []
    writes = False
    for child in node.children:
        if child.type == "heredoc_start":
            start = child
        elif child.type == "heredoc_body":
            body = child
        elif child.type == "heredoc_end":
            end = child
        elif child.type in ("file_redirect", "herestring_redirect"):
            writes = redirect(shell, child, folders, None)[2] or writes
            if len(child.children_by_field_name("destination")) > 1:
                shell.scene.ask(Class.UNCLEAR, "has words behind a here-document")
            kept += shell._targets
        elif child.type == "pipeline" or child.is_named:
            if child.type in (
                "word",
                "string",
                "raw_string",
                "concatenation",
                "number",
                "simple_expansion",
                "expansion",
            ):
                shell.scene.ask(Class.UNCLEAR, "has words behind a here-document")
            elif child.type != "file_descriptor":
                nested.append(child)
    text = _checked(shell, node, start, body, end)
    shell._targets = kept
    return text, nested, writes


def _checked(shell: "Shell", node: "Node", start: "Node | None", body: "Node | None", end: "Node | None") -> str:
    """The text of a here-document, after making sure that it ends where the shell ends it."""
    if start is None or end is None:
        shell.scene.ask(Class.UNCLEAR, "has a here-document that the guard cannot read")
        return DERIVED
    written = shell.words.text(start)
    delimiter = unquoted(re.sub(r"['\"]", "", written))
    tabs = node.children[0].type == "<<-" or (len(node.children) > 1 and node.children[1].type == "<<-")
    source = shell.source.decode(errors="replace") if body is None else shell.words.text(body)
    lines = [] if body is None else source.split("\n")
    lines = [line.lstrip("\t") for line in lines] if tabs else lines
    line_start = shell.source.rfind(b"\n", 0, end.start_byte) + 1
    line_end = shell.source.find(b"\n", end.end_byte)
    last = shell.source[line_start : len(shell.source) if line_end < 0 else line_end].decode(errors="replace")
    if (
        not re.fullmatch(r"[\w.-]+", delimiter)
        or (last.lstrip("\t") if tabs else last) != delimiter
        or delimiter in lines
    ):
        shell.scene.ask(Class.UNCLEAR, "has a here-document that the guard cannot read")
    if body is None:
        return "\n"
    if re.search(r"['\"\\]", written):
        return "\n".join(lines)
    values = shell.words.body(body)
    text = values[0] if len(values) == 1 else DERIVED
    return "\n".join(line.lstrip("\t") for line in text.split("\n")) if tabs else text
