"""sed, awk and editors: they read files, and may write files and run programs from inside their scripts."""

import os
import re

from hermes_tool_guard.judgement import UNKNOWN, Class
from hermes_tool_guard.programs.archives import unpacks
from hermes_tool_guard.run import Program, Run, each, names

_SUBSTITUTE = re.compile(r"s([^\n\\])((?:\\.|(?!\1)[^\\])*)\1((?:\\.|(?!\1)[^\\])*)\1([gpiIemM0-9w]*)", re.DOTALL)
_TRANSLATE = re.compile(r"y([^\n\\])(?:\\.|(?!\1).)*\1(?:\\.|(?!\1).)*\1", re.DOTALL)
_AWK_RUNS = re.compile(
    r"\bsystem\s*\(|\|\s*&?\s*getline|\|&?\s*\"|\"\s*\|\s*(?:&\s*)?getline|print[^\n;}]*\|\s*\S"
    r"|getline\b[^;}\n]*<|@load|@include|/inet[46]?/|ENVIRON|@\w+\s*\("
)
_AWK_WRITES = re.compile(r"print[f]?\b[^;}\n]*?>>?\s*([^;}\n]+)")


def _sed(run: Run) -> None:
    options = run.options({"-e", "-f", "-l", "--expression", "--file", "--line-length"})
    scripts = options.values("-e", "--expression")
    rest = list(options.rest)
    if not scripts and not options.has("-f", "--file") and rest:
        scripts = [rest.pop(0)]
    for file in options.values("-f", "--file"):
        run.script(file)
    run.unknown(w for w in [*scripts, *rest] if w[:1] in ("\0", "\1"))
    for script in scripts:
        if not _known_substitution(script) and any(c in script for c in UNKNOWN):
            run.ask(Class.UNCLEAR, "runs a sed script that is only known when it runs")
        _sed_script(run, script)
    in_place = options.has("-i", "--in-place") or any(re.match(r"-[nErsuz]*i", a) for a in run.args)
    if any("/" in a for a in run.args if re.match(r"-[nErsuz]*i|--in", a)):
        run.ask(Class.WRITE_OUTSIDE, "keeps what a file was in another folder")
    for word in rest:
        run.read(word)
        if in_place:
            run.write(word)
    run.note(Class.READ)


_ADDRESS = re.compile(
    r"(?:\d+(?:~\d+)?|\$|[+~]\d+|/(?:\\.|[^/\\\n])*/[IM]*|\\([^\n\\])(?:\\.|(?!\1)[^\n])*\1[IM]*)", re.DOTALL
)
_BETWEEN = re.compile(r"[\s;}]*")
_REST = re.compile(r"[^\n]*")
_LABEL = re.compile(r"[^\n;}]*")


def _sed_script(run: Run, script: str) -> None:
    """Read a sed script command by command. What cannot be read is asked about."""
    at = 0
    for _ in range(400):
        at = _BETWEEN.match(script, at).end()  # type: ignore[union-attr]
        if at >= len(script):
            return
        for _ in range(2):
            if address := _ADDRESS.match(script, at):
                at = address.end()
            at = re.compile(r"\s*,?\s*").match(script, at).end()  # type: ignore[union-attr]
        at = re.compile(r"[!\s]*").match(script, at).end()  # type: ignore[union-attr]
        after = _sed_command(run, script, at)
        if after <= at:
            break
        at = after
    run.ask(Class.UNCLEAR, "runs a sed script that the guard cannot read")


def _sed_command(run: Run, script: str, at: int) -> int:
    """Judge one command of a sed script; where the next one starts, or ``at`` when it cannot be read."""
    letter = script[at : at + 1]
    rest = _REST.match(script, at + 1)
    assert rest
    if letter == "#":
        return rest.end()
    if letter and letter in "{=dDgGhHnNpPxzF":
        return at + 1
    if letter and letter in "qQlLbtT:v":
        return _LABEL.match(script, at + 1).end()  # type: ignore[union-attr]
    if letter and letter in "aic":
        end = re.compile(r"(?:\\.|[^\n\\])*", re.DOTALL).match(script, at + 1)
        return end.end() if end and end.end() > at + 1 else rest.end() + 1
    if letter == "e":
        run.code(rest[0])
        run.ask(Class.CODE, "runs programs from a sed script")
        return rest.end() + 1
    if letter and letter in "rRwW":
        (run.read if letter in "rR" else run.write)(rest[0].strip() or ".")
        return rest.end() + 1
    if letter in ("s", "y"):
        found = _SUBSTITUTE.match(script, at) if letter == "s" else _TRANSLATE.match(script, at)
        if not found:
            return at
        flags = found[4] if letter == "s" else ""
        if "e" in flags:
            run.ask(Class.CODE, "runs programs from a sed script")
        if "w" in flags:
            run.write(script[found.end() :].partition("\n")[0].strip() or ".")
            return script.find("\n", found.end()) % (len(script) + 1) + 1
        return found.end()
    return at


def _known_substitution(script: str) -> bool:
    """s/name/$VALUE/ is everyday: the value stands where text stands, and the delimiter is a rare character."""
    return bool(re.fullmatch(rf"s([/|#,@!%])[^{UNKNOWN}\n]*\1[\w./:@ {UNKNOWN}-]*\1[gIp0-9]*", script))


def _awk_script(run: Run, script: str) -> None:
    bare = re.sub(r"/(?:\\.|[^/\\\n])*/", "//", script)
    if any(c in script for c in UNKNOWN):
        run.ask(Class.UNCLEAR, "runs an awk script that is only known when it runs")
    if _AWK_RUNS.search(script) or _AWK_RUNS.search(bare):
        for inner in re.findall(r"system\s*\(\s*\"((?:\\.|[^\"\\])*)\"", script):
            run.code(inner.replace('\\"', '"'))
        for inner in re.findall(r"\"((?:\\.|[^\"\\])*)\"\s*\|\s*getline", script):
            run.code(inner.replace('\\"', '"'))
        run.ask(Class.CODE, "runs programs, or more, from an awk script")
    elif (_AWK_WRITES.search(bare)) and (target := re.search(r">>?\s*\"([^\"]*)\"", script)):
        run.write(target[1])
    elif re.search(r"print[f]?\b[^;}\n()]*>", bare):
        run.ask(Class.WRITE_OUTSIDE, "writes from an awk script to a file that is only known when it runs")


def _awk_writes(run: Run) -> None:
    """What awk writes by its options, whose values are glued to them."""
    for word in run.args:
        if re.match(r"-[dop].|--(?:dump|prof|pretty)[\w-]*=", word):
            run.write(word.partition("=")[2] or word[2:])
        elif re.search(r"inplace::suffix=.*/", word):
            run.ask(Class.WRITE_OUTSIDE, "keeps what a file was in another folder")


def _awk(run: Run) -> None:
    options = run.options(names("-F -v -f -i -e -l --file --assign --field-separator --source --include --load"))
    rest = list(options.rest)
    scripts = options.values("-e", "--source")
    for file in options.values("-f", "--file", "-i", "--include"):
        if file != "inplace":
            run.script(file)
    if options.has("-l", "--load"):
        run.ask(Class.CODE, "loads a library into awk")
    _awk_writes(run)
    if not scripts and not options.has("-f", "--file") and rest:
        scripts = [rest.pop(0)]
    for script in scripts:
        _awk_script(run, script)
    for word in rest:
        if "=" not in word:
            run.read(word)
    if options.value("-i", "--include") == "inplace":
        for word in rest:
            run.write(word)
    run.note(Class.READ)


def _vim(run: Run) -> None:
    """Editors: their -c commands may do anything."""
    for word in run.args:
        if word.startswith(("-c", "+", "--cmd", "-S", "-s", "--eval", "-l", "--load", "-u")) and word != "+":
            run.ask(Class.CODE, f"gives {run.name} commands to run")
            for inner in re.findall(r"!\s*([^|\n]+)", " ".join(run.args)):
                run.code(inner)
    for word in [a for a in run.args if a[:1] not in "-+"]:
        run.write(word)
    run.ask(Class.CODE, f"opens {run.name}, an editor that waits for a person")


def patched(run: Run, folder: str, name: str = "") -> None:
    """The files that a patch changes, as far as it can be read: standard input, or a file that this command made."""
    text = run.stdin or ""
    for path in run.scene.places.absolute(name, run.folders) if name else ():
        text = run.scene.contents.get(os.path.normpath(path), "")
    for target in re.findall(r"^(?:\+\+\+|---|rename to|copy to) (?:[ab]/)?([^\t\n]+)", text, re.MULTILINE)[:100]:
        run.write(f"{folder}/{target.strip()}" if target[:1] != "/" else target)


def _patch(run: Run) -> None:
    options = run.options({"-p", "-i", "-d", "-o", "--input", "--directory", "--output"})
    folder = options.value("-d", "--directory") or "."
    unpacks(run, folder)
    patched(run, folder, options.value("-i", "--input") or "".join(options.rest[1:2]))
    for word in [*options.values("-o", "--output"), *options.rest[:1]]:
        run.write(word)


def _formatter(run: Run) -> None:
    """Tools that rewrite the files they are given."""
    run.note(Class.WRITE)
    for word in [a for a in run.args if a[:1] != "-" and ("/" in a or "." in a)]:
        if not re.fullmatch(r"[\w-]+(?:\.[\w-]+)?", word):
            run.write(word)


PROGRAMS: dict[str, Program] = {
    **each(_sed, "sed gsed ssed"),
    **each(_awk, "awk gawk mawk nawk goawk"),
    **each(_vim, "vim vi nvim view ex ed emacs nano pico joe micro rvim rview gvim vimdiff emacsclient hx kak"),
    **each(
        _formatter,
        "dos2unix unix2dos clang-format shfmt gofmt rustfmt goimports autopep8 yapf stylua swiftformat ktlint",
    ),
    "patch": _patch,
}
