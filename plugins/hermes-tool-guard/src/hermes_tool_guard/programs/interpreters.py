"""Shells and languages: a file of the project is its code, text for a shell is read, other text is asked about."""

import re

from hermes_tool_guard.judgement import Class
from hermes_tool_guard.places import Zone
from hermes_tool_guard.programs.calm import calm, loadable, perl_modules
from hermes_tool_guard.programs.foreign import from_source
from hermes_tool_guard.run import Program, Run, each, names
from hermes_tool_guard.scene import shown
from hermes_tool_guard.words import NOTHING


def _shell(run: Run) -> None:
    words, letters = _shell_options(run)
    run.unknown(run.args[: len(run.args) - len(words)])
    if "c" in letters:
        if words:
            _with_arguments(run, words[0], words[1:])
    elif "s" in letters or not words or words[0] in ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
        _from_input(run)
    elif words[0].startswith("/dev/fd/"):
        run.code(run.scene.piped)
        run.ask(Class.CODE, "runs the output of another command as code")
    elif "n" in letters:
        run.read(words[0])  # bash -n only reads
    else:
        run.script(words[0])


def _shell_options(run: Run) -> tuple[list[str], str]:
    """The words behind a shell's options, and the letters of those."""
    words, letters = list(run.args), ""
    while words and words[0][:1] in ("-", "+") and words[0] != "-":
        word = words.pop(0)
        if word == "--":
            break
        if word.startswith("--"):
            name, eq, file = word.partition("=")
            if name in ("--rcfile", "--init-file"):
                run.script(file if eq else words.pop(0) if words else "")
        else:
            letters += word[1:].replace("o", "").replace("O", "")
            if word[-1:] in ("o", "O") and words:
                words.pop(0)
    return words, letters


def _with_arguments(run: Run, code: str, arguments: list[str]) -> None:
    variables = run.scene.variables
    rest = arguments[1:]
    given = variables.inherited() | {str(i): [""] for i in range(1, 10)} | {"#": [str(len(rest))]}
    given |= {str(i): [a] for i, a in enumerate(arguments[:10])}
    before = variables.swap(given | {"@": ["\ue100".join(rest) or NOTHING], "*": [" ".join(rest)]})
    with run.scene.perhaps():
        run.code(code, run.stdin if code is not run.stdin else None)
    variables.swap(before)


def _from_input(run: Run) -> None:
    if run.args and run.args[0] in ("--version", "--help"):
        run.note(Class.READ)
    elif run.stdin is None:
        run.ask(Class.CODE, f"opens {run.name}, a shell that waits for input")
    elif not run.stdin.strip():
        run.ask(Class.CODE, f"runs whatever {run.name} is given as code")
    else:
        _with_arguments(run, run.stdin, [])


_LANGUAGES: dict[str, tuple[str, str]] = {
    # code options, options with a value
    "node": (
        "-e -p --eval --print -pe",
        "-r --require --import --loader --experimental-loader -C --conditions --input-type --env-file",
    ),
    "bun": ("-e -p --eval --print", "-r --preload"),
    "deno": ("eval", ""),
    "ts-node": ("-e -p --eval --print", "-r -P --project"),
    "tsx": ("-e --eval -p", ""),
    "ruby": ("-e", "-r -I -C -E"),
    "php": ("-r -B -R -E", "-d -c -z -S -t"),
    "lua": ("-e", "-l"),
    "luajit": ("-e", "-l"),
    "Rscript": ("-e", ""),
    "R": ("-e", "-f --file"),
    "julia": ("-e -E --eval --print", "-p -t -J --project"),
    "osascript": ("-e", "-l"),
    "groovy": ("-e", "-cp"),
    "scala": ("-e", "-cp"),
    "elixir": ("-e --eval", "-r"),
    "erl": ("-eval -run -s", ""),
    "ghci": ("-e", ""),
    "tclsh": ("", ""),
    "expect": ("-c", ""),
    "guile": ("-c -e", ""),
    "sbcl": ("--eval --load", ""),
    "clojure": ("-e --eval", ""),
    "clj": ("-e --eval", ""),
    "swift": ("-e", ""),
    "crystal": ("eval", ""),
    "nu": ("-c", ""),
    "fish": ("-c", ""),
    "xonsh": ("-c", ""),
    "jshell": ("", ""),
    "irb": ("", ""),
    "iex": ("", ""),
    "racket": ("-e", ""),
    "ocaml": ("-e", ""),
    "perl6": ("-e", ""),
    "raku": ("-e", ""),
    "dc": ("-e -f", ""),
    "m4": ("", ""),
    "gnuplot": ("-e", ""),
    "octave": ("--eval", ""),
    "sage": ("-c", ""),
}


def _plainly(run: Run) -> bool:
    """Whether it only tells about itself, or runs what the project says."""
    aliased = run.name in ("clj", "clojure") and run.args and re.match(r"-[MXTAP]:[\w/:.-]+$", run.args[0])
    if run.args[:1] == ["--test"] and run.name.startswith("node"):
        _tests(run)
    elif aliased:  # deps.edn says what an alias is
        run.note(Class.PROJECT)
    elif run.args in (["--version"], ["-v"], ["-V"], ["version"], ["--help"], ["-version"]):
        run.note(Class.READ)
    else:
        return False
    return True


def _tests(run: Run) -> None:
    """The tests of the project run, unless files from elsewhere are named."""
    run.note(Class.PROJECT)
    run.unknown(run.args)
    for word in run.args:
        file = word.partition("=")[2] if word[:1] == "-" else word
        zones = {zone for _, zone in run._zones(file)} if file else set()
        if ":" in file or zones - {Zone.INSIDE, Zone.WORKSPACE}:
            run.ask(Class.CODE, f"runs {shown(file)}, which is not part of the folder")


def _node(run: Run) -> None:
    if any(map(_DEBUGGED, run.args)):
        run.ask(Class.SERVE, f"lets others debug what {run.name} runs")
    _language(run)


_DEBUGGED = re.compile(r"--inspect[\w-]*=(?!127\.|localhost|\[::1\]|\d+$)").match


def _language(run: Run) -> None:
    if _plainly(run):
        return
    coded, valued = (set(part.split()) for part in _LANGUAGES[run.name])
    words = list(run.args)
    while words:
        word = words.pop(0)
        if word in coded or word.partition("=")[0] in coded:
            code = word.partition("=")[2] or (words.pop(0) if words else "")
            _other_code(run, code)
            return
        short = word[:2] if len(word) > 2 and word[1] != "-" else ""
        if short in coded:
            _other_code(run, word[2:])
            return
        if short in valued:
            _loads(run, short, word[2:])
        elif word in valued:
            value = words.pop(0) if words else ""
            if word == "-S":
                run.ask(Class.SERVE, "serves the folder to the network")
            elif word in ("-r", "-l", "--require", "--import", "--loader", "--preload"):
                _loads(run, word, value)
        elif word[:1] != "-" or word == "-":
            if word == "-":
                break
            _program_file(run, word, words)
            return
    if run.stdin is not None:
        _other_code(run, run.stdin)
    else:
        run.ask(Class.CODE, f"opens {run.name}, which waits for input")


def _loads(run: Run, option: str, value: str) -> None:
    """A module or file that an interpreter is told to load first."""
    if option not in ("-r", "-l", "--require", "--import", "--loader", "--preload"):
        return
    if "/" in value or (run.name not in ("ruby", "lua") and value.startswith(".")):
        run.script(value)
    elif not loadable(run.name, value):
        run.ask(Class.CODE, f"makes {run.name} load {value[:40]}")


def _program_file(run: Run, word: str, rest: list[str]) -> None:
    if run.name in ("bun", "deno") and word in names(
        "run test install i add fmt lint check build task x bench create remove cache serve repl upgrade compile "
        "pm update doc info coverage types"
    ):
        if (
            (word in ("install", "i") and any(w[:1] != "-" for w in rest))
            or word in ("x", "add", "create", "upgrade", "serve", "repl", "compile")
            or any(w.startswith("http") for w in rest)
        ):
            run.ask(Class.INSTALL, f"runs {run.name} {word}")
        for file in (w for w in rest if w[:1] in "/~." and word in ("run", "test", "task", "bench")):
            run.script(file)
        run.note(Class.PROJECT)
    elif word.startswith(("http:", "https:", "npm:", "jsr:", "data:")):
        run.ask(Class.CODE, "runs code from the network")
    else:
        run.script(word)


def _other_code(run: Run, code: str) -> None:
    if run.name in ("fish", "xonsh", "nu"):
        run.code(code)
    else:
        from_source(run, code)
    if run.name not in ("xonsh", "nu", "fish") and calm(run, run.name, code):
        run.note(Class.CODE)
        return
    run.ask(Class.CODE, f"runs {run.name} code given on the command line")


def _perl(run: Run) -> None:
    words = list(run.args)
    code: list[str] = []
    in_place = False
    if words in (["-v"], ["--version"], ["-V"]):
        run.note(Class.READ)
        return
    while words and words[0][:1] == "-" and words[0] != "-":
        word = words.pop(0)
        if word == "--":
            break
        match = (
            re.match(r"-[a-zA-DF-HJ-LN-Z0-9]*?([eE])(.*)$", word, re.DOTALL)
            if not word.startswith(("-I", "-M", "-m", "-F"))
            else None
        )
        in_place = in_place or "i" in (word[1:] if not match else word[1 : match.start(1)])
        if match:
            code.append(match[2] or (words.pop(0) if words else ""))
    if not code:
        if words:
            run.script(words[0])
        elif run.stdin is None:
            run.ask(Class.CODE, "opens perl, which waits for input")
        else:
            _other_code(run, run.stdin)
        return
    for text in code:
        from_source(run, text)
        if not calm(run, "perl", text):
            run.ask(Class.CODE, "runs perl code given on the command line")
    for word in words:
        run.read(word)
        if in_place:
            run.write(word)
    perl_modules(run, [a[2:] for a in run.args if a.startswith(("-M", "-m"))])
    run.note(Class.PROJECT if any(a.startswith(("-I", "-M", "-m")) for a in run.args) else Class.READ)


_JAVA_PLAIN = re.compile(
    r"-(?:cp|classpath|jar|[pm]|ea|da|enableassertions|disableassertions|esa|dsa|version|showversion|server|client|verbose)(?::.*)?"
    r"|-X(?:m[sxn]|ss)\w+|-X(?:int|mixed|comp|batch|share:\w+)|-XX:[+-]?(?!On|Flags|VMOptions)\w+"
    r"|-D(?!com\.sun\.management|java\.(?:rmi|security|system)|jdk\.|sun\.)[\w.-]+|-D"
    r"|--(?:class-path|module-path|module|add-modules|add-opens|add-exports|add-reads|enable-preview|source|release"
    r"|enable-native-access|illegal-access|version|show-version|help|list-modules|dry-run|validate-modules)"
)


def _java(run: Run) -> None:
    if run.args[:1] and run.args[0] in ("-version", "--version", "-help", "--help"):
        run.note(Class.READ)
        return
    options = run.options({"-cp", "-classpath", "--class-path", "-jar", "-p", "-m", "--module-path"}, single=True)
    jar = options.value("-jar")
    for option, _ in options.given:
        if not _JAVA_PLAIN.fullmatch(option):
            run.ask(Class.CODE, f"gives java {shown(option)}, and the guard does not know what that does")
    (run.script(jar) if jar else run.note(Class.PROJECT))


PROGRAMS: dict[str, Program] = {
    **each(_shell, "sh bash dash zsh ksh ash mksh rbash csh tcsh yash hush"),
    **dict.fromkeys(_LANGUAGES, _language),
    "node": _node,
    "nodejs": _node,
    "perl": _perl,
    "java": _java,
}
_LANGUAGES["nodejs"] = _LANGUAGES["node"]
