"""Single commands and assignments: their words expanded, their redirections judged, their programs run."""

import re
from typing import TYPE_CHECKING

from hermes_tool_guard import environment as steering
from hermes_tool_guard import hidden
from hermes_tool_guard.branches import both
from hermes_tool_guard.judgement import DERIVED, OPAQUE, UNKNOWN, Class
from hermes_tool_guard.redirects import REDIRECTS, redirect
from hermes_tool_guard.run import Run, run
from hermes_tool_guard.scene import Ends, Folders
from hermes_tool_guard.words import alternatives

if TYPE_CHECKING:
    from tree_sitter import Node

    from hermes_tool_guard.shell import Shell

__all__ = ["assigned", "command", "declared", "named", "test", "unset"]

_PLAIN = re.compile(rb"[\w./:,@%+-][\w./:=,@%+ \t-]*")
_ASSIGNED = re.compile(rb"[\w]+\+?=")


def assigned(
    shell: "Shell", node: "Node", folders: Folders, _stdin: str | None = None, *, prefix: bool = False
) -> Ends:
    """``a=b``, by itself or before a command."""
    shell._folders = folders
    if node.type == "variable_assignments":
        for child in node.children:
            assigned(shell, child, folders)
        return folders, folders
    name = node.child_by_field_name("name")
    value = node.child_by_field_name("value")
    label = shell.words.text(name).partition("[")[0] if name is not None else ""
    if value is None:
        values = [""]
    elif value.type == "array":
        elements = [shell._expanded(c) for c in value.children if c.is_named]
        values = [f for element in elements for one in element for f in one] or [""]
        known = all(len(element) == 1 for element in elements)
        if b"+=" not in shell.source[node.start_byte : node.start_byte + len(label) + 2]:
            shell.scene.variables.add(f"{label}[@]", ["\ue100".join(values) if known else DERIVED])
    else:
        shell.scene.step()
        values = shell.words.single(value)
    if value is not None and shell.source[value.start_byte - 1 : value.start_byte] != b"=":
        shell._misread()
    if name is not None and name.type == "subscript":
        shell.words.calculated(name)
        shell.scene.variables.add(f"{label}[@]", [DERIVED])
    if b"+=" in shell.source[node.start_byte : node.start_byte + len(label) + 2]:
        old = shell.scene.variables.get(f"{label}[@]")
        more = [f"{one}\ue100{new}" for one in old for new in ("\ue100".join(values),)] if len(old) < 4 else [DERIVED]
        shell.scene.variables.add(f"{label}[@]", more)
        values = [DERIVED, *(old + new for old in shell.scene.variables.get(label) for new in values)]

    if "1" in shell.words.values(f"{label} -i"):  # declared to be a number
        for text in values:
            shell.words.evaluated(text)
    steering.assigned(shell.scene, label, values, prefix=prefix)
    shell.scene.variables.add(label, values)
    shell._output = ""
    return folders, folders


def declared(shell: "Shell", node: "Node", folders: Folders, _stdin: str | None) -> Ends:
    """declare, export, local, readonly, typeset."""
    shell._folders = folders
    words = [shell.words.text(node.children[0])]
    for child in node.children[1:]:
        if child.type == "variable_assignment":
            hidden.declared(shell.scene, folders, [*words, shell.words.text(child.children[0])])
            assigned(shell, child, folders)
            if b"{" in shell.source[child.start_byte : child.end_byte]:  # export a={b,c}: braces work here
                name = shell.words.text(child).partition("=")[0]
                shell.scene.variables.add(name, [OPAQUE])
        else:
            words += [field for one in shell._expanded(child) for field in one]
    hidden.declared(shell.scene, folders, words[1:])
    if any(re.fullmatch(r"-[a-zA-Z]*[nf][a-zA-Z]*", w) for w in words[1:]) and words[0] != "export":
        shell.scene.ask(Class.UNCLEAR, f"changes what names mean with {words[0]}")
    for word in words[1:]:
        name, eq, value = word.partition("=")
        if any(c in name for c in UNKNOWN):
            shell.scene.ask(Class.UNCLEAR, f"gives {words[0]} a name that is only known when it runs")
        elif eq:
            steering.assigned(shell.scene, name, [value], prefix=False)
            shell.scene.variables.add(name, [value])
    shell._output = ""
    return folders, folders


def unset(shell: "Shell", node: "Node", folders: Folders, _stdin: str | None) -> Ends:
    """``unset``."""
    shell._folders = folders
    for child in node.children[1:]:
        for name in (field for one in shell._expanded(child) for field in one):
            hidden.named(shell.scene, folders, name, ["\0"])
            shell.scene.variables.add(name, [""])
    shell._output = ""
    return folders, folders


def test(shell: "Shell", node: "Node", folders: Folders, _stdin: str | None) -> Ends:
    """``[ … ]`` and ``[[ … ]]``."""
    shell._folders = folders
    shell.words._inner(node)
    for text in hidden.tested(shell.words, node):
        shell.words.evaluated(text)
    shell.scene.found.programs["["] = None
    shell.scene.note(Class.READ)
    shell._output = ""
    return folders, folders


def command(shell: "Shell", node: "Node", folders: Folders, stdin: str | None) -> Ends:
    """One command with its words."""
    text = shell.source[node.start_byte : node.end_byte]
    dash = ["-"] if node.end_byte == shell._dash else []
    late, shell._late = shell._late, []
    if not late and _PLAIN.fullmatch(text) and not _ASSIGNED.match(text):
        return _run(shell, [*text.decode().split(), *dash], folders, stdin)
    shell._folders = folders
    words: list[list[list[str]]] = []
    prefixes: list[Node] = []
    end, elsewhere = node.start_byte, False
    for child in node.children:
        kind = child.type
        if kind == "variable_assignment":
            prefixes.append(child)
        elif kind == "subshell" and words == [[["time"]]]:
            shell.scene.found.programs["time"] = None
            return shell._subshell(child, folders, stdin)
        elif kind in REDIRECTS:
            stdin, _, writes = redirect(shell, child, folders, stdin)
            elsewhere = elsewhere or writes
        else:
            _touching(shell, node, child, end, words, bool(prefixes))
            if kind == "command_name" and child.child_count:
                _computed(shell, child)
                child = child.children[0]  # noqa: PLW2901 - the word inside
            words.append(shell._expanded(child))
        _parted(shell, end, child.start_byte)
        end = child.end_byte
    if dash:
        words.append([dash])
    words += map(shell._expanded, late)
    before = shell.scene.variables.names()
    for prefix in prefixes:
        assigned(shell, prefix, folders, prefix=True)
    fresh = shell.scene.variables.names() - before
    return _each_way(shell, alternatives(words), fresh, folders, "" if elsewhere else None, stdin)


def _each_way(
    shell: "Shell", found: list[list[str]], fresh: set[str], folders: Folders, output: str | None, stdin: str | None
) -> Ends:
    """Run a command in each of the ways it may turn out."""
    ends: Ends = (folders, folders)
    if len(found) > 1:
        shell.scene.step(len(found))
        if len({one[0] if one else "" for one in found}) > 1:
            shell.scene.ask(Class.UNCLEAR, "decides at run time which program runs")
    outputs = set[str]()
    for argv in found:
        ok, failed = _run(shell, argv, folders, stdin)
        ends = (both(ends[0], ok), both(ends[1], failed)) if outputs else (ok, failed)
        outputs.add(shell._output)
    if len(outputs) > 1:
        shell._output = DERIVED
    if output is not None:
        shell._output = output
    if any(found):  # what stands before a command is set for it alone
        shell.scene.variables.perhaps(shell.scene.variables.names() - fresh)
    return ends


def _touching(
    shell: "Shell", node: "Node", child: "Node", end: int, words: list[list[list[str]]], prefixed: bool
) -> None:
    """Two words of the grammar without a blank between them are one of the shell."""
    apart = child.start_byte > end and shell.source[end : child.start_byte].replace(b"\\\n", b"")
    if apart or child.start_byte == node.start_byte or not (words or prefixed):
        return
    if words and words[-1] == [["$"]] and child.type == "string":  # $"…"
        words.pop()
    else:
        shell._misread()


def _parted(shell: "Shell", end: int, start: int) -> None:
    """Between the words of a command there are blanks, and no line ends but broken ones."""
    if start > end:
        shell._gap(end, start)
        if b"\n" in shell.source[end:start].replace(b"\\\n", b""):
            shell._misread()


def _computed(shell: "Shell", name: "Node") -> None:
    text = shell.source[name.start_byte : name.end_byte]
    if (b"(" in text or b"`" in text) and any(named(name, f"{kind}_substitution") for kind in ("command", "process")):
        shell.scene.ask(Class.UNCLEAR, "decides at run time which program runs")


def _run(shell: "Shell", argv: list[str], folders: Folders, stdin: str | None) -> Ends:
    if not argv:
        shell._output = ""
        return folders, folders
    one = Run(shell.scene, argv, folders, stdin)
    run(one)
    shell._output = one.output
    return one.ok, one.failed


def named(node: "Node", kind: str) -> "list[Node]":
    """All nodes of a kind below one."""
    found, todo = [], [node]
    while todo:
        one = todo.pop()
        if one.type == kind:
            found.append(one)
        todo += one.children
    return found
