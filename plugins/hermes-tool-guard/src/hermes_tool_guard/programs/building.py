"""Builds that have a grammar of their own: make, cargo, go. They run the project's code."""

import re
from itertools import pairwise

from hermes_tool_guard.judgement import UNKNOWN, Class
from hermes_tool_guard.places import Zone
from hermes_tool_guard.programs.carried import carried
from hermes_tool_guard.programs.options import compiles, is_plain
from hermes_tool_guard.run import Program, Run, names
from hermes_tool_guard.scene import shown

_USUAL_TOOL = re.compile(
    r"/bin/(?:ba)?sh|(?:gcc|g\+\+|clang|clang\+\+|cc|c\+\+)(?:-\d+)?|ccache (?:gcc|clang|g\+\+|clang\+\+)"
)
_CHOOSES = re.compile(r"ext(?:ld|ar|ldflags)|plugin|wrapper|tool")  # in flags that go hands on


def _of_the_folder(run: Run, path: str) -> None:
    """What decides what is built must be the project's own."""
    if not all(zone in (Zone.INSIDE, Zone.WORKSPACE, Zone.SINK) for _, zone in run._zones(path)):
        run.ask(Class.CODE, f"runs what {shown(path)} says, outside of the folder")


def _make(run: Run) -> None:
    options = run.options(
        names("-C -f -I -j -l -o -W --directory --file --makefile --include-dir --eval -E"),
    )
    for code in options.values("--eval", "-E"):
        for inner in re.findall(r"\$\(shell ([^)]*)\)", code):
            run.code(inner)
        run.ask(Class.CODE, "gives make rules on the command line")
    for word in options.rest:
        if "=" in word:
            _variable_of_make(run, *word.split("=", 1))
        elif any(c in word for c in UNKNOWN):
            run.ask(Class.UNCLEAR, "builds a target that is only known when it runs") if word[:1] in UNKNOWN else None
        elif not options.has("-n", "--dry-run", "--just-print", "-q") and word in names(
            "install uninstall deploy publish release push upload destroy"
        ):
            run.ask(Class.INSTALL, f"runs make {word}, which reaches beyond the folder")
    for folder in options.values("-C", "--directory", "-I", "--include-dir"):
        _of_the_folder(run, folder)
    for file in options.values("-f", "--file", "--makefile"):
        (run.ask(Class.CODE, "runs rules it is given as input") if file == "-" else run.script(file))
    run.note(Class.PROJECT)


def _variable_of_make(run: Run, name: str, value: str) -> None:
    if name.rstrip(":?+!") in names("SHELL .SHELLFLAGS MAKE MAKEFLAGS MAKEFILES CC CXX LD AR RM INSTALL"):
        if not _USUAL_TOOL.fullmatch(value):
            run.ask(Class.CODE, f"decides what make runs as {name}")
    elif re.search(r"\$\(|`|[;|&]", value):
        run.ask(Class.CODE, f"gives make {name} with commands inside")
    elif any(w[:1] == "-" and not compiles(w) and not is_plain(w) for w in value.split()):
        run.ask(Class.CODE, f"gives make {name} with options that the guard does not know")
    elif value[:1] in ("/", "~") and name not in names("DESTDIR PREFIX prefix"):
        _of_the_folder(run, value)


def _just(run: Run) -> None:
    if any(a.startswith(("--shell", "--shell-arg", "-c", "--command", "--evaluate", "--set")) for a in run.args):
        run.ask(Class.CODE, f"decides what {run.name} runs")
    for word in run.args:
        if (path := word.partition("=")[2] if word[:1] == "-" else word)[:1] in ("/", "~", "."):
            _of_the_folder(run, path)
    carried(run, asks=True)
    run.unknown(run.args[:1])
    run.note(Class.PROJECT)


def _cargo(run: Run) -> None:
    words = [a for a in run.args if not a.startswith("+")]
    configured = [w for w in words if w.startswith(("--config", "-Z"))]
    first = next((w for w in words if w[:1] != "-"), "")
    for option, after in pairwise([*words, ""]):
        name, eq, value = option.partition("=")
        if name in ("--manifest-path", "-C") or (name == "--config" and "/" in (value or after)):
            _of_the_folder(run, value if eq else after)
    if configured and any("=" in w and not w.startswith("-Z") for w in words if "config" in w or "." in w):
        run.ask(Class.CODE, "gives cargo settings that decide what runs")
    if {"publish", "login", "logout", "owner", "yank"} & {first, *(words[1:3] if words[:1] != [first] else ())}:
        run.ask(Class.SEND, f"changes something at the registry with cargo {first}")
    elif words[:2] == ["install", "--list"]:
        run.note(Class.READ)
        return
    elif first in ("install", "uninstall") and not any(a.startswith("--path") for a in words):
        run.ask(Class.INSTALL, "installs a program with cargo")
    if first == "watch" and any(re.match(r"-s|-[a-z]*s$|--shell|--use-shell", w) for w in words):
        run.ask(Class.CODE, "makes cargo watch run another program")
    run.unknown([first])
    if first in ("", "tree", "metadata", "version", "help", "locate-project", "pkgid"):
        run.note(Class.READ)
    elif first in ("fetch", "update", "add", "search", "info", "install", "generate-lockfile", "vendor"):
        run.note(Class.FETCH)
        run.note(Class.PROJECT)
    elif first == "fmt":
        run.note(Class.WRITE)
    else:
        run.note(Class.PROJECT)


def _flags_of_go(run: Run, first: str) -> None:
    for word, after in pairwise([*run.args, ""]):
        name, eq, value = word.lstrip("-").partition("=")
        given = value if eq else after
        if word[:1] == "-" and name in ("overlay", "modfile", "pkgdir", "C"):
            _of_the_folder(run, given)
        elif name in ("ldflags", "gcflags", "asmflags", "gccgoflags") and _CHOOSES.search(given):
            run.ask(Class.CODE, f"makes go {first} run another program")


def _go(run: Run) -> None:
    first = next((a for a in run.args if a[:1] != "-"), "")
    rest = [a for a in run.args if a != first]
    if any(a.startswith(("-exec", "-toolexec", "--exec", "--toolexec", "-vettool")) for a in run.args):
        run.ask(Class.CODE, "makes go run another program")
    if first == "env" and "-w" in rest:
        run.ask(Class.PERSISTENCE, "changes go's settings for good")
    _flags_of_go(run, first)
    far = any("@" in a or re.match(r"(?:[\w-]+\.)+[a-z]{2,}/", a) for a in rest)
    if first in ("install", "run") and far:
        run.ask(Class.INSTALL, f"fetches and runs code with go {first}")
    if first == "run":
        for word in rest:
            if word.endswith(".go"):
                run.script(word)
    run.unknown([first])
    if first in ("version", "env", "list", "doc", "help", ""):
        run.note(Class.READ)
    elif first in ("mod", "get", "install", "work"):
        run.note(Class.FETCH)
        run.note(Class.PROJECT if first == "install" else Class.WRITE)
    else:
        run.note(Class.PROJECT)


def _rustup(run: Run) -> None:
    if (run.args[:1] and run.args[0] in ("show", "check", "which", "doc", "--version", "help")) or run.args[1:2] == [
        "list"
    ]:
        run.note(Class.READ)
    elif run.args[:1] == ["run"]:
        run.inner(run.args[2:])
    else:
        run.ask(Class.INSTALL, "changes the installed toolchains")


PROGRAMS: dict[str, Program] = dict.fromkeys(("make", "gmake", "bmake", "remake"), _make)
PROGRAMS |= dict.fromkeys(("just", "task", "mage", "invoke", "inv", "doit", "pants", "earthly", "dagger"), _just)
PROGRAMS |= {"cargo": _cargo, "go": _go, "rustup": _rustup}
