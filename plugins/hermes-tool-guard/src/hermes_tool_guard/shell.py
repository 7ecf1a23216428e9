"""Walks the tree of a command as the shell would run it: who runs where, with what, after what."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hermes_tool_guard import commands, functions, hidden
from hermes_tool_guard.aftermath import at_the_end, worst_of
from hermes_tool_guard.branches import MOVES, appends, both, last_command
from hermes_tool_guard.grammar import Unparseable, parse
from hermes_tool_guard.judgement import DERIVED, LISTED, UNKNOWN, Class
from hermes_tool_guard.memory import LONGEST, recall, record
from hermes_tool_guard.redirects import REDIRECTS, redirect
from hermes_tool_guard.run import names
from hermes_tool_guard.scene import DEPTH, Ends, Folders, Scene
from hermes_tool_guard.words import NOTHING, Words

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["Shell", "judge_code"]

_UNKNOWN = re.compile(f"[{UNKNOWN}]")
_ITSELF = re.compile(
    r"[;|&({\n]\s*(?:do\s+)?\"?\$0\"?\s*(?:&(?!&)|\|(?!\|))"
)  # a script that starts itself, again and again
_BLANK = b" \t\n;"
_SILENT = names(
    "comment ; & && || | |& ;; ;& ;;& ( ) { } do done if then fi else elif while until for select in case esac "
    "function ! (( )) $( ` <( >("
) | {"\n"}
_SPACED = ("declaration_command", "unset_command", "for_statement", "case_statement")
_ENDS_CASE = frozenset({";;", ";&", ";;&"})


def judge_code(scene: Scene, code: str, folders: Folders, stdin: str | None = None) -> Folders:
    """Judge a text that a shell will run; the folders afterwards. Raises Decided."""
    if _UNKNOWN.search(code):
        scene.ask(Class.UNCLEAR, "runs code that is only known when it runs")
        code = _UNKNOWN.sub("${_unknown_}", code)
    if scene.depth >= DEPTH:
        scene.ask(Class.UNCLEAR, "runs code inside code, too deep to follow")
        return folders
    scene.step(5)
    if "$0" in code and _ITSELF.search(code):
        scene.deny(Class.PROCESSES, "is a fork bomb")
    try:
        source, root = parse(code.encode())
    except (Unparseable, UnicodeEncodeError) as error:
        scene.ask(Class.UNCLEAR, str(error) if isinstance(error, Unparseable) else "holds characters that are none")
        worst_of(scene, code, folders)
        return folders
    scene.depth += 1
    try:
        shell = Shell(scene, source)
        shell._gap(0, root.start_byte)
        shell._gap(root.end_byte, len(source))
        ok, failed = shell.walk(root, folders, stdin)
        scene.printed = shell._output if not shell.misread else DERIVED
        if shell.misread:
            worst_of(scene, code, folders)
        if scene.depth == 1:
            at_the_end(scene, both(ok, failed))
    finally:
        scene.depth -= 1
    return both(ok, failed)


class Shell:
    """The commands of one source."""

    def __init__(self, scene: Scene, source: bytes) -> None:
        self.scene = scene
        self.source = source
        self.words = Words(source, scene.variables, self._substitute, self._misread, self._evaluated)
        self._folders: Folders = ()
        self._output: str = ""
        self._targets: list[str] = []  # paths that the last redirection writes to
        self._appends = False  # whether the last redirection keeps what was in its file
        self._dash = -1  # where the command ends that has a "-" that the grammar left out
        self.misread = False  # whether grammar and shell may disagree somewhere
        self._late: list[Node] = []  # words of the next command that stand behind its redirections
        self._level = 0

    def _misread(self) -> None:
        self.misread = True
        self.scene.ask(Class.UNCLEAR, "is not shell that the guard can read")

    def _evaluated(self, text: str) -> None:
        hidden.evaluated(self.scene, self._folders, text)

    def _statement(self, node: "Node", folders: Folders, stdin: str | None) -> Ends:
        """Judge a statement, or know it again."""
        scene, start, end = self.scene, node.start_byte, node.end_byte
        if scene.memory is None or scene.depth > 1 or end - start > LONGEST or (stdin and len(stdin) > LONGEST):
            return self.walk(node, folders, stdin)
        text = self.source[start:end]
        key = text, folders, stdin
        if seen := recall(scene, key):
            self._output = seen.output
            return seen.ends
        return record(scene, key, lambda: (self.walk(node, folders, stdin), self._output))

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
                self.misread = True
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
                    self._misread()
                continue
            if joined and child.start_byte > end and b"\n" not in self.source[end : child.start_byte]:
                self._misread()  # two statements with nothing between them
            joined, end = True, child.end_byte
            before = ok if ok is failed else both(ok, failed)
            if kind in REDIRECTS:  # $(<file)
                self._redirected(node, folders, stdin)
                self._output = DERIVED
                return folders, folders
            if after is not None and after.type == "&":  # it runs in a shell of its own
                self.scene.racing += 1  # from now on: nobody waits for it
                with self.scene.perhaps():
                    self.walk(child, before, stdin)
                ok = failed = before
            else:
                ok, failed = self._statement(child, before, stdin)
            outputs.append(self._output)
        # Where a list of files ends, what follows begins on a line of its own.
        listed = len(outputs) > 1 and any(LISTED in one or one.endswith("*") for one in outputs)
        self._output = "".join(outputs) if all(outputs) and not listed else DERIVED
        return ok, failed

    def _gaps(self, node: "Node") -> None:
        end, named = node.start_byte, False
        for child in node.children:
            if child.type == "heredoc_redirect" and self.source[end : child.start_byte].strip(b" \t") == b"-":
                self._dash = last_command(node.children[0]) if named else -1  # the grammar forgets it: python - <<EOF
                if self._dash < 0:
                    self._misread()
            elif child.start_byte > end:
                self._gap(end, child.start_byte)
                if named and child.is_named and not self.source[end : child.start_byte].replace(b"\\\n", b""):
                    self._misread()  # a word broken over two lines
            elif named and child.is_named and node.type in _SPACED:
                self._misread()
            end, named = child.end_byte, child.is_named
        self._gap(end, node.end_byte)

    def _gap(self, start: int, end: int) -> None:
        """Between two parts there may only be blanks; else grammar and shell read it differently."""
        if self.source[start:end].replace(b"\\\n", b"").strip(_BLANK):
            self._misread()

    def _list(self, node: "Node", folders: Folders, stdin: str | None) -> Ends:
        left, operator, right = [c for c in node.children if c.type != "comment"][:3]
        ok, failed = self.walk(left, folders, stdin)
        silent = not self._output and operator.type == "&&"
        with self.scene.perhaps():
            if operator.type == "&&":
                ok, late = self.walk(right, ok, stdin)
                result = ok, both(failed, late)
            else:
                late, failed = self.walk(right, failed, stdin)
                result = both(ok, late), failed
        self._output = self._output if silent else DERIVED
        return result

    def _pipeline(self, node: "Node", folders: Folders, stdin: str | None) -> Ends:
        self.scene.racing += 1
        for child in node.children:
            if child.type in _SILENT:
                continue
            self._output = DERIVED
            with self.scene.perhaps():
                self.walk(child, folders, stdin)
            stdin = self._output
        self.scene.racing -= 1
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
                    possible = both(possible, *self.walk(child, possible, stdin))
        self._output = DERIVED
        return possible, possible

    def _loop(self, node: "Node", folders: Folders, stdin: str | None) -> Ends:
        """Walked until nothing changes: what the body does may change what it does the next time."""
        self._folders = folders
        variable = node.child_by_field_name("variable")
        if variable is not None:
            values = [f for n in node.children_by_field_name("value") for one in self.words.fields(n) for f in one]
            hidden.named(self.scene, folders, self.words.text(variable), values or [DERIVED])
            self.scene.variables.add(self.words.text(variable), values or [DERIVED])
        parts = [c for c in node.children if c.type in _STATEMENTS and c.type not in _SILENT]
        if node.type == "c_style_for_statement":
            self._numbers(node)
            parts = [c for c in parts if c.type in ("do_group", "compound_statement")]
        possible = folders
        with self.scene.perhaps():
            for turn in range(3):
                before = possible
                possible = self._turn(parts, possible, stdin, widen=turn == 1)
                if possible == before and not self.scene.variables.grown:
                    break
        self._output = DERIVED
        return possible, possible

    def _turn(self, parts: "list[Node]", folders: Folders, stdin: str | None, *, widen: bool) -> Folders:
        """One turn of a loop. What grows in the second one may grow with every turn, so it becomes unknown."""
        variables = self.scene.variables
        variables.grown = set()
        for part in parts:
            folders = both(folders, *self.walk(part, folders, stdin or DERIVED))
        if widen:
            for name in tuple(variables.grown):
                variables.add(name, [DERIVED])
        return folders

    def _numbers(self, node: "Node") -> None:
        for child in node.children:
            if child.type not in ("do_group", "compound_statement"):
                self.words.calculated(child)
            if child.type == "variable_assignment":
                self.scene.variables.add(self.words.text(child).partition("=")[0], [DERIVED])

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
                        ok, failed = self.walk(child, both(ok, failed), stdin)
                    elif child.type not in _SILENT:
                        self._expanded(child)
                self.scene.variables.perhaps(known)
                possible = both(possible, ok, failed)
        self._output = DERIVED
        return possible, possible

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
                with self.scene.perhaps():
                    judge_code(self.scene, inner, folders)
                return self.scene.printed or DERIVED
            self._output = ""
            self._gaps(node)
            with self.scene.perhaps():
                self._sequence(node, folders, None)
            if node.type == "command_substitution":
                return self._output or DERIVED
            self.scene.piped = self._output or DERIVED
            return DERIVED
        finally:
            self._folders, self._output = folders, output

    def _expanded(self, node: "Node") -> list[list[str]]:
        self.scene.step()
        return self.words.fields(node)

    # --- commands and redirections -------------------------------------------------------------------------------

    def _redirected(self, node: "Node", folders: Folders, stdin: str | None) -> Ends:
        body, after, out, targets = None, [], False, []
        self._appends = appends(node)
        self._folders = folders
        late: list[Node] = []
        given = self._after_left(node.children[0], folders)
        for child in node.children:
            if child.type in REDIRECTS:
                late += child.children_by_field_name("destination")[1:]
                stdin, nested, writes = redirect(self, child, given, stdin)
                after += nested
                out = out or writes
                targets += self._targets
            elif child.type not in _SILENT:
                body = child
        ends: Ends = (folders, folders)
        self._output = ""
        if late and (body is None or body.type != "command"):
            self._misread()
        if body is not None:
            self._late = late
            ends = self.walk(body, folders, stdin)
        if out:
            if not any(c in self._output for c in UNKNOWN):
                for path in targets[:4]:
                    self.scene.filled(path, self._output, more=self._appends)
            self._output = ""
        for statement in after:  # the rest of a line whose here-document starts below it
            ends = self.walk(statement, both(*ends), self._output or None)
        return ends

    def _after_left(self, body: "Node", folders: Folders) -> Folders:
        """Where the last command of a list runs: the grammar hangs its redirections on the whole list."""
        if body.type != "list":
            return folders
        if not self.scene.functions and not MOVES.search(self.source, body.start_byte, body.end_byte):
            return folders
        left, operator = [c for c in body.children if c.type != "comment"][:2]
        return self.walk(left, folders)[operator.type != "&&"]

    def _compound(self, node: "Node", folders: Folders, stdin: str | None) -> Ends:
        if node.children and node.children[0].type == "((":
            self._folders = folders
            self.words.calculated(node)
            self._output = ""
            return folders, folders
        return self._sequence(node, folders, stdin)


_STATEMENTS = {
    "program": Shell._sequence,
    "list": Shell._list,
    "pipeline": Shell._pipeline,
    "command": commands.command,
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
    "function_definition": functions.defined,
    "variable_assignment": commands.assigned,
    "variable_assignments": commands.assigned,
    "declaration_command": commands.declared,
    "unset_command": commands.unset,
    "test_command": commands.test,
}
