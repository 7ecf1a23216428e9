"""Words of the shell expanded as far as they can be known, without running anything."""

import re
from collections.abc import Callable, Sequence
from itertools import product
from typing import TYPE_CHECKING

from hermes_tool_guard.escapes import ansi_c, braces, cut_pattern, finished, marked, unquoted
from hermes_tool_guard.hidden import expansion, texts
from hermes_tool_guard.judgement import DERIVED, LISTED, OPAQUE, UNKNOWN
from hermes_tool_guard.variables import MOST_VALUES, Variables

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["NOTHING", "Words", "alternatives"]

NOTHING = "\ue101"  # "$@" without arguments: no word at all
_SPACE = "\ue100"  # where an unquoted value is split into fields
_ARRAY = re.compile(r"\$\{([A-Za-z_]\w*)\[[@*]\]\}")
_LENGTH = re.compile(r"\$\{#[A-Za-z_]\w*(?:\[[@*]\])?\}")
_PARAMETER = re.compile(r"\$\{([A-Za-z_]\w*|\d+|[@*#?$!-])(.*)\}", re.DOTALL)
_OPERATOR = re.compile(r"(:?[-=?+]|%%?|##?|//?[#%]?|\^\^?|,,?|:|@|\[)(.*)", re.DOTALL)
_BARE = re.compile(r"(?<!\\)(?:\\\\)*(?:[ \t\n`]|\$[\w({@*#?$!-])")
_NAMES = frozenset(
    bytes((b,)) for b in b"({@*#?$!-_" + bytes(range(48, 58)) + bytes(range(65, 91)) + bytes(range(97, 123))
)
_TILDE = re.compile(rb"~[\w.+-]*(?:[/\s;&|)<>`]|$)|\{")
_NOT_LISTED = re.compile(f"[{OPAQUE}{DERIVED}]")
_SPLIT = re.compile(f"[ \t\n{_SPACE}]+")


class Words:
    """Expands the words of one source. ``run`` judges what a substitution runs and gives its output, if it is known.

    ``misread`` is called where the grammar and the shell do not agree on what a word is, ``evaluated`` with text that
    the shell evaluates once more.
    """

    def __init__(
        self,
        source: bytes,
        variables: Variables,
        run: "Callable[[Node], str]",
        misread: Callable[[], None],
        evaluated: Callable[[str], None],
    ) -> None:
        self._source, self.evaluated, self.values = source, evaluated, variables.get
        self._misread = misread
        self._variables = variables
        self._run = run

    def text(self, node: "Node") -> str:
        """The source of a node."""
        return self._source[node.start_byte : node.end_byte].decode(errors="replace")

    def fields(self, node: "Node") -> list[list[str]]:
        """What a word comes to: for each way it may turn out, its fields (none, one or many)."""
        tilde = bool(_TILDE.match(self._source, node.start_byte))
        found = [self._fields(text, tilde) for text in self.raw(node, quoted=False)]
        if [""] in found and not any(c in self.text(node) for c in "'\""):
            found = [[] if fields == [""] else fields for fields in found]
        return found

    def single(self, node: "Node") -> list[str]:
        """What a word comes to where the shell does not split it, as in an assignment."""
        texts = self.raw(node, quoted=False)
        return [finished(re.sub(r"(?:^|(?<=:))~[^:/]*", self._tilde, text).replace(_SPACE, " ")) for text in texts]

    def _tilde(self, match: re.Match[str]) -> str:
        return self._home(match[0])

    def _fields(self, text: str, tilde: bool) -> list[str]:
        if NOTHING in text:
            text = text.replace(NOTHING, "")
            if not text:
                return []
        if tilde and text.startswith("~"):
            text = self._home(text)
        words = braces(text)
        if len(words) == 1 and _SPACE not in text:
            return [finished(words[0])]
        parts = [part for word in words for part in (_SPLIT.split(word) if _SPACE in word else (word,))]
        return [finished(self._home(part) if tilde else part) for part in parts if part]

    def _home(self, text: str) -> str:
        if not text.startswith("~"):
            return text
        user, slash, rest = text.partition("/")
        name = user[1:]
        if not name:
            place = self._variables.get("HOME")[0]
        elif name == "+":
            place = self._variables.get("PWD")[0]
        elif re.fullmatch(r"[a-z_][\w.-]*", name):
            place = "/root" if name == "root" else f"/home/{name}"
        else:
            place = OPAQUE
        return f"{place}{slash}{rest}"

    def raw(self, node: "Node", *, quoted: bool) -> list[str]:
        """The texts a word may come to, with quoted characters still marked."""
        method = _METHODS.get(node.type)
        if method is None:
            return self._other(node, quoted)
        begins, start = _BEGINS.get(node.type), node.start_byte
        if begins and not self._source.startswith(begins, start):
            text = self._source[start : node.end_byte]
            plain = text.lstrip(b" \t\n")
            if quoted and node.type == "simple_expansion" and plain[:1] == b"$":  # "$a $b": the grammar takes the blank
                blank = text[: len(text) - len(plain)].decode()
                return [marked(blank) + value for value in self._values(plain[1:].decode(), quoted)]
            self._misread()
        return method(self, node, quoted)

    def _word(self, node: "Node", _quoted: bool) -> list[str]:
        text = self.text(node)
        if _BARE.search(text):
            self._misread()
        return [unquoted(text)]

    def _raw_string(self, node: "Node", _quoted: bool) -> list[str]:
        return [marked(self.text(node)[1:-1])]

    def _ansi(self, node: "Node", _quoted: bool) -> list[str]:
        return [marked(ansi_c(self.text(node)[2:-1]))]

    def _concatenation(self, node: "Node", quoted: bool) -> list[str]:
        parts: list[list[str]] = []
        end, last = node.start_byte, ""
        for child in node.children:
            gap = self._source[end : child.start_byte]
            if gap.replace(b"\\\n", b""):
                self._misread()
            self._lone(child)
            text = self._source[child.start_byte : child.start_byte + 1]
            if text == b"{" and end > node.start_byte and parts and last == "simple_expansion":
                self._inner(node)
                return [OPAQUE]  # braces come first: $a{1,2} is $a1 $a2
            last = child.type
            parts.append(self._part(child, quoted=quoted))
            end = child.end_byte
        return _joined(parts)

    def _part(self, node: "Node", *, quoted: bool) -> list[str]:
        """What a part of a word comes to. Where files are listed there may be none: ``$(ls)/etc`` is ``/etc`` then."""
        found = self.raw(node, quoted=quoted)
        inner = node.children[1] if node.type == "string" and node.child_count == 3 else node
        listed = inner.type == "command_substitution" and any(LISTED in v or finished(v)[-1:] == "*" for v in found)
        return [*found, ""] if listed else found

    def _lone(self, node: "Node") -> None:
        """A dollar sign that the grammar takes for itself; the shell may read on."""
        if node.type == "$" and self._source[node.end_byte : node.end_byte + 1] in _NAMES:
            self._misread()

    def _string(self, node: "Node", _quoted: bool) -> list[str]:
        """Double quotes. The grammar leaves out some spaces between expansions, so gaps are read too."""
        children = node.children
        if len(children) <= 3 and all(c.type in ('"', "string_content", "$") for c in children):
            return [marked(_in_quotes(self.text(node).lstrip("$")[1:-1]))]
        parts: list[list[str]] = []
        end = children[0].end_byte if children else node.start_byte
        for child in children[1:]:
            if child.start_byte > end:
                parts.append([marked(_in_quotes(self._source[end : child.start_byte].decode(errors="replace")))])
            if child.type == "string_content":
                parts.append([marked(_in_quotes(self.text(child)))])
            elif child.type == "$":
                self._lone(child)
                parts.append(["$"])
            elif child.type != '"':
                parts.append(self._part(child, quoted=True) if len(children) > 3 else self.raw(child, quoted=True))
            end = child.end_byte
        return _joined(parts)

    def _translated(self, node: "Node", quoted: bool) -> list[str]:
        strings = [child for child in node.children if child.type == "string"]
        return self._string(strings[0], quoted) if strings else [OPAQUE]

    def body(self, node: "Node") -> list[str]:
        """A here-document whose delimiter is bare: expansions work, quotes do not."""
        parts: list[list[str]] = []
        end = node.start_byte
        for child in node.children:
            parts.append([_in_quotes(self._source[end : child.start_byte].decode(errors="replace"), '"')])
            if child.type == "heredoc_content":
                parts.append([_in_quotes(self.text(child), '"')])
            else:
                parts.append(self.raw(child, quoted=True))
            end = child.end_byte
        parts.append([_in_quotes(self._source[end : node.end_byte].decode(errors="replace"), '"')])
        return [finished(text) for text in _joined(parts)]

    def _simple(self, node: "Node", quoted: bool) -> list[str]:
        return self._values(self.text(node)[1:], quoted)

    def _values(self, name: str, quoted: bool) -> list[str]:
        values = self._variables.get(name)
        if quoted:
            return [marked(v) for v in values]
        if "IFS" in self._variables.changed:
            values = [self._parted(v) for v in values]
        return [_splittable(v) for v in values]

    def _parted(self, value: str) -> str:
        """A value whose fields are parted by what IFS was set to."""
        marks = {c for one in self._variables.get("IFS") for c in one if c not in UNKNOWN}
        return "".join(" " if c in marks else c for c in value)

    def _expansion(self, node: "Node", quoted: bool) -> list[str]:
        self._inner(node)
        text = self.text(node)
        for one in expansion(self, text, lambda: self.evaluated("$(")):
            self.evaluated(one)
        if array := _ARRAY.fullmatch(text):
            return self._values(f"{array[1]}[@]", quoted)
        match = _PARAMETER.fullmatch(text)
        if not match:
            return ["1"] if _LENGTH.fullmatch(text) else [OPAQUE]  # ${#name}, but ${!name}, ${name[i]}
        name, rest = match[1], match[2]
        values = [str(v) for v in self._variables.get(name)]
        if rest:
            operation = _OPERATOR.fullmatch(rest)
            if not operation or operation[1] in ("[", "@"):
                return [OPAQUE]
            values = self._operated(values, operation[1], operation[2])
            if operation[1] in ("=", ":="):
                values += [re.sub("['\"]", "", operation[2])] if "'" in operation[2] else []
                self._variables.add(name, values)
        return [marked(v) if quoted else _splittable(v) for v in values]

    def _operated(self, values: list[str], operator: str, operand: str) -> list[str]:
        plain = not re.search(r"[$`'\"\\]", operand)
        operand = self._home(operand) if plain else OPAQUE
        kind = operator.lstrip(":")
        if kind in ("-", "="):
            return [v for v in values if v] + ([operand] if _may_be_unset(values) else [])
        if kind == "?":
            return [v for v in values if v] or [OPAQUE]
        if kind == "+":
            return [operand, ""] if _may_be_unset(values) else [operand]
        changed = []
        for value in values:
            if kind[:1] in ("%", "#") and LISTED in value and not _NOT_LISTED.search(value) and operand.strip("*?"):
                changed.append(value if kind[0] == "%" else LISTED)  # another name, in the same folder
            elif value in ("", OPAQUE, DERIVED) or not plain or any(c in value for c in UNKNOWN):
                changed.append(value if value in ("", OPAQUE, DERIVED) else OPAQUE)
            else:
                changed.append(_edited(value, operator, operand))
        return changed

    def _substitution(self, node: "Node", quoted: bool) -> list[str]:
        output = self._run(node).rstrip("\n")
        return [marked(output) if quoted else _splittable(output)]

    def _arithmetic(self, node: "Node", _quoted: bool) -> list[str]:
        self.calculated(node)
        text = self.text(node)
        digits = re.fullmatch(r"\$\(\(\s*(\d+)\s*([-+*])\s*(\d+)\s*\)\)", text)
        if digits:
            one, two = int(digits[1][:9]), int(digits[3][:9])
            return [str({"+": one + two, "-": one - two, "*": one * two}[digits[2]])]
        return [DERIVED]

    def _process(self, node: "Node", _quoted: bool) -> list[str]:
        self._run(node)
        return ["/dev/fd/63"]

    def _brace(self, node: "Node", _quoted: bool) -> list[str]:
        return [self.text(node)]

    def _pattern(self, node: "Node", quoted: bool) -> list[str]:
        self._inner(node)
        return [unquoted(self.text(node))] if not quoted else [OPAQUE]

    def _dollar(self, _node: "Node", _quoted: bool) -> list[str]:
        return ["$"]

    def _other(self, node: "Node", _quoted: bool) -> list[str]:
        if node.child_count:
            self._inner(node)
            return [OPAQUE]
        return [unquoted(self.text(node))]

    def calculated(self, node: "Node") -> None:
        """Judge what a calculation or a subscript runs."""
        self._inner(node)
        for text in texts(self, node):
            self.evaluated(text)

    def _inner(self, node: "Node") -> None:
        """Judge the substitutions inside something whose value does not matter or cannot be known."""
        todo = list(node.children)
        while todo:
            child = todo.pop()
            if child.type in ("command_substitution", "process_substitution"):
                self._run(child)
            elif child.type in ("expansion", "string") and child is not node:
                self.raw(child, quoted=True)
            else:
                todo += child.children


_METHODS: "dict[str, Callable[[Words, Node, bool], list[str]]]" = {
    "word": Words._word,
    "number": Words._other,
    "variable_name": Words._word,
    "special_variable_name": Words._word,
    "raw_string": Words._raw_string,
    "ansi_c_string": Words._ansi,
    "string": Words._string,
    "translated_string": Words._translated,
    "concatenation": Words._concatenation,
    "simple_expansion": Words._simple,
    "expansion": Words._expansion,
    "command_substitution": Words._substitution,
    "arithmetic_expansion": Words._arithmetic,
    "process_substitution": Words._process,
    "brace_expression": Words._brace,
    "extglob_pattern": Words._pattern,
    "regex": Words._pattern,
    "$": Words._dollar,
}


# How these begin; the grammar sometimes takes more into them.
_BEGINS: dict[str, bytes | tuple[bytes, ...]] = {
    "raw_string": b"'", "ansi_c_string": b"$'", "string": (b'"', b'$"'), "translated_string": b'$"',
    "simple_expansion": b"$",
    "expansion": b"${", "command_substitution": (b"$(", b"`"), "arithmetic_expansion": (b"$((", b"$["),
    "process_substitution": (b"<(", b">("), "brace_expression": b"{",
}  # fmt: skip


def _in_quotes(text: str, but: str = "") -> str:
    """Double-quoted text: a backslash counts only before a few characters."""
    if "\\" not in text:
        return text
    return re.sub(r"\\([$`\"\\\n])", lambda m: "" if m[1] == "\n" else m[0] if m[1] == but else m[1], text)


def _splittable(value: str) -> str:
    """An unquoted value: its blanks split it, and its patterns are matched, but its quotes are plain characters."""
    if not any(c in value for c in " \t\n{}~,"):
        return value
    return _SPLIT.sub(_SPACE, value).translate({ord(c): 0xE000 + ord(c) for c in "{},~"})


def _may_be_unset(values: Sequence[str]) -> bool:
    return any(v in ("", OPAQUE, DERIVED) for v in values)


def _edited(value: str, operator: str, operand: str) -> str:
    """``${value%…}`` and the like, for a value that is known."""
    if operator[0] in "%#":
        return cut_pattern(value, operator, operand)
    if operator[0] == "^":
        return value.upper() if operator == "^^" else value[:1].upper() + value[1:]
    if operator[0] == ",":
        return value.lower() if operator == ",," else value[:1].lower() + value[1:]
    if operator == ":":
        match = re.fullmatch(r"\s*(-?\d+)(?::(-?\d+))?", operand)
        if not match:
            return OPAQUE
        start = int(match[1])
        end = None if match[2] is None else int(match[2]) if int(match[2]) < 0 else start + int(match[2])
        return value[start:end]
    old, _, new = operand.partition("/")
    if re.search(r"[*?\[]", old) or len(operator) > 2 or operator in ("/#", "/%"):
        return OPAQUE
    return value.replace(old, new) if operator == "//" else value.replace(old, new, 1)


def _joined(parts: Sequence[Sequence[str]]) -> list[str]:
    if all(len(part) == 1 for part in parts):
        return ["".join([part[0] for part in parts])]
    total = 1
    for part in parts:
        total *= len(part)
    if total > MOST_VALUES:
        parts = [part if len(part) == 1 else (DERIVED,) for part in parts]
    return ["".join(one) for one in product(*parts)]


def alternatives(words: Sequence[list[list[str]]]) -> list[list[str]]:
    """The command lines that words, each with its ways to turn out, may make."""
    if all(len(word) == 1 for word in words):
        return [[field for word in words for field in word[0]]]
    total = 1
    for word in words:
        total *= len(word)
    if total > MOST_VALUES:
        words = [word if len(word) == 1 else [[DERIVED]] for word in words]
    return [[field for fields in one for field in fields] for one in product(*words)]
