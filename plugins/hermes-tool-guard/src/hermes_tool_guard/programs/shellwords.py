"""What the shell does itself, and programs whose output can be known without running them."""

import base64
import binascii
import re

from hermes_tool_guard.escapes import octal_text
from hermes_tool_guard.judgement import DERIVED, OPAQUE, UNKNOWN, Class
from hermes_tool_guard.programs import reading
from hermes_tool_guard.run import Program, Run, each

_LONGEST = 20_000  # characters of output that are followed


def _output(run: Run, text: str) -> None:
    run.output = text if len(text) <= _LONGEST else DERIVED


def _cd(run: Run) -> None:
    run.note(Class.READ)
    words = [a for a in run.args if a not in ("-P", "-L", "-e", "-@", "--", "-n")]
    places = run.scene.places
    if not words:
        run.ok = (places.home,) if run.name == "cd" else (OPAQUE,)
        run.output = ""
        return
    word = words[0]
    if word == "-" or word[:1] in "+-":
        run.ok = (*run.folders, run.scene.places.root or "/", OPAQUE)
    else:
        import os

        found = [p if any(c in p for c in UNKNOWN) else os.path.normpath(p) for p in places.absolute(word, run.folders)]
        run.ok = tuple(dict.fromkeys(found))
    run.scene.variables.add("PWD", [run.ok[0]])
    run.output = ""


def _pop(run: Run) -> None:
    run.ok = (*run.folders, run.scene.places.root or "/")
    run.note(Class.READ)


def _echo(run: Run) -> None:
    run.note(Class.READ)
    words, escapes, newline = list(run.args), False, "\n"
    while words and re.fullmatch(r"-[neE]+", words[0]):
        flags = words.pop(0)
        escapes = "e" in flags or (escapes and "E" not in flags)
        newline = "" if "n" in flags else newline
    text = " ".join(words)
    _output(run, (octal_text(text) if escapes else text) + newline)


def _printf(run: Run) -> None:
    run.note(Class.READ)
    words = list(run.args)
    if words[:1] == ["-v"] and len(words) > 2:
        run.scene.variables.add(words[1], [_formatted(words[2], words[3:])])
        run.output = ""
        return
    if words[:1] == ["--"]:
        words.pop(0)
    _output(run, _formatted(words[0], words[1:]) if words else "")


def _formatted(form: str, values: list[str]) -> str:
    done, rest = "", list(values)
    for _ in range(200):
        taken = 0

        def one(match: re.Match[str]) -> str:
            nonlocal taken
            kind = match[1]
            if kind == "%":
                return "%"
            taken += 1
            value = rest.pop(0) if rest else ""
            if kind == "b":
                return octal_text(value)
            if kind == "c":
                return value[:1]
            if kind in "xXo" and value.isdigit():
                return format(int(value[:18]), kind)
            return value

        done += octal_text(re.sub(r"%[-+ #0]*[\d*]*(?:\.[\d*]+)?([a-zA-Z%])", one, form))
        if not rest or not taken:
            return done
    return DERIVED


def _cat(run: Run) -> None:
    reading.looks(run)
    names = [a for a in run.args if a[:1] != "-" or a == "-"]
    if run.stdin is not None and all(n == "-" for n in names):
        _output(run, run.stdin)


def _known_input(run: Run) -> str:
    """What it reads from standard input, if that is known and nothing else is read."""
    if run.stdin is None or any(c in run.stdin for c in UNKNOWN):
        return ""
    return run.stdin


def _rev(run: Run) -> None:
    reading.looks(run)
    if (text := _known_input(run)) and not run.args:
        _output(run, "\n".join(line[::-1] for line in text.split("\n")))


def _tr(run: Run) -> None:
    run.note(Class.READ)
    text = _known_input(run)
    options = run.options()
    sets = [_set(octal_text(word)) for word in options.rest]
    if not text or options.has("-c", "-C", "--complement") or not sets or any("[:" in w for w in options.rest):
        return
    if options.has("-d", "--delete"):
        _output(run, "".join(c for c in text if c not in sets[0]))
    elif len(sets) == 2 and sets[1] and not options.has("-s", "-t"):
        there = sets[1] + sets[1][-1] * (len(sets[0]) - len(sets[1]))
        _output(run, text.translate({ord(a): b for a, b in zip(sets[0], there, strict=False)}))


def _set(text: str) -> str:
    return re.sub(
        r"(.)-(.)",
        lambda m: "".join(map(chr, range(ord(m[1]), min(ord(m[2]), ord(m[1]) + 300) + 1))),
        text,
        flags=re.DOTALL,
    )


def _base64(run: Run) -> None:
    reading.looks(run)
    text = _known_input(run)
    if not text or any(a[:1] != "-" for a in run.args):
        return
    decodes = any(re.match(r"-[a-z]*[dD]|--d", a) for a in run.args)
    try:
        if decodes:
            raw = "".join(text.split()).encode()
            plain = base64.b32decode(raw) if run.name == "base32" else base64.b64decode(raw + b"=" * (-len(raw) % 4))
            _output(run, plain.decode("utf-8", "replace").replace("\0", ""))
        elif not run.args:
            encode = base64.b32encode if run.name == "base32" else base64.b64encode
            _output(run, encode(text.encode()).decode() + "\n")
    except (binascii.Error, ValueError):
        run.output = DERIVED


def _xxd(run: Run) -> None:
    reading.looks(run)
    text, flags = _known_input(run), "".join(run.args)
    if text and "r" in flags and "p" in flags:
        try:
            _output(run, bytes.fromhex("".join(text.split())).decode("utf-8", "replace").replace("\0", ""))
        except ValueError:
            run.output = DERIVED


def _date(run: Run) -> None:
    reading.looks(run)
    forms = [a for a in run.args if a.startswith("+")]
    if len(forms) == 1 and "%" in forms[0] and not any(c in forms[0] for c in UNKNOWN):
        shown = re.sub(r"%[-_0^#]?[a-zA-Z]", "1", forms[0][1:])
        _output(run, shown)


def _pwd(run: Run) -> None:
    run.note(Class.READ)
    if len(run.folders) == 1:
        _output(run, run.folders[0])


def _which(run: Run) -> None:
    run.note(Class.READ)
    words = [a for a in run.args if a[:1] != "-"]
    if len(words) == 1:
        _output(run, found_at(words[0]))


def found_at(name: str) -> str:
    """Where a program lies, as far as it matters: with the system's."""
    return name if "/" in name or any(c in name for c in UNKNOWN) else f"/usr/bin/{name}"


def _constant(text: str) -> Program:
    def judge(run: Run) -> None:
        reading.looks(run)
        if not run.args:
            _output(run, text)

    return judge


def _mktemp(run: Run) -> None:
    options = run.options({"-p", "--tmpdir", "--suffix"})
    folder = options.value("-p", "--tmpdir") or "/tmp"  # noqa: S108
    form = options.rest[0] if options.rest else "tmp.1a2b3c4d5e"
    path = (
        form
        if form.startswith("/") or (options.rest and not options.has("-p", "-t", "--tmpdir"))
        else f"{folder}/{form}"
    )
    run.write(path)
    _output(run, path)


def _set_options(run: Run) -> None:
    """``set``: its options are harmless; its words become the arguments of what follows."""
    run.note(Class.READ)
    words = list(run.args)
    while words and re.match(r"[-+][a-zA-Z]", words[0]):
        words = words[2 if words[0][1:].endswith("o") else 1 :]
    if words[:1] == ["--"]:
        words.pop(0)
    if words:
        for i, word in enumerate(words[:9], 1):
            run.scene.variables.add(str(i), [word])
        run.scene.variables.add("@", ["\ue100".join(words)])
        run.scene.variables.add("*", [" ".join(words)])
    run.output = ""


def _shopt(run: Run) -> None:
    run.note(Class.READ)
    if "expand_aliases" in run.args:
        run.ask(Class.UNCLEAR, "turns aliases on, which decide what programs run")


def _read(run: Run) -> None:
    run.note(Class.READ)
    options = run.options({"-p", "-d", "-n", "-N", "-t", "-u", "-i", "-a"})
    names = options.values("-a") + options.rest
    text = _known_input(run)
    for name in names or ["REPLY"]:
        run.scene.variables.add(name, [text.rstrip("\n") if text and len(names) < 2 else DERIVED])
        if name in ("PATH", "IFS", "HOME", "LD_PRELOAD", "BASH_ENV", "ENV"):
            run.ask(Class.UNCLEAR, f"sets {name} to something that is only known when it runs")
    run.output = ""


def _mapfile(run: Run) -> None:
    run.note(Class.READ)
    options = run.options({"-d", "-n", "-O", "-s", "-u", "-C", "-c"})
    if options.has("-C"):
        run.code(options.value("-C"))
    for name in options.rest or ["MAPFILE"]:
        run.scene.variables.add(name, [DERIVED])
    run.output = ""


def _hash(run: Run) -> None:
    run.note(Class.READ)
    if any(re.match(r"-[a-z]*p", a) for a in run.args):
        run.ask(Class.UNCLEAR, "decides which program a name runs")


_HARMLESS_ALIAS = re.compile(
    r"(?:ll|la|l|lt|gs|gst|gd|gl|glog|cls)="
    r"(?:ls|grep|egrep|fgrep|git (?:status|diff|log)|clear|history|tree)(?: [\w=./-]+)*"
)


def _alias(run: Run) -> None:
    run.note(Class.READ)
    if any("=" in a and not _HARMLESS_ALIAS.fullmatch(a) for a in run.args):
        run.ask(Class.UNCLEAR, "decides with an alias which program a name runs")
    for word in run.args:
        if "=" in word:
            run.code(word.partition("=")[2])


def _enable(run: Run) -> None:
    run.note(Class.READ)
    if any(a.startswith(("-f", "-n", "-d")) for a in run.args):
        run.ask(Class.CODE, "changes what the shell itself does")


def _trap(run: Run) -> None:
    run.note(Class.READ)
    words = [a for a in run.args if a not in ("--", "-l", "-p")]
    if len(words) > 1 and words[0] not in ("-", ""):
        if {"DEBUG", "RETURN", "ERR"} & set(words[1:]):
            run.ask(Class.CODE, "runs something before or after every command")
        if len(run.scene.traps) < 20 and run.scene.depth == 1:
            run.scene.traps.append((words[0], run.folders))
        else:
            run.code(words[0])
    run.output = ""


def _let(run: Run) -> None:
    run.note(Class.READ)
    if any("[" in a or any(c in a for c in UNKNOWN) for a in run.args):
        run.ask(Class.UNCLEAR, "calculates with text that is only known when it runs")
    for word in run.args:
        run.scene.variables.add(re.split(r"\W", word)[0], [DERIVED])
    run.output = ""


def _eval(run: Run) -> None:
    run.code(" ".join(run.args), run.stdin)
    run.output = DERIVED


def _source(run: Run) -> None:
    words = [a for a in run.args if a != "--"]
    if not words:
        return
    if words[0] in ("/dev/stdin", "/dev/fd/0", "/dev/fd/63") or words[0].startswith("/dev/fd"):
        _run_input(run)
        return
    run.script(words[0])


def _run_input(run: Run) -> None:
    if run.args and run.args[0] == "/dev/fd/63":
        run.code(run.scene.piped)
    elif run.stdin:
        run.code(run.stdin)
    else:
        run.ask(Class.CODE, "runs whatever it is given as code")


def _declare(run: Run) -> None:
    """export and its kin, behind ``time`` or ``command``; by itself the grammar knows it."""
    from hermes_tool_guard.environment import assigned

    run.note(Class.READ)
    if run.name != "export" and any(re.fullmatch(r"-[a-zA-Z]*[nf][a-zA-Z]*", word) for word in run.args):
        run.ask(Class.UNCLEAR, f"changes what names mean with {run.name}")
    for word in run.args:
        name, eq, value = word.partition("=")
        if any(c in name for c in UNKNOWN):
            run.ask(Class.UNCLEAR, f"gives {run.name} a name that is only known when it runs")
        elif eq:
            assigned(run.scene, name, [value], prefix=False)
            run.scene.variables.add(name, [value])
    run.output = ""


PROGRAMS: dict[str, Program] = {
    **each(_declare, "export declare local readonly typeset"),
    "cd": _cd,
    "pushd": _cd,
    "popd": _pop,
    "echo": _echo,
    "printf": _printf,
    "cat": _cat,
    "rev": _rev,
    "tr": _tr,
    "base64": _base64,
    "base32": _base64,
    "xxd": _xxd,
    "date": _date,
    "pwd": _pwd,
    "mktemp": _mktemp,
    "set": _set_options,
    "shopt": _shopt,
    "read": _read,
    "mapfile": _mapfile,
    "readarray": _mapfile,
    "hash": _hash,
    "alias": _alias,
    "unalias": _hash,
    "enable": _enable,
    "trap": _trap,
    "let": _let,
    "eval": _eval,
    "source": _source,
    ".": _source,
    "type": _which,
    "which": _which,
    "nproc": _constant("4"),
}
