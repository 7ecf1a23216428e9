"""Programs that run other programs: what they run is judged as if it stood by itself."""

import re
from collections.abc import Sequence
from itertools import pairwise

from hermes_tool_guard.environment import assigned
from hermes_tool_guard.escapes import Glob
from hermes_tool_guard.judgement import DERIVED, LISTED, OPAQUE, Class
from hermes_tool_guard.programs.shellwords import found_at
from hermes_tool_guard.run import Program, Run, each, names

# Options that take a value, and how many words of its own stand before the program.
_TRANSPARENT: dict[str, tuple[str, int]] = {
    "nice": ("-n --adjustment", 0),
    "nohup": ("", 0),
    "time": ("-f -o --format --output", 0),
    "timeout": ("-k -s --kill-after --signal", 1),
    "gtimeout": ("-k -s --kill-after --signal", 1),
    "setsid": ("", 0),
    "stdbuf": ("-i -o -e --input --output --error", 0),
    "unbuffer": ("", 0),
    "ionice": ("-c -n -p -P -u --class --classdata", 0),
    "chrt": ("-p -T -P -D", 1),
    "taskset": ("", 1),
    "numactl": ("-m -N -C -i -p", 0),
    "command": ("", 0),
    "builtin": ("", 0),
    "exec": ("-a", 0),
    "coproc": ("", 0),
    "busybox": ("", 0),
    "toybox": ("", 0),
    "catchsegv": ("", 0),
    "caffeinate": ("-t -w", 0),
    "cpulimit": ("-l -p -e", 0),
    "prlimit": ("-p", 0),
    "faketime": ("-f", 1),
    "eatmydata": ("", 0),
    "rlwrap": ("-a -f -H", 0),
    "dumb-init": ("", 0),
    "tini": ("", 0),
    "chronic": ("", 0),
    "hyperfine": ("-w -m -M -r -n -p -S -L -P", 0),
    "dbus-run-session": ("", 0),
    "xvfb-run": ("-n -s -e -f -p", 0),
    "proxychains": ("-f", 0),
    "proxychains4": ("-f", 0),
    "torsocks": ("", 0),
    "linux64": ("", 0),
    "linux32": ("", 0),
    "setarch": ("", 1),
    "firejail": ("", 0),
    "bwrap": ("", 0),
    "perf": ("-e -o -p", 1),
    "valgrind": ("", 0),
    "nocorrect": ("", 0),
    "noglob": ("", 0),
    "runcon": ("", 1),
    "systemd-cat": ("-t -p", 0),
    "gdb": ("-ex --ex -x -p", 0),
}


def _after_options(words: Sequence[str], valued: frozenset[str], own: int = 0) -> list[str]:
    rest = list(words)
    while rest and rest[0][:1] in ("-", "+") and len(rest[0]) > 1:
        word = rest.pop(0)
        if word == "--":
            break
        name = word.partition("=")[0]
        if (name in valued and "=" not in word) and rest:
            rest.pop(0)
    return rest[own:]


_ARCHITECTURE = re.compile(  # setarch may be given one, before the program
    r"(?:linux|i\d86|x86|aarch|arm|ppc|powerpc|s390|mips|riscv|uname|athlon|sparc|ia64|parisc|alpha|loong)\w*"
)
_GDB_CALM = re.compile(
    r"(?:run|r|start|bt|backtrace|where|info|i|print|p|x|list|l|disas\w*|frame|f|up|down|break|b|tbreak|continue|c|next|n|step"
    r"|s"
    r"|finish|quit|q|thread|display|ptype|whatis|catch|watch|kill"
    r"|set (?:pagination|confirm|print|logging|width|height|args))"
    r"(?:[ /][\w\s$*&.:,+\-/>\[\]()]*)?"
)


_GDB_OPTIONS = names("-batch --batch -q -quiet --quiet -nx --nx --args -n -ex --ex")


def _gdb_calm(word: str) -> bool:
    """An option of gdb, or the command that stands behind ``-ex``."""
    return word in _GDB_OPTIONS or bool(_GDB_CALM.fullmatch(word))


def _batch(run: Run, inner: list[str], with_arguments: bool) -> bool:
    """Whether a debugger only runs the program it is given, with nobody at it; asks if not."""
    if not {"-batch", "--batch"} & set(run.args):
        run.ask(Class.CODE, "runs a debugger")
        return False
    if len(inner) > 1 and not with_arguments:
        run.ask(Class.PROCESSES, "looks into another process")
    return True


def _transparent(run: Run) -> None:
    valued, own = _TRANSPARENT[run.name]
    words = list(run.args)
    if run.name == "command" and words and re.match(r"-[pvV]*[vV]", words[0]):
        run.note(Class.READ)
        run.output = found_at(words[1]) if len(words) == 2 else DERIVED
        return
    if run.name in ("taskset", "numactl", "chrt", "prlimit", "ionice", "cpulimit") and any(
        re.match(r"-[a-z]*p$|--pid", w) for w in words
    ):
        run.ask(Class.PROCESSES, "changes other processes")
        return
    traced = run.name == "perf" and words[:1] in (["record"], ["stat"])  # its options stand behind that
    options = words[traced : len(words) - len(_after_options(words[traced:], frozenset(valued.split())))]
    for word, after in zip(options, [*options[1:], ""], strict=False):
        if run.name in ("time", "perf") and word.startswith(("-o", "--output")):
            run.write(word.partition("=")[2] or word[2:] if word not in ("-o", "--output") else after)
        if (run.name == "gdb" and not _gdb_calm(word)) or (
            run.name == "hyperfine" and word in ("-p", "--prepare", "-c", "--cleanup", "-s", "--setup")
        ):
            run.ask(Class.CODE, f"gives {run.name} commands to run")
    inner = _after_options(words, frozenset(valued.split()))
    inner = inner[own if run.name != "setarch" or _ARCHITECTURE.fullmatch(inner[0] if inner else "") else 0 :]
    run.unknown(w for w in words[: len(words) - len(inner)] if w[:1] in ("\0", "\1"))
    if run.name == "hyperfine":
        for text in inner:
            run.code(text)
        return
    if run.name == "gdb" and not _batch(run, inner, "--args" in options):
        return
    if traced:
        inner = _after_options(words[1:], frozenset(valued.split()))
    if run.name == "firejail" or run.name == "bwrap":
        run.ask(Class.CODE, f"runs something inside {run.name}")
    while run.name in ("time", "coproc", "noglob") and inner and re.match(r"\w+\+?=", inner[0]):
        name, _, value = inner.pop(0).partition("=")
        assigned(run.scene, name, [value], prefix=True)
    run.note(Class.READ)
    run.inner(inner)


def _env(run: Run) -> None:
    run.note(Class.READ)
    words = list(run.args)
    while words:
        word = words[0]
        name, _, value = word.partition("=")
        if name in ("-C", "--chdir") and len(words) > 1:
            run.folders = tuple(run.scene.places.absolute(value or words[1], run.folders))
            words = words[1 if value else 2 :]
        elif word in ("-u", "--unset") and len(words) > 1:
            words = words[2:]
        elif word in ("-S", "--split-string") and len(words) > 1:
            run.code(" ".join(words[1:]))
            return
        elif word.startswith(("-S", "--split-string=")):
            run.code(" ".join([word.removeprefix("--split-string=").removeprefix("-S"), *words[1:]]))
            return
        elif word in ("-i", "-", "-0", "--ignore-environment", "--null", "-v", "--debug", "--") or word.startswith(
            ("--unset=", "-i", "-u", "-v")
        ):
            words = words[1:]
        elif re.match(r"[\w.]+=", word):
            name, _, value = word.partition("=")
            assigned(run.scene, name, [value], prefix=True)
            words = words[1:]
        else:
            break
    run.inner(words)


_SUDO = names("-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir --chroot --role --type")


def _sudo(run: Run) -> None:
    words = list(run.args)
    inner = _after_options(words, _SUDO)
    while inner and re.match(r"\w+=", inner[0]):
        inner.pop(0)
    run.inner(inner)
    run.ask(Class.PRIVILEGE, f"runs with the rights of somebody else, through {run.name}")


def _su(run: Run) -> None:
    options = run.options({"-c", "--command", "-s", "--shell", "-g", "-G", "--session-command"})
    for code in options.values("-c", "--command", "--session-command"):
        run.code(code)
    if run.stdin:
        run.code(run.stdin)
    run.ask(Class.PRIVILEGE, f"becomes another user, through {run.name}")


def _inside_other(run: Run) -> None:
    """chroot, unshare, nsenter and the like: the program runs, somewhere with other rules."""
    valued = names("-t -S -G -r -w -u -g --target --userspec --groups --root --wd --uid --user")
    run.inner(_after_options(run.args, valued, 1 if run.name == "chroot" else 0))
    run.ask(Class.PRIVILEGE, f"runs something in another system, through {run.name}")


def _xargs(run: Run) -> None:
    """xargs, parallel: the program's arguments come from elsewhere."""
    valued = names(
        "-I -a -E -d -n -P -L -s -i -j --max-args --max-procs --delimiter --arg-file --replace "
        "--max-lines --jobs -J -R -S --joblog --colsep -N"
    )
    inner = _after_options(run.args, valued)
    options = run.args[: len(run.args) - len(inner)]
    marks = ["{}"]
    for word, after in zip(options, [*options[1:], ""], strict=False):
        if word in ("-I", "-J", "--replace"):
            marks.append(after)
        elif word.startswith("-I") and len(word) > 2:
            marks.append(word[2:])
        elif word in ("-a", "--arg-file"):
            run.read(after)
    if run.name == "parallel" and ":::" in inner:
        at = inner.index(":::")
        given, inner = inner[at + 1 :], inner[:at]
        text = " ".join(inner)
        for value in given[:20]:
            run.code(text.replace("{}", value) if "{}" in text else f"{text} {value}")
        return
    inner = inner or ["echo"]
    values = _given(run.scene.piped if "/dev/fd/63" in options else run.stdin)
    for value in values:
        filled = [_filled(word, marks, value) for word in inner]
        if not any(m in w for w in inner for m in marks):
            filled = [*inner, *(Glob(w) if any(c in w for c in "*?[") else w for w in value.split())]
        name = filled[0].rpartition("/")[2]
        if run.name == "parallel":
            run.code(" ".join(filled))
        elif (
            name in ("sh", "bash", "dash", "zsh", "ksh")
            and (value == DERIVED or LISTED in value)
            and filled[-1] == value
            and "-c" in filled
            and filled[-2] != "-c"
        ):
            run.inner(filled[:-1], stdin=DERIVED)  # sh -c '… "$@"' sh: the arguments are no code
        else:
            run.inner(filled, stdin=None)


def _given(text: str | None) -> list[str]:
    if text and OPAQUE not in text and DERIVED not in text:
        lines = [line for line in text.split("\n") if line.strip("\0 ")]
        if 0 < len(lines) <= 10:
            return lines
    return [DERIVED]


def _filled(word: str, marks: Sequence[str], value: str) -> str:
    for mark in marks:
        if mark and mark in word:
            word = word.replace(mark, value)
    return word


def _watch(run: Run) -> None:
    inner = _after_options(run.args, names("-n --interval -d -p") - {"-d", "-p"})
    run.code(" ".join(inner))


def _flock(run: Run) -> None:
    inner = _after_options(run.args, names("-w --timeout -E"))
    if inner:
        run.write(inner[0])
    rest = inner[1:]
    if rest[:1] in (["-c"], ["--command"]) and len(rest) > 1:
        run.code(rest[1])
    else:
        run.inner(rest)


def _script(run: Run) -> None:
    options = run.options({"-c", "--command", "-I", "-O", "-B", "-o", "-E"})
    for code in options.values("-c", "--command"):
        run.code(code)
    if not options.has("-c", "--command"):
        run.ask(Class.CODE, "opens a shell that waits for a person")
    for word in options.rest[:1]:
        run.write(word)


def _strace(run: Run) -> None:
    valued = names("-e -o -p -s -u -a -b -E -I -O -S -X -P --trace --output --attach")
    if any(a in ("-p", "--attach") or a.startswith("-p") for a in run.args):
        run.ask(Class.PROCESSES, "looks into another process")
    options = run.options(valued)
    for word in options.values("-o", "--output"):
        (run.code(word[1:]) if word[:1] in ("|", "!") else run.write(word))
    run.inner(_after_options(run.args, valued))


def _multiplexer(run: Run) -> None:
    """tmux and screen: what is sent to a window is run there."""
    words = run.args
    if words[:1] and words[0] in names(
        "ls list-sessions list-windows list-panes capture-pane has-session -ls -list display-message show-options -V"
    ):
        run.note(Class.READ)
        return
    for word in words:
        if " " in word or "\n" in word:
            run.code(re.sub(r"\^M|\\n|\\r|\r", "\n", word))
    rest = _after_options(words, names("-S -L -f -t -s -n -c -d -X -p -e -T"))
    tail = [w for w in rest[1:] if w not in ("C-m", "Enter", "KPEnter")]
    tail = _after_options(tail, names("-t -s -n -c -x -y -e -F -l -p"))
    if tail and " " not in tail[0]:
        run.code(" ".join(tail))
    run.ask(Class.CODE, f"runs something in a window of {run.name}, where nobody sees it")


def _later(run: Run) -> None:
    if run.name in ("atq", "at") and ("-l" in run.args or run.name == "atq"):
        run.note(Class.READ)
        return
    if run.stdin:
        run.code(run.stdin)
    run.ask(Class.PERSISTENCE, "plans a command for later")


def _entr(run: Run) -> None:
    for word, after in pairwise([*run.args, ""]):
        name, eq, value = word.partition("=")
        if name in ("--exec", "--command") or (name in ("-x", "-c") and run.name in ("nodemon", "chokidar")):
            run.code(value if eq else after)
    inner = _after_options(run.args, frozenset(("-e", "-w", "-i", "--exec", "-x", "-f", "-E")))
    run.code(" ".join(inner))


def _fd(run: Run) -> None:
    """fd, a find with other options."""
    run.note(Class.READ)
    words = run.args
    for i, word in enumerate(words):
        if word in ("-x", "-X", "--exec", "--exec-batch"):
            inner = words[i + 1 :]
            pattern, *operands = [w for w in words[:i] if w[:1] != "-"] or [""]
            for found in [f"{w.rstrip('/')}/{'*' if pattern in ('.', '') else LISTED}" for w in operands or ["."]]:
                filled = [w.replace("{}", found) for w in inner]
                run.inner([*map(Glob, filled)] if filled != inner else [*inner, Glob(found)])
            return
        if word.startswith(("-x", "-X", "--exec")):
            run.ask(Class.CODE, "runs another program on every file")
    run.unknown(w for w in words if w[:1] in ("\0", "\1"))


PROGRAMS: dict[str, Program] = {
    **dict.fromkeys(_TRANSPARENT, _transparent),
    **each(_sudo, "sudo doas pkexec run0 gosu su-exec sudoedit gksudo kdesudo dzdo"),
    **each(_su, "su runuser sg newgrp"),
    **each(_inside_other, "chroot unshare nsenter setpriv capsh systemd-nspawn machinectl proot fakeroot fakechroot"),
    **each(_xargs, "xargs parallel gxargs"),
    **each(_strace, "strace ltrace dtruss truss"),
    **each(_multiplexer, "tmux screen byobu zellij dtach abduco"),
    **each(_later, "at batch atq atrm systemd-run"),
    **each(_entr, "entr watchexec nodemon chokidar"),
    **each(_fd, "fd fdfind"),
    "env": _env,
    "watch": _watch,
    "flock": _flock,
    "script": _script,
}
