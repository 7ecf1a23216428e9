"""sed, awk and editors: they read files, and may write files and run programs from inside their scripts."""

import re

from hermes_tool_guard.judgement import UNKNOWN, Class
from hermes_tool_guard.run import Program, Run

# A sed script that only prints, deletes, substitutes and the like. Whatever else it holds is looked at closely.
_SED_RUNS = re.compile(r"(?:^|[;{}\n]|(?<=[\d$/!]))\s*(?:\d+|\$|/(?:\\.|[^/\\])*/I?)?(?:,(?:\d+|\$|/(?:\\.|[^/\\])*/|[+~]\d+))?\s*!?\s*(?:[ewWrRF])(?:\s|$|[^\w\s;}])")
_SUBSTITUTE = re.compile(r"s([^\w\s\\])((?:\\.|(?!\1)[^\\])*)\1((?:\\.|(?!\1)[^\\])*)\1([a-zA-Z0-9]*)([^\n;}]*)", re.DOTALL)
_AWK_RUNS = re.compile(r"\bsystem\s*\(|\|\s*&?\s*getline|\|&?\s*\"|\"\s*\|\s*(?:&\s*)?getline|print[^\n;}]*\|\s*\S|getline\s*<|@load|@include|/inet[46]?/|ENVIRON|@\w+\s*\(")
_AWK_WRITES = re.compile(r"print[f]?\b[^;}\n]*?>>?\s*([^;}\n]+)")


def _sed(run: Run) -> None:
    options = run.options({"-e", "-f", "-l", "--expression", "--file", "--line-length"} )
    scripts = options.values("-e", "--expression")
    rest = list(options.rest)
    if not scripts and not options.has("-f", "--file") and rest:
        scripts = [rest.pop(0)]
    for file in options.values("-f", "--file"):
        run.script(file)
    run.unknown(w for w in [*scripts, *rest] if w[:1] in ("\0", "\1"))
    for script in scripts:
        _sed_script(run, script)
    in_place = options.has("-i", "--in-place") or any(re.match(r"-[nErsuz]*i", a) for a in run.args)
    for word in rest:
        run.read(word)
        if in_place:
            run.write(word)
    run.note(Class.READ)


def _sed_script(run: Run, script: str) -> None:
    flags = "".join(m[4] for m in _SUBSTITUTE.finditer(script))
    targets = [m[5].strip() for m in _SUBSTITUTE.finditer(script) if "w" in m[4]]
    if "e" in flags:
        run.ask(Class.CODE, "runs programs from a sed script")
    for target in targets:
        run.write(target or "sed's output")
    bare = _SUBSTITUTE.sub("", script)
    bare = re.sub(r"y([^\w\s\\])(?:\\.|(?!\1).)*\1(?:\\.|(?!\1).)*\1", "", bare)
    bare = re.sub(r"[aic]\\?\s*[^\n]*", "", bare)
    for match in re.finditer(r"(?<![\w\\])([eEwWrR])\s*([^;\n}]*)", re.sub(r"/(?:\\.|[^/\\])*/I?", "", bare)):
        if match[1] == "e":
            run.code(match[2])
            run.ask(Class.CODE, "runs programs from a sed script")
        elif match[1] in "wW":
            run.write(match[2].strip() or ".")
        elif match[1] in "rR":
            run.read(match[2].strip() or ".")
    if any(c in script for c in UNKNOWN) and re.search(f"[{UNKNOWN}]", re.sub(r"'[^']*'", "", script)):
        # s/x/$VALUE/ is everyday; a value with a newline or the delimiter could become a command of its own.
        if not re.fullmatch(rf"s(.)[^{UNKNOWN}]*\1[\w./:@ {UNKNOWN}-]*\1[gIp0-9]*", script):
            run.ask(Class.UNCLEAR, "runs a sed script that is only known when it runs")


def _awk(run: Run) -> None:
    options = run.options({"-F", "-v", "-f", "-i", "-e", "-l", "--file", "--assign", "--field-separator", "--source", "--include", "--load"})
    rest = list(options.rest)
    scripts = options.values("-e", "--source")
    for file in options.values("-f", "--file", "-i", "--include"):
        if file != "inplace":
            run.script(file)
    if options.has("-l", "--load"):
        run.ask(Class.CODE, "loads a library into awk")
    if not scripts and not options.has("-f", "--file") and rest:
        scripts = [rest.pop(0)]
    for script in scripts:
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


def _patch(run: Run) -> None:
    options = run.options({"-p", "-i", "-d", "-o", "--input", "--directory", "--output"})
    run.write(options.value("-d", "--directory") or ".")
    for word in [*options.values("-o", "--output"), *options.rest[:1]]:
        run.write(word)


def _formatter(run: Run) -> None:
    """Tools that rewrite the files they are given."""
    run.note(Class.WRITE)
    for word in [a for a in run.args if a[:1] != "-" and ("/" in a or "." in a)]:
        if not re.fullmatch(r"[\w-]+(?:\.[\w-]+)?", word):
            run.write(word)


PROGRAMS: dict[str, Program] = {
    **dict.fromkeys(("sed", "gsed", "ssed"), _sed),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk", "goawk"), _awk),
    **dict.fromkeys(("vim", "vi", "nvim", "view", "ex", "ed", "emacs", "nano", "pico", "joe", "micro", "rvim", "rview", "gvim", "vimdiff", "emacsclient", "hx", "kak"), _vim),
    **dict.fromkeys(("dos2unix", "unix2dos", "clang-format", "shfmt", "gofmt", "rustfmt", "goimports", "autopep8", "yapf", "stylua", "swiftformat", "ktlint"), _formatter),
    "patch": _patch,
}  # fmt: skip
