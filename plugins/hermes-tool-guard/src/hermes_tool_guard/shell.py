"""Walks the tree of a command as the shell would run it: who runs where, with what, after what."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hermes_tool_guard.grammar import Unparseable, parse
from hermes_tool_guard.judgement import DERIVED, OPAQUE, UNKNOWN, Class
from hermes_tool_guard.run import Run, run
from hermes_tool_guard.scene import DEPTH, Folders, Scene
from hermes_tool_guard.words import NOTHING, Words, alternatives

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["Shell", "judge_code"]

_PLAIN = re.compile(rb"[\w./:,@%+-][\w./:=,@%+ \t-]*")
_ASSIGNED = re.compile(rb"[\w]+\+?=")
_BLANK = b" \t\n;"
_REDIRECTS = ("file_redirect", "heredoc_redirect", "herestring_redirect")
_SILENT = frozenset(
    {"comment", ";", "&", "&&", "||", "|", "|&", "\n", ";;", ";&", ";;&", "(", ")", "{", "}", "do", "done"}
)
_SILENT |= {
    "if",
    "then",
    "fi",
    "else",
    "elif",
    "while",
    "until",
    "for",
    "select",
    "in",
    "case",
    "esac",
    "function",
    "!",
}
_SILENT |= {"((", "))", "$(", "`", "<(", ">(", ")"}
_SPACED = ("declaration_command", "unset_command", "for_statement", "case_statement")
_ENDS_CASE = frozenset({";;", ";&", ";;&"})
Ends = tuple[Folders, Folders]  # the folders after it went well, and after it failed


def judge_code(scene: Scene, code: str, folders: Folders, stdin: str | None = None) -> Folders:
    """Judge a text that a shell will run; the folders afterwards. Raises Decided."""
    if any(c in code for c in UNKNOWN):
        scene.ask(Class.UNCLEAR, "runs code that is only known when it runs")
        code = code.replace(OPAQUE, "${_unknown_}").replace(DERIVED, "${_unknown_}")
    if scene.depth >= DEPTH:
        scene.ask(Class.UNCLEAR, "runs code inside code, too deep to follow")
        return folders
    scene.step(5)
    source = code.encode("utf-8", "surrogateescape")
    try:
        root = parse(source)
    except Unparseable as error:
        scene.ask(Class.UNCLEAR, str(error))
        return folders
    scene.depth += 1
    try:
        shell = Shell(scene, source)
        shell._gap(0, root.start_byte)
        shell._gap(root.end_byte, len(source))
        ok, failed = shell.walk(root, folders, stdin)
    finally:
        scene.depth -= 1
    return _both(ok, failed)


class Shell:
    """The commands of one source."""

    def __init__(self, scene: Scene, source: bytes) -> None:
        self.scene = scene
        self.source = source
        self.words = Words(source, scene.variables, self._substitute, self._misread)
        self._folders: Folders = ()
        self._output: str = ""
        self._level = 0

    def _misread(self) -> None:
        self.scene.ask(Class.UNCLEAR, "is not shell that the guard can read")

    def walk(self, node: "Node", folders: Folders, stdin: str | None = None) -> Ends:
        """Judge a statement. ``stdin`` is what it reads, if anything; unknown parts are marked."""
        self.scene.step()
        self._level += 1
        if self._level > 60:
            self.scene.ask(Class.UNCLEAR, "is nested too deeply to follow")
            return folders, folders
        try:
            method = _STATEMENTS.get(node.type)
            if method is None:
                self.scene.ask(Class.UNCLEAR, "uses shell syntax that the guard does not know")
                return folders, folders
            if node.type != "command":
                self._gaps(node)
            return method(self, node, folders, stdin)
        finally:
            self._level -= 1

    # --- sequences ------------------------------------------------------------------------------------------------

    def _sequence(self, node: "Node", folders: Folders, stdin: str | None) -> Ends:
        """Statements one after another: a whole source, a group, the body of a loop."""
        ok = failed = folders
        outputs: list[str] = []
        joined, end = False, node.start_byte
        children = node.children
        for child, after in zip(children, [*children[1:], None], strict=False):
            kind = child.type
            if kind in _SILENT:
                joined = False
                if kind in _ENDS_CASE and node.type != "case_item":
                    self.scene.ask(Class.UNCLEAR, "is not shell that the guard can read")
                continue
            if joined and child.start_byte > end and b"\n" not in self.source[end : child.start_byte]:
                self._misread()  # two statements with nothing between them
            joined, end = True, child.end_byte
            before = _both(ok, failed)
            if kind in _REDIRECTS:  # $(<file)
                self._redirected(node, folders, stdin)
                self._output = DERIVED
                return folders, folders
            if after is not None and after.type == "&":  # it runs in a shell of its own
                with self.scene.perhaps():
                    self.walk(child, before, stdin)
                ok = failed = before
            else:
                ok, failed = self.walk(child, before, stdin)
            outputs.append(self._output)
        self._output = "".join(outputs) if all(outputs) else DERIVED
        return ok, failed

    def _gaps(self, node: "Node") -> None:
        end, named = node.start_byte, False
        for child in node.children:
            if child.start_byte > end:
                self._gap(end, child.start_byte)
                if named and child.is_named and not self.source[end : child.start_byte].replace(b"\\\n", b""):
                    self._misread()  # a word broken over two lines
            elif named and child.is_named and node.type in _SPACED:
                self._misread()
            end, named = child.end_byte, child.is_named
        if end < node.end_byte:
            self._gap(end, node.end_byte)

    def _gap(self, start: int, end: int) -> None:
        """Between two parts there may only be blanks; else grammar and shell read it differently."""
        if end > start and self.source[start:end].replace(b"\\\n", b"").strip(_BLANK):
            self.scene.ask(Class.UNCLEAR, "is not shell that the guard can read")

    def _list(self, node: "Node", folders: Folders, stdin: str | None) -> Ends:
        left, operator, right = [c for c in node.children if c.type != "comment"][:3]
        ok, failed = self.walk(left, folders, stdin)
        with self.scene.perhaps():
            if operator.type == "&&":
                ok, late = self.walk(right, ok, stdin)
                result = ok, _both(failed, late)
            else:
                late, failed = self.walk(right, failed, stdin)
                result = _both(ok, late), failed
        self._output = DERIVED
        return result

    def _pipeline(self, node: "Node", folders: Folders, stdin: str | None) -> Ends:
        for child in node.children:
            if child.type in _SILENT:
                continue
            self._output = DERIVED
            with self.scene.perhaps():
                self.walk(child, folders, stdin)
            stdin = self._output
        return folders, folders

    def _subshell(self, node: "Node", folders: Folders, stdin: str | None) -> Ends:
        with self.scene.perhaps():
            self._sequence(node, folders, stdin)
        return folders, folders

    def _negated(self, node: "Node", folders: Folders, stdin: str | None) -> Ends:
        ok, failed = self.walk(node.children[-1], folders, stdin)
        return failed, ok

    def _branches(self, node: "Node", folders: Folders, stdin: str | None) -> Ends:
        """if and elif: any part may be skipped, so all that came before may still hold."""
        possible = folders
        for child in node.children:
            if child.type not in _SILENT:
                with self.scene.perhaps():
                    possible = _both(possible, *self.walk(child, possible, stdin))
        self._output = DERIVED
        return possible, possible

    def _loop(self, node: "Node", folders: Folders, stdin: str | None) -> Ends:
        """Walked until nothing changes: what the body does may change what it does the next time."""
        self._folders = folders
        names = node.child_by_field_name("variable")
        if names is not None:
            values = [f for n in node.children_by_field_name("value") for one in self.words.fields(n) for f in one]
            self.scene.variables.add(self.words.text(names), values or [DERIVED])
        parts = [c for c in node.children if c.type in _STATEMENTS and c.type not in _SILENT]
        if node.type == "c_style_for_statement":
            self._numbers(node)
            parts = [c for c in parts if c.type in ("do_group", "compound_statement")]
        possible, variables = folders, self.scene.variables
        for turn in range(3):
            before, variables.grown = possible, set()
            with self.scene.perhaps():
                for part in parts:
                    possible = _both(possible, *self.walk(part, possible, stdin or DERIVED))
            if possible == before and not variables.grown:
                break
            if turn == 1:  # it may grow with every turn
                for name in variables.grown:
                    variables.add(name, [DERIVED])
        self._output = DERIVED
        return possible, possible

    def _numbers(self, node: "Node") -> None:
        for child in node.children:
            if child.type == "variable_assignment":
                self.scene.variables.add(self.words.text(child).partition("=")[0], [DERIVED])
            elif child.type not in ("do_group", "compound_statement"):
                self.words._inner(child)

    def _case(self, node: "Node", folders: Folders, stdin: str | None) -> Ends:
        possible = self._folders = folders
        for value in node.children_by_field_name("value"):
            self._expanded(value)
        for item in node.children:
            if item.type == "case_item":
                ok = failed = folders
                self._gaps(item)
                known = self.scene.variables.names()
                for child in item.children:
                    if child.type in _STATEMENTS:
                        ok, failed = self.walk(child, _both(ok, failed), stdin)
                    elif child.type not in _SILENT:
                        self._expanded(child)
                self.scene.variables.perhaps(known)
                possible = _both(possible, ok, failed)
        self._output = DERIVED
        return possible, possible

    def _function(self, node: "Node", folders: Folders, _stdin: str | None) -> Ends:
        """A function is judged when it is written down, and again with its arguments when it is called."""
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None or body is None:
            self.scene.ask(Class.UNCLEAR, "defines a function that the guard cannot read")
            return folders, folders
        label = self.words.text(name)
        if any(label == self.words.text(n) for n in _named(body, "command_name")) and re.search(
            rf"\b{re.escape(label)}\s*\|\s*{re.escape(label)}\b", self.words.text(body)
        ):
            self.scene.deny(Class.PROCESSES, "is a fork bomb")
        if any(label == self.words.text(n) for n in _named(body, "command_name")):
            self.scene.ask(Class.PROCESSES, f"defines the function {label}, which runs itself")
            if b"&" in self.source[body.start_byte : body.end_byte]:
                self.scene.deny(Class.PROCESSES, "is a fork bomb")
        with self.scene.perhaps():
            self.walk(body, folders, DERIVED)
        self.scene.functions[label] = (self, body)
        self._output = DERIVED
        return folders, folders

    def call(self, body: "Node", arguments: Sequence[str], folders: Folders, stdin: str | None) -> Ends:
        """Run a function of this source with arguments."""
        given = {str(i): [a] for i, a in enumerate(arguments[:9], 1)}
        given |= {"@": ["\ue100".join(arguments) or NOTHING], "*": [" ".join(arguments)], "#": [str(len(arguments))]}
        before = self.scene.variables.swap(given)
        self.scene.depth += 1
        try:
            if self.scene.depth >= DEPTH:
                self.scene.ask(Class.UNCLEAR, "calls functions too deep to follow")
                return folders, folders
            return self.walk(body, folders, stdin)
        finally:
            self.scene.depth -= 1
            self.scene.variables.swap(before)

    # --- words ----------------------------------------------------------------------------------------------------

    def _substitute(self, node: "Node") -> str:
        """Judge what a substitution runs; its output, if that is known."""
        text = self.source[node.start_byte : node.end_byte].decode(errors="replace")
        folders, output = self._folders, self._output
        try:
            if text.startswith("`"):
                inner = re.sub(r"\\([`\\$])", r"\1", text[1:-1])
                judge_code(self.scene, inner, folders)
                return DERIVED
            self._output = ""
            self._gaps(node)
            with self.scene.perhaps():
                self._sequence(node, folders, None)
            return self._output or DERIVED if node.type == "command_substitution" else DERIVED
        finally:
            self._folders, self._output = folders, output

    def _expanded(self, node: "Node") -> list[list[str]]:
        self.scene.step()
        return self.words.fields(node)

    def _assigned(self, node: "Node", folders: Folders, _stdin: str | None = None, *, prefix: bool = False) -> Ends:
        self._folders = folders
        if node.type == "variable_assignments":
            for child in node.children:
                self._assigned(child, folders)
            return folders, folders
        name = node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        label = self.words.text(name).partition("[")[0] if name is not None else ""
        if value is None:
            values = [""]
        elif value.type == "array":
            values = [f for c in value.children if c.is_named for one in self._expanded(c) for f in one] or [""]
        else:
            self.scene.step()
            values = self.words.single(value)
        if value is not None and self.source[value.start_byte - 1 : value.start_byte] != b"=":
            self._misread()
        if name is not None and name.type == "subscript":
            self.words._inner(name)
        if b"+=" in self.source[node.start_byte : node.start_byte + len(label) + 2]:
            values = [DERIVED, *(old + new for old in self.scene.variables.get(label) for new in values)]
        from hermes_tool_guard.environment import assigned

        assigned(self.scene, label, values, prefix=prefix)
        self.scene.variables.add(label, values)
        self._output = ""
        return folders, folders

    def _declared(self, node: "Node", folders: Folders, _stdin: str | None) -> Ends:
        """declare, export, local, readonly, typeset."""
        self._folders = folders
        words = [self.words.text(node.children[0])]
        for child in node.children[1:]:
            if child.type == "variable_assignment":
                self._assigned(child, folders)
                if b"{" in self.source[child.start_byte : child.end_byte]:  # export a={b,c}: braces work here
                    name = self.words.text(child).partition("=")[0]
                    self.scene.variables.add(name, [OPAQUE])
            else:
                words += [field for one in self._expanded(child) for field in one]
        if any(re.fullmatch(r"-[a-zA-Z]*[nf][a-zA-Z]*", w) for w in words[1:]) and words[0] != "export":
            self.scene.ask(Class.UNCLEAR, f"changes what names mean with {words[0]}")
        for word in words[1:]:
            name, eq, value = word.partition("=")
            if eq:
                from hermes_tool_guard.environment import assigned

                assigned(self.scene, name, [value], prefix=False)
                self.scene.variables.add(name, [value])
            elif any(c in word for c in UNKNOWN):
                self.scene.ask(Class.UNCLEAR, f"gives {words[0]} a name that is only known when it runs")
        self._output = ""
        return folders, folders

    def _unset(self, node: "Node", folders: Folders, _stdin: str | None) -> Ends:
        self._folders = folders
        for child in node.children[1:]:
            for name in (field for one in self._expanded(child) for field in one):
                self.scene.variables.add(name, [""])
        self._output = ""
        return folders, folders

    def _test(self, node: "Node", folders: Folders, _stdin: str | None) -> Ends:
        self._folders = folders
        self.words._inner(node)
        self.scene.programs["["] = None
        self.scene.note(Class.READ)
        self._output = ""
        return folders, folders

    # --- commands and redirections -------------------------------------------------------------------------------

    def _redirected(self, node: "Node", folders: Folders, stdin: str | None) -> Ends:
        from hermes_tool_guard.redirects import redirect

        body, after, out = None, [], False
        self._folders = folders
        for child in node.children:
            if child.type in _REDIRECTS:
                stdin, nested, writes = redirect(self, child, folders, stdin)
                after += nested
                out = out or writes
            elif child.type not in _SILENT:
                body = child
        ends: Ends = (folders, folders)
        self._output = ""
        if body is not None:
            ends = self.walk(body, folders, stdin)
        if out:
            self._output = ""
        for statement in after:  # the rest of a line whose here-document starts below it
            given = self._output
            ends = self.walk(statement, _both(*ends), given or None)
        return ends

    def _compound(self, node: "Node", folders: Folders, stdin: str | None) -> Ends:
        if node.children and node.children[0].type == "((":
            self._folders = folders
            self.words._inner(node)
            self._output = ""
            return folders, folders
        return self._sequence(node, folders, stdin)

    def command(self, node: "Node", folders: Folders, stdin: str | None) -> Ends:
        """One command with its words."""
        text = self.source[node.start_byte : node.end_byte]
        if _PLAIN.fullmatch(text) and not _ASSIGNED.match(text):
            return self._run(text.decode().split(), folders, stdin)
        self._folders = folders
        words: list[list[list[str]]] = []
        prefixes: list[Node] = []
        end, joined = node.start_byte, False
        for child in node.children:
            kind = child.type
            if kind == "variable_assignment":
                prefixes.append(child)
            elif kind in _REDIRECTS:
                from hermes_tool_guard.redirects import redirect

                stdin, _, writes = redirect(self, child, folders, stdin)
                joined = joined or writes
            else:
                touching = child.start_byte == end or not self.source[end : child.start_byte].replace(b"\\\n", b"")
                if (words or prefixes) and touching and child.start_byte > node.start_byte:
                    if words and words[-1] == [["$"]] and kind == "string":  # $"…"
                        words.pop()
                    else:
                        words.append([[OPAQUE]])
                        self.scene.ask(Class.UNCLEAR, "is not shell that the guard can read")
                if kind == "command_name" and child.child_count:
                    if (
                        b"$(" in text[: child.end_byte - node.start_byte]
                        or b"`" in text[: child.end_byte - node.start_byte]
                    ):
                        self._computed(child)
                    child = child.children[0]  # noqa: PLW2901 - the word inside
                words.append(self._expanded(child))
            if child.start_byte > end:
                self._gap(end, child.start_byte)
                if b"\n" in self.source[end : child.start_byte].replace(b"\\\n", b""):
                    self._misread()
            end = child.end_byte
        ends: Ends = (folders, folders)
        found = alternatives(words)
        before = self.scene.variables.names()
        for prefix in prefixes:
            self._assigned(prefix, folders, prefix=True)
        if len(found) > 1:
            self.scene.step(len(found))
        names = {one[0] if one else "" for one in found}
        if len(names) > 1:
            self.scene.ask(Class.UNCLEAR, "decides at run time which program runs")
        for argv in found:
            ends = self._run(argv, folders, stdin)
            if joined:
                self._output = ""
        if any(found):
            self.scene.variables.perhaps(before)
        return ends

    def _computed(self, name: "Node") -> None:
        if any(_named(name, kind) for kind in ("command_substitution", "process_substitution")):
            self.scene.ask(Class.UNCLEAR, "decides at run time which program runs")

    def _run(self, argv: list[str], folders: Folders, stdin: str | None) -> Ends:
        if not argv:
            self._output = ""
            return folders, folders
        one = Run(self.scene, argv, folders, stdin)
        run(one)
        self._output = one.output
        return one.ok, one.failed


def _named(node: "Node", kind: str) -> "list[Node]":
    found, todo = [], [node]
    while todo:
        one = todo.pop()
        if one.type == kind:
            found.append(one)
        todo += one.children
    return found


def _both(*folders: Folders) -> Folders:
    first = folders[0]
    if all(other == first for other in folders[1:]):
        return first
    together = tuple(dict.fromkeys(f for group in folders for f in group))
    return together if len(together) <= 4 else (OPAQUE, *together[:4])


_STATEMENTS = {
    "program": Shell._sequence,
    "list": Shell._list,
    "pipeline": Shell._pipeline,
    "command": Shell.command,
    "redirected_statement": Shell._redirected,
    "subshell": Shell._subshell,
    "compound_statement": Shell._compound,
    "do_group": Shell._sequence,
    "else_clause": Shell._sequence,
    "elif_clause": Shell._branches,
    "if_statement": Shell._branches,
    "while_statement": Shell._loop,
    "for_statement": Shell._loop,
    "c_style_for_statement": Shell._loop,
    "case_statement": Shell._case,
    "negated_command": Shell._negated,
    "function_definition": Shell._function,
    "variable_assignment": Shell._assigned,
    "variable_assignments": Shell._assigned,
    "declaration_command": Shell._declared,
    "unset_command": Shell._unset,
    "test_command": Shell._test,
}
