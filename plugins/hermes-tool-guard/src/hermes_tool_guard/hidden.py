"""Text that the shell evaluates once more: what it calculates with, subscripts, and names of variables.

``[[ 'a[$(cmd)]' -eq 1 ]]`` runs ``cmd``, although it stands in single quotes: a subscript is expanded when the text is
evaluated. So does every variable that is calculated with, and every builtin that takes the name of a variable.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from hermes_tool_guard import environment as steering
from hermes_tool_guard.judgement import DERIVED, UNKNOWN, Class

if TYPE_CHECKING:
    from tree_sitter import Node

    from hermes_tool_guard.run import Run
    from hermes_tool_guard.scene import Folders, Scene
    from hermes_tool_guard.words import Words

__all__ = ["BUILTINS", "declared", "evaluated", "expansion", "named", "tested", "texts"]

_RUNS = re.compile(r"\$[({]|`")
_NAME = re.compile(r"[A-Za-z_]\w*")
_CALCULATES = re.compile(r"-(?:eq|ne|lt|le|gt|ge|v)\b")
_EXPANSION = re.compile(r"\$\{([!#]?)([A-Za-z_]\w*|\d+)(.*)\}", re.DOTALL)
_DIRECT = re.compile(r"\w+|[A-Za-z_]\w*\[(?:\w+|[@*])\]|[@*#?$!-]|")
_LISTS = ("*", "@", "[@]", "[*]")
_INNER = ("test_command", "binary_expression", "unary_expression", "parenthesized_expression", "negated_command")
_QUOTED = ("raw_string", "ansi_c_string", "string")
_MOST = 64  # texts that one calculation leads to
_WHY = "makes the shell run what is hidden in a text that it calculates with or takes for a name"


def evaluated(scene: "Scene", folders: "Folders", text: str) -> None:
    """A text that is calculated with: the variables it names are so too, and what it holds is run."""
    seen, todo = {text}, [text]
    while todo:
        one = todo.pop()
        if _RUNS.search(one):
            _run(scene, folders, one)
        elif "[" in one and any(c in one for c in UNKNOWN):
            scene.ask(Class.UNCLEAR, "calculates with text that is only known when it runs")
        for name in _NAME.findall(one):
            fresh = [v for v in scene.variables.get(name) if v not in seen and not v.isdigit()]
            seen.update(fresh)
            todo += fresh
        if len(seen) > _MOST:
            scene.ask(Class.UNCLEAR, "calculates in a way that is too tangled to follow")
            return


def _run(scene: "Scene", folders: "Folders", text: str) -> None:
    from hermes_tool_guard.shell import judge_code

    scene.ask(Class.CODE, _WHY)
    for code in _commands(text):
        with scene.perhaps():
            judge_code(scene, code, folders)


def _commands(text: str) -> Iterator[str]:
    """The substitutions in a text; what is not closed goes on to its end."""
    yield from text.split("`")[1::2]
    for match in re.finditer(r"\$\(", text):
        depth, end = 1, match.end()
        while end < len(text) and depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        yield text[match.end() : end - 1 if not depth else end]


def named(scene: "Scene", folders: "Folders", name: str, values: Sequence[str] = (DERIVED,)) -> None:
    """A word that a builtin takes for the name of a variable, and what it sets it to."""
    if not name.isidentifier():
        evaluated(scene, folders, name)
    steering.assigned(scene, name.partition("[")[0], values, prefix=False)


def declared(scene: "Scene", folders: "Folders", words: Sequence[str]) -> None:
    """Words of ``declare`` and its kin: options, names, and names with values."""
    number = any(re.fullmatch(r"-[a-zA-Z]*i[a-zA-Z]*", word) for word in words)
    for word in words:
        name, _, value = word.partition("=")
        if "[" in name or value.startswith("("):  # declare "a=($(cmd))" is a list, and expanded
            evaluated(scene, folders, word)
        if number and name.isidentifier():
            scene.variables.add(f"{name} -i", ["1"])
            evaluated(scene, folders, value)


# --- in words ---------------------------------------------------------------------------------------------------


def texts(words: "Words", node: "Node") -> Iterator[str]:
    """The values that a calculation is made with, and the quoted texts in it."""
    for name in _NAME.findall(words.text(node)):
        yield from words.values(name)
    todo = [node]
    while todo:
        one = todo.pop()
        if one.type in _QUOTED:
            yield from words.single(one)
        elif one.type != "command_substitution":
            todo += one.children


def expansion(words: "Words", text: str, indirect: Callable[[], None]) -> Iterator[str]:
    """What ``${…}`` evaluates: subscripts, offsets, the name behind ``!``, the prompt in ``@P``."""
    match = _EXPANSION.fullmatch(text)
    if match is None:
        return
    kind, name, rest = match.groups()
    if kind == "!" and rest not in _LISTS:
        for value in words.values(name):
            if not any(c in value for c in UNKNOWN) and not _DIRECT.fullmatch(value):
                indirect()
            yield value
    if rest.endswith(("@P", "@E")):
        for value in words.values(name):
            if rest[-1] == "P" and any(c in value for c in UNKNOWN):
                indirect()
            yield value
    if rest[:1] == "[" or (rest[:1] == ":" and rest[1:2] not in ("-", "=", "?", "+")):
        if "'" in rest or "\\" in rest:
            yield rest
        for one in _NAME.findall(rest):
            yield from words.values(one)


def tested(words: "Words", node: "Node") -> Iterator[str]:
    """What ``[[ … ]]`` calculates with, and the names it asks for."""
    if not _CALCULATES.search(words.text(node)):
        return
    todo = [node]
    while todo:
        one = todo.pop()
        if one.type in _INNER:
            todo += [c for c in one.children if c.is_named and c.type != "test_operator"]
        elif one.type not in ("number", "regex", "extglob_pattern", "command_substitution"):
            asked = one.parent is not None and one.parent.type == "unary_expression"
            yield from (v for v in words.single(one) if not (asked and v.isidentifier()))


# --- builtins ---------------------------------------------------------------------------------------------------


def _each(run: "Run", found: Sequence[str], values: Sequence[str] = (DERIVED,)) -> None:
    for name in found:
        named(run.scene, run.folders, name, values)


def _printf(run: "Run") -> None:
    if run.args and run.args[0].startswith("-v"):
        _each(run, [run.args[0][2:] or "".join(run.args[1:2])])


def _read(run: "Run") -> None:
    options = run.options({"-p", "-d", "-n", "-N", "-t", "-u", "-i", "-a"})
    _each(run, [*options.values("-a"), *options.rest])


def _mapfile(run: "Run") -> None:
    options = run.options({"-d", "-n", "-O", "-s", "-u", "-C", "-c"})
    _each(run, options.rest)
    if options.has("-C"):
        run.ask(Class.CODE, f"makes {run.name} run a command with lines of its input")


def _unset(run: "Run") -> None:
    _each(run, [word for word in run.args if word[:1] != "-"], ["\0"])


def _wait(run: "Run") -> None:
    _each(run, run.options({"-p"}).values("-p"))


def _getopts(run: "Run") -> None:
    _each(run, run.args[1:2])


def _let(run: "Run") -> None:
    for word in run.args:
        evaluated(run.scene, run.folders, word)
        _each(run, _NAME.findall(word.partition("=")[0])[:1] if "=" in word else [])


def _test(run: "Run") -> None:
    if any(_CALCULATES.fullmatch(word) for word in run.args):
        for word in run.args:
            evaluated(run.scene, run.folders, "" if "-v" in run.args and word.isidentifier() else word)


def _complete(run: "Run") -> None:
    options = run.options({"-W", "-F", "-C", "-A", "-G", "-P", "-S", "-X", "-o"})
    for word in options.values("-W"):
        evaluated(run.scene, run.folders, word)
    for name in options.values("-F") if run.name == "compgen" else ():
        run.inner([name])


def _declare(run: "Run") -> None:
    declared(run.scene, run.folders, run.args)


BUILTINS: "dict[str, Callable[[Run], None]]" = {
    "printf": _printf,
    "read": _read,
    **dict.fromkeys(("mapfile", "readarray"), _mapfile),
    **dict.fromkeys(("test", "["), _test),
    **dict.fromkeys(("compgen", "complete"), _complete),
    **dict.fromkeys(("declare", "typeset", "local", "export", "readonly"), _declare),
    "unset": _unset,
    "wait": _wait,
    "getopts": _getopts,
    "let": _let,
}
