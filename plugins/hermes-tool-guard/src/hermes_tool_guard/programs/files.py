"""Programs that make, move, change and delete files."""

import os
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from itertools import pairwise

from hermes_tool_guard.judgement import DERIVED, LISTED, OPAQUE, UNKNOWN, Class
from hermes_tool_guard.mentions import ENV_EXAMPLE, ENV_FILE, NAMERS
from hermes_tool_guard.places import Zone, normal
from hermes_tool_guard.programs.windows import VITAL
from hermes_tool_guard.run import Program, Run, each, names
from hermes_tool_guard.scene import shown


def _rm(run: Run) -> None:
    options = run.options()
    for word in run.args:
        if ":" in word and VITAL.fullmatch(word):
            run.deny(Class.DELETE, f"deletes {shown(word)}, a place that everything else depends on")
    recursive = run.name in ("srm", "wipe", "rmdir", "trash") or options.has("-r", "-R", "--recursive")
    deletes(run, options.rest, recursive)


def deletes(run: Run, words: Sequence[str], recursive: bool) -> None:
    """It deletes these."""
    run.note(Class.DELETE)
    for word in words:
        run.delete(word, recursive=recursive)
    run.output = ""


def _shred(run: Run) -> None:
    options = run.options({"-n", "-s", "--size", "--iterations", "--random-source"})
    deletes(run, options.rest, True)
    if options.rest:
        run.ask(Class.DELETE, "destroys files beyond recovery", lost=True)


def _truncate(run: Run) -> None:
    options = run.options({"-s", "-r", "--size", "--reference"})
    for word in options.rest:
        run.delete(word, what="empties")


def _mv(run: Run) -> None:
    options = run.options({"-t", "--target-directory", "-S", "--suffix"})
    target = options.value("-t", "--target-directory")
    words = list(options.rest)
    if not target and len(words) > 1:
        target = words.pop()
    there = run._zones(f"{target.rstrip('/')}/x") if target else []
    gone = any(zone is Zone.TEMPORARY for _, zone in there)  # it is emptied before long
    for word in words:
        run.delete(word, what="moves away", loses=gone)
    if target:
        _into(run, target, words)


def _into(run: Run, target: str, words: Sequence[str]) -> None:
    """A file that lands at ``target``, which may be a folder."""
    run.write(target)
    for word in words:
        name = word.rstrip("/").rpartition("/")[2]
        if (
            name
            and name not in (".", "..")
            and not any(c in name for c in "*?[")
            and not any(c in name for c in UNKNOWN)
        ):
            run.write(f"{target.rstrip('/')}/{name}")


def _cp(run: Run) -> None:
    options = run.options(
        {"-t", "--target-directory", "-S", "--suffix", "-m", "--mode", "-o", "-g", "--owner", "--group"}
    )
    target = options.value("-t", "--target-directory")
    words = list(options.rest)
    if not target and len(words) > 1:
        target = words.pop()
    if run.name == "install" and options.has("-d", "--directory"):
        words, target = [], ""
        for word in options.rest:
            run.write(word)
    if run.name == "install" and re.search(r"[4267]\d{3}$|[+=].*s", options.value("-m", "--mode")):
        run.ask(Class.PRIVILEGE, "makes a program run with the rights of its owner")
    recursive = options.has("-r", "-R", "-a", "--recursive", "--archive")
    for word in words:
        (run.read_all if recursive else run.read)(word)
    if target and not (len(words) == 1 and _env_from_example(run, words[0], target)):
        _into(run, target, words)


def _env_from_example(run: Run, source: str, target: str) -> bool:
    """``cp .env.example .env``: settings that everybody may know become the project's own."""
    if not (ENV_EXAMPLE.fullmatch(source) and ENV_FILE.fullmatch(target)):
        return False
    if not all(run.inside(f"{folder}/x") for folder in run.folders):
        return False
    if (losses := run.scene.lost()) and any(losses.overwritten(f"{folder}/{target}") for folder in run.folders):
        return False  # there are settings already, and nothing else has them
    run.note(Class.WRITE)
    return True


def _ln(run: Run) -> None:
    options = run.options({"-t", "--target-directory", "-S", "--suffix"})
    words = list(options.rest)
    target = options.value("-t", "--target-directory") or (words.pop() if len(words) > 1 else ".")
    run.write(target)
    for word in words:
        if not options.has("-s", "--symbolic"):
            run.read(word)
        elif not all(
            zone in (Zone.INSIDE, Zone.TEMPORARY, Zone.SINK) for _, zone in run._zones(word)
        ) and word.startswith(("/", "~", "..", "\0", "\1")):
            inside = [z for _, z in run._zones(f"{target}/../{word}")]
            if word.startswith("..") and all(z is Zone.INSIDE for z in inside):
                continue
            run.ask(Class.WRITE_OUTSIDE, f"makes a link to {shown(word)}, which leads out of the folder")


def _makes(run: Run) -> None:
    options = run.options(
        {"-m", "--mode", "-d", "--date", "-r", "--reference", "-t", "-Z", "-b", "-n", "-l", "-C", "-a"}
    )
    for word in options.rest:
        if run.name == "touch" and word in (".env", "./.env") and all(run.inside(f"{f}/x") for f in run.folders):
            run.note(Class.WRITE)
        else:
            run.write(word)
    if run.name == "mkfifo":
        run.note(Class.WRITE)
    run.output = ""


def _mknod(run: Run) -> None:
    if "p" in run.args:
        run.write(run.args[0])
        return
    run.ask(Class.KERNEL, "makes a device")


def _tee(run: Run) -> None:
    options = run.options()
    for word in options.rest:
        run.write(word, keeps=options.has("-a", "--append"))
        if run.stdin and not any(c in run.stdin for c in UNKNOWN):
            for path in run.scene.places.absolute(word, run.folders)[:4]:
                run.scene.filled(os.path.normpath(path), run.stdin, more=options.has("-a", "--append"))
    run.output = run.stdin or DERIVED


def _chmod(run: Run) -> None:
    options = run.options({"--reference"})
    recursive = options.has("-R", "--recursive")
    # A mode such as -x or -rwx looks like an option.
    modes = [a for a in run.args if re.fullmatch(r"[-+=ugoa,]*[-+=][rwxXstugo,+=-]*|[0-7]{1,5}", a)]
    words = [w for w in options.rest if w not in modes[:1]]
    mode = modes[0] if modes else ""
    if run.name == "chmod":
        if re.search(r"^0?[2467]\d{3}$|[+=][a-zA-Z]*s", mode):
            run.ask(Class.PRIVILEGE, "makes a program run with the rights of its owner")
        if re.search(r"^\d?\d\d[2367]$|(?:^|,)[ugo]*[oa][ugoa]*[+=][rwxX]*w", mode):
            run.ask(Class.PRIVILEGE, "lets everybody on this machine write")
        if not mode and not options.has("--reference"):
            words = options.rest[1:]
            run.ask(Class.UNCLEAR, "sets a mode that is only known when it runs")
    elif run.name in ("chown", "chgrp"):
        words = options.rest if options.has("--reference") else options.rest[1:]
        run.ask(Class.PRIVILEGE, "changes who owns files")
    for word in words:
        paths = run._zones(word)
        if recursive or any(zone is Zone.VITAL and path.rstrip("/") != run.scene.places.home for path, zone in paths):
            run.delete(word, recursive=recursive, what="changes the rights of", loses=False)
        else:
            run.write(word, what="changes the rights of", keeps=True)


def _attributes(run: Run) -> None:
    options = run.options({"-m", "-x", "-M", "-X", "-n", "-v", "-p"})
    for word in options.rest:
        run.delete(word, recursive=options.has("-R", "-r"), what="changes the rights of", loses=False)
    run.ask(Class.PRIVILEGE, f"changes the rights of files with {run.name}")


def _dd(run: Run) -> None:
    run.note(Class.READ)
    for word in run.args:
        name, _, value = word.partition("=")
        if name == "of":
            run.delete(value, recursive=False, what="overwrites")
            run.write(value, what="overwrites")
        elif name == "if":
            run.read(value)
        elif name and any(c in name for c in UNKNOWN):
            run.unknown([word])


_FIND_VALUED = names(
    "-name -iname -path -ipath -regex -iregex -type -size -mtime -mmin -newer -anewer -cnewer -atime "
    "-ctime -amin -cmin -maxdepth -mindepth -user -group -perm -printf -wholename -lname -samefile "
    "-inum -links -uid -gid -fstype -xtype -regextype -newermt -used"
)


def _find(run: Run) -> None:
    run.note(Class.READ)
    args = run.args
    at = next(
        (i for i, a in enumerate(args) if (a[:1] == "-" and a not in ("-H", "-L", "-P")) or a in ("!", "(")), len(args)
    )
    starts = [a for a in args[:at] if a[:1] != "-"] or ["."]
    run.unknown(s for s in starts if s[:1] in UNKNOWN)
    tested = any(_picks(test, value) for test, value in pairwise(args))
    if not {"-printf", "-ls", "-exec", "-execdir", "-fprint"} & set(args):
        run.output = "\n".join(f"{s.rstrip('/')}/{LISTED if tested else '*'}" for s in starts)
    i = at
    while i < len(args):
        word = args[i]
        if word in _FIND_VALUED:
            i += 2
        elif word in ("-exec", "-execdir", "-ok", "-okdir"):
            end = next(
                (j for j in range(i + 1, len(args)) if args[j] == ";" or (args[j] == "+" and args[j - 1] == "{}")),
                len(args),
            )
            _for_each(run, args[i + 1 : end], [f"{s.rstrip('/') or '/'}/*" for s in starts], starts, args[at:i])
            i = end + 1
        elif word == "-delete":
            for start in starts:
                _found_deleted(run, start, args[at:i])
            i += 1
        elif word in ("-fprint", "-fls", "-fprint0", "-fprintf"):
            run.write(args[i + 1] if i + 1 < len(args) else OPAQUE)
            i += 3 if word == "-fprintf" else 2
        elif word.startswith("-newer"):
            i += 2
        else:
            run.unknown([word])
            i += 1


_WORK = re.compile(  # kinds of files that nothing makes anew
    r"\*\.(?:py|[cm]?[jt]sx?|go|rs|[ch]|cc|cpp|hpp|java|kt|rb|php|swift|cs|scala|ex|exs|hs|ml|lua|pl|r|jl|sql|sh|vue|svelte"
    r"|html|css|scss|md|rst|tex|docx?|xlsx?|pdf|csv|json|ya?ml|toml|ipynb|db|sqlite3?|parquet|jpe?g|png|mp[34])"
)


def _picks(test: str, value: str) -> bool:
    return test in ("-name", "-iname", "-path", "-regex", "-mtime", "-size", "-newer", "-mmin") and value != "*"


def _found_deleted(run: Run, start: str, tests: Sequence[str]) -> None:
    """find … -delete: without a test all of a folder goes; with one, some of it."""
    selective = any(
        t in ("-name", "-iname", "-path", "-newer", "-mtime", "-mmin", "-regex", "-empty", "-size") for t in tests
    )
    if any(name in ("*", ".*", "*.*", "?*") for name in tests):
        selective = False
    elif selective and any(_WORK.fullmatch(test) for test in tests):
        run.ask(Class.DELETE, f"deletes all files of a kind that holds work, below {shown(start)}")
    guarded = any(zone is Zone.GUARDED for _, zone in run._zones(start, whole=True))
    if guarded or not selective or not run.inside(start):
        run.delete(start)
    else:
        run.note(Class.DELETE)
        _found_lost(run, start, tests)


def _found_lost(run: Run, start: str, tests: Sequence[str]) -> None:
    """Ask where a search deletes something that no snapshot has; a test that is not known picks everything."""
    if not (losses := run.scene.lost()):
        return
    named = [value for before, test, value in zip(["", *tests], tests, tests[1:], strict=False)
             if test in ("-name", "-iname") and before not in ("!", "-not")]  # fmt: skip
    paths = [value for test, value in pairwise(tests) if test in ("-path", "-wholename")]
    for folder, _ in run._zones(start):
        shape = [path.replace(start, folder, 1) if path.startswith(start) else path for path in paths]

        def picks(path: str, _folder: bool, shape: Sequence[str] = shape) -> bool:
            name = path.rpartition("/")[2]
            return any(fnmatchcase(name, one) for one in named) or any(fnmatchcase(path, one) for one in shape)

        test = picks if named or shape else lambda *_: True
        if "-empty" not in tests and (lost := losses.below(normal(folder), test)):
            run.ask(Class.DELETE, f"deletes {lost}, which no snapshot has", lost=True)


def _for_each(run: Run, argv: Sequence[str], found: Sequence[str], starts: Sequence[str], tests: Sequence[str]) -> None:
    if not argv:
        return
    sub = [a.replace("{}", found[0]) if "{}" in a else a for a in argv]
    name = sub[0].rpartition("/")[2]
    if name in ("rm", "rmdir", "unlink", "shred", "srm", "chmod", "chown", "mv", "truncate"):
        one = f"{starts[0].rstrip('/')}/{LISTED}"
        named = [a.replace("{}", one) for a in argv if a != "{}"]  # what it works on besides what is found
        if name in ("chmod", "chown"):
            run.inner([a for a in argv if a != "{}"] + list(starts))
        elif any(a[:1] != "-" for a in named[1:]):
            run.inner(named)
        for start in starts:
            _found_deleted(run, start, tests)
        if name != "mv":
            return
    elif name not in NAMERS and not any(map(_picks, tests, [*tests[1:], ""])):
        for start in starts:
            run.read_all(start)  # every file below it
    if name in ("sh", "bash", "dash", "zsh", "ksh"):
        sub = [*[a for a in argv if a != "{}"], *found] if "{}" in argv else sub
    from hermes_tool_guard.escapes import Glob

    run.inner([Glob(a) if found[0] in a and a != argv[0] else a for a in sub], stdin=DERIVED)


PROGRAMS: dict[str, Program] = {
    **each(_rm, "rm rmdir unlink srm wipe trash trash-put"),
    **each(_makes, "mkdir touch mkfifo"),
    **each(_chmod, "chmod chown chgrp"),
    **each(_attributes, "chattr setfacl setfattr setcap chcon chflags"),
    **each(_cp, "cp install gcp ditto"),
    **each(_find, "find gfind bfs"),
    "shred": _shred,
    "truncate": _truncate,
    "mv": _mv,
    "ln": _ln,
    "mknod": _mknod,
    "tee": _tee,
    "dd": _dd,
    "link": _ln,
    "rename": _mv,
    "dcfldd": _dd,
    "gdd": _dd,
}
