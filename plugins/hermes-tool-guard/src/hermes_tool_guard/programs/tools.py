"""Tools of the trade: they run the project's code, which is what the agent is there for, and none from elsewhere."""

import os
import re
from itertools import pairwise

from hermes_tool_guard.judgement import OPAQUE, Class
from hermes_tool_guard.places import Zone
from hermes_tool_guard.programs.allowed import Row, row_of
from hermes_tool_guard.programs.carried import carried
from hermes_tool_guard.programs.options import compiles, is_plain, plain_property
from hermes_tool_guard.run import Run, beginnings, names
from hermes_tool_guard.scene import shown

__all__ = ["MEDIA", "OUTPUTS", "files_given", "like_code", "stays", "tool"]

_ADDRESS = re.compile(r"(?i)[a-z][a-z0-9+.-]*://|(?:gh|gl|bb|git\+\w+):|[\w.-]+@[\w.-]+:")
_LOCAL = re.compile(r"(?i)https?://(?:localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0)(?:[:/]|$)")
OUTPUTS = names("-o --output --outfile --out --out-dir --outDir --output-dir --report-file --output-file -outfile")
_OUTPUT_IS = beginnings(
    "--output= --outfile= --out= --out-dir= --outDir= --output-dir= --output-file= --junitxml= --basetemp= --log-file="
)
_DECIDES = names("-f -C -P -c --file --config --directory --project-dir --build-file --rootdir -S --manifest-path")
_READ_OUT = names("-h --help --version -V version help")
_OUTWARD = names(
    "publish push upload deploy release login logout register submit send share setApiKey add-source mirror"
)
_FETCHES = names(
    "restore deps.get deps.update pub install update fetch download dependency:resolve dependency:go-offline deps sync"
)
_COMPILERS = names("gcc g++ cc c++ clang clang++ rustc gfortran nvcc ld nasm dmd ghc nim zig")
_CHECKERS = names("clang-tidy iwyu cppcheck ocamlfind")  # are told how a compiler is called
_REBUILDS = names("update-in with-profile with-profiles change")  # of lein: the project as it is for one run
_BEFORE = names("ccache distcc sccache nyc c8")  # before the line of another program
_RUNNERS = names("stack cabal nx lerna")  # whose ``exec`` runs any program
_LABELLED = names("bazel bazelisk buck2")  # a target of theirs begins with two slashes
_INTO = names("qpdf pdftotext pdfimages pdfseparate pdfunite objcopy strip lipo install_name_tool")  # the last is made
_SIDE = names("-MF -dumpdir -dumpbase -aux-info -foutput -dir -out -vstats_file -passlogfile -write +write -dump")
MEDIA = names("ffmpeg sox convert magick mogrify composite montage gm gs inkscape")
_PROTOCOL = re.compile(
    r"(?:msl|ephemeral|https?|ftp|rtmp|tcp|udp|concat|subfile|data|file|gopher|label:@|text:|\[f=|\|)"
)
_SCRIPTED = names(
    "-script batch -filter_script -filter_complex_script --actions --actions-file --extension-directory -dNOSAFER "
    "-c -f --shell"
)
_CALL = re.compile(r"[`;|\n]|\$[({]|\b\w+\s*\(.*[\"']")
_SYSTEM = beginnings("/usr/ /opt/ /etc/ /lib /nix/ /Library/ /System/ /Applications/ /snap/")  # a person put it there


def tool(run: Run) -> None:
    """Judge a tool of the list."""
    row = row_of(run.name, "tools")
    if run.name in _BEFORE and run.args[:1] and run.args[0][:1] != "-":
        run.inner(run.args)
        return
    if run.name in _RUNNERS and run.args[:1] == ["exec"]:
        words = run.args[1:]
        run.inner(words[words.index("--") + 1 :] if "--" in words else [w for w in words if w[:1] != "-"])
        return
    files_given(run)
    first = next((a for a in run.args if a[:1] != "-"), "")
    _by_verb(run, first)
    if row.operands == "stays":
        if first in _OUTWARD:
            run.ask(Class.SEND, f"may change something elsewhere with {run.name} {first}")
            return
        if not (run.args and run.args[0] in _READ_OUT) and not stays(run):
            return
    run.note(Class.PROJECT)
    if run.name == "cmake" and run.args[:1] == ["-E"]:
        _cmake(run, run.args[1:])
        return
    if _FETCHES & set(run.args[:3]):
        run.note(Class.FETCH)
    _arguments(run, row)
    if run.name in MEDIA:
        _media(run)
    elif run.name in _INTO and len(operands := [a for a in run.args if a[:1] != "-"]) > 1:
        run.write(operands[-1])
    if run.name in _COMPILERS:
        _compiled(run)
    carried(run, asks=True)


def _by_verb(run: Run, first: str) -> None:
    """What a few tools run by a word of theirs."""
    if first == "shell" and run.name in ("django-admin", "manage.py"):
        run.ask(Class.CODE, f"gives {run.name} code to run")
    elif run.name == "lein" and first in _REBUILDS:
        run.ask(Class.CODE, f"changes what lein runs with {first}")
    elif run.name == "wasm-pack" and "--" in run.args:
        at = run.args.index("--")
        run.inner(["cargo", "build", *run.args[at + 1 :]])
        run.args = run.args[:at]


def _arguments(run: Run, row: Row) -> None:
    """Look at each argument: an option that is on no list, a value that is code, a place that may hold some."""
    text = made = False
    before = ""
    for word in run.args:
        name, eq, value = word.partition("=")
        if word[:1] != "-" or len(word) == 1:
            if before == "-C" and run.name in _COMPILERS and not compiles(word, before):
                _strange(run, word)
            if not text and not made:
                _operand(run, row, word)
            text = made = False
            before = word
            continue
        known = _known(row, name)
        kind = row.options.get(known, "") if known else ""
        made = not eq and name in OUTPUTS
        text = not eq and kind[:1] == "=" and kind != "=<" and word == known
        before = word
        if (not known and not _free(run, row, word)) or (known and eq and not kind and " " in value):
            _strange(run, word)
        elif (
            eq
            and (kind[:1] != "=" or kind == "=<")
            and not word.startswith(_OUTPUT_IS)
            and not (word[:2] == "-D" and not known)
        ):
            _operand(run, row, value)


def _known(row: Row, name: str) -> str:
    """The option of a row that a word is, or empty."""
    if name in row.options:
        return name
    if "1" in row.marks:
        return next((one for one, kind in row.options.items() if kind == "?" and name.startswith(one)), "")
    return name[:2] if name[:2] in row.options and name[1:2] != "-" else ""


def _free(run: Run, row: Row, word: str) -> bool:
    """Whether an option that is not in the row of its tool gives it nothing to run."""
    name = word.partition("=")[0]
    if run.name in _COMPILERS:
        return compiles(word) or (word[:2] == "--" and is_plain(word))
    if run.name in _CHECKERS and compiles(word):
        return True
    if run.name in MEDIA:
        return name not in _SCRIPTED or (run.name == "ffmpeg" and name in ("-c", "-f"))
    if word[:2] == "-D" and len(word) > 2:
        return plain_property(word)
    if "1" in row.marks and name[1:2] != "-" and len(name) == 2:
        return False
    return is_plain(word) or name in OUTPUTS or name in _DECIDES


def _strange(run: Run, word: str) -> None:
    carried(run)
    run.ask(Class.CODE, f"gives {run.name} {shown(word.partition('=')[0])}, and the guard does not know what that does")


def _operand(run: Run, row: Row, word: str) -> None:
    if word.startswith("//") and run.name in _LABELLED:
        return
    if run.name not in MEDIA and like_code(word):
        carried(run)
        run.ask(Class.CODE, f"gives {run.name} code to run")
    elif row.operands == "data":
        run.read(word)
    elif word[:1] in ("/", "~", ".") and not _of_the_person(run, word):
        run.ask(Class.CODE, f"lets {run.name} run what {shown(word)} says, outside of the folder")


def _of_the_person(run: Run, word: str) -> bool:
    """Whether a place is in the folder, or where only the system's own installers write."""
    fine = (Zone.INSIDE, Zone.WORKSPACE, Zone.SINK, Zone.REPOSITORY)
    zones = run._zones(word)
    return all(zone in fine or os.path.normpath(path).startswith(_SYSTEM) for path, zone in zones)


def like_code(word: str) -> bool:
    """Whether an argument looks like code of some language: it calls something, or holds several statements."""
    return bool(_CALL.search(word))


def files_given(run: Run) -> None:
    """What a tool writes to."""
    for word, after in pairwise([*run.args, ""]):
        if (word in OUTPUTS or word in _SIDE) and after and not (word == "-o" and "=" in after):
            run.write(after)
        elif word.startswith(("-sOutputFile=", "--emit=")) and "=" in word:
            run.write(word.rpartition("=")[2])
        elif word.startswith(_OUTPUT_IS):
            run.write(word.partition("=")[2])


def stays(run: Run) -> bool:
    """Whether all that the arguments name is in the folder; asks if not."""
    for word in run.args:
        if OPAQUE in word:
            run.ask(Class.UNCLEAR, f"gives {run.name} arguments that are only known when it runs")
            return False
        for part in {word, word.partition("=")[2]} - {""}:
            if _ADDRESS.search(part) and not _LOCAL.match(part):
                run.ask(Class.SEND, f"lets {run.name} use {shown(part)}")
                return False
            if part[:1] in ("/", "~") or ".." in part:
                zones = [zone for _, zone in run._zones(part)]
                if not all(z in (Zone.INSIDE, Zone.WORKSPACE, Zone.TEMPORARY, Zone.SINK) for z in zones):
                    carried(run)
                    run.ask(
                        Class.WRITE_OUTSIDE, f"lets {run.name} work on {shown(part)}, which is outside of the folder"
                    )
                    return False
    return True


def _media(run: Run) -> None:
    if run.args and run.args[-1][:1] != "-":
        run.write(run.args[-1])
    if any(map(_PROTOCOL.match, run.args)) or _SCRIPTED.intersection(run.args) - {"-c", "-f"}:
        run.ask(Class.SEND, f"lets {run.name} use the network or more")


def _compiled(run: Run) -> None:
    """What is built of the project's sources is the project's; what is built of text in this command is not."""
    if any(a.startswith(("-fplugin", "-wrapper", "-B", "@", "-specs", "-pgm", "--eval", "-load")) for a in run.args):
        run.ask(Class.CODE, f"makes {run.name} run another program")
    places, scene = run.scene.places, run.scene
    paths = {os.path.normpath(p) for w in run.args if w[:1] != "-" for p in places.absolute(w, run.folders)}
    outputs = [after for word, after in pairwise([*run.args, ""]) if word == "-o"] or ["a.out"]
    made = {os.path.normpath(p) for w in outputs for p in places.absolute(w, run.folders)}
    if any(scene.was_written(path) for path in paths - made):
        scene.written |= made
    else:
        scene.written -= made


_CMAKE = dict(  # cmake's own commands, and the programs that do the same
    pair.split("=", 1)
    for pair in (
        "rm=rm", "remove=rm", "remove_directory=rm -r", "copy=cp", "copy_directory=cp -r", "copy_if_different=cp",
        "copy_directory_if_different=cp -r", "rename=mv", "touch=touch", "touch_nocreate=touch", "make_directory=mkdir",
        "create_symlink=ln -s", "create_hardlink=ln", "tar=tar", "env=env", "time=time", "chdir=env -C", "cat=cat",
        "echo=echo", "echo_append=echo", "compare_files=cmp", "sleep=sleep", "true=true", "environment=printenv",
        "capabilities=true", "md5sum=md5sum", "sha1sum=sha1sum", "sha256sum=sha256sum",
    )
)  # fmt: skip


def _cmake(run: Run, words: list[str]) -> None:
    known = _CMAKE.get(words[0]) if words else None
    if known is None:
        carried(run)
        run.ask(Class.CODE, f"runs cmake -E {' '.join(words[:1])[:40]}, which the guard does not know")
    else:
        run.inner([*known.split(), *words[1:]])
