"""Archives and compressed files."""

from hermes_core.types import Effect
from hermes_tool_guard.judgement import Class
from hermes_tool_guard.programs.files import deletes
from hermes_tool_guard.run import Options, Program, Run, each, names

_TAR_RUNS = names(
    "--checkpoint-action --to-command --use-compress-program --info-script --new-volume-script --rsh-command "
    "--rmt-command"
)


def unpacks(run: Run, folder: str) -> None:
    """It makes files in a folder whose names nobody has seen: one may be of those that run by themselves."""
    run.write(folder)
    run.note(Class.WRITE, Effect.WRITE_FILES, Effect.EXECUTE)


def _tar_runs(run: Run, options: Options) -> None:
    """Other programs that tar is told to run."""
    for name in _TAR_RUNS:
        if options.has(name) and not options.value(name).startswith(
            ("exec=echo", "echo", "dot", "gzip", "pigz", "zstd", "xz", "bzip2", "lz4", "pbzip2")
        ):
            run.code(options.value(name).removeprefix("exec="))
            run.ask(Class.CODE, f"runs another program with {name}")
    if options.has("-F") or (
        options.has("-I")
        and options.value("-I").split(" ")[0] not in ("gzip", "pigz", "zstd", "xz", "bzip2", "lz4", "pbzip2")
    ):
        run.ask(Class.CODE, "runs another program")


def _tar(run: Run) -> None:
    args = list(run.args)
    if args and args[0][:1] not in ("-", "\0", "\1"):
        args[0] = f"-{args[0]}"  # tar xzf
    plain = Run(run.scene, [run.argv[0], *args], run.folders, run.stdin)
    valued = names("-f -C -T -X -I -F -b -g -H -K -N -V --file --directory --exclude --transform")
    options = plain.options(valued)
    _tar_runs(run, options)
    archive = options.value("-f", "--file")
    if ":" in archive and not archive.startswith(("/", ".")):
        run.ask(Class.SEND, "uses an archive on another machine")
        return
    run.unknown(w for w in options.rest if w[:1] in ("\0", "\1"))
    folder = options.value("-C", "--directory")
    if options.has("-c", "-r", "-u", "--create", "--append", "--update"):
        if archive not in ("", "-"):
            run.write(archive)
        for word in options.rest:
            run.read_all(f"{folder}/{word}" if folder and not word.startswith("/") else word)
    elif options.has("-x", "--extract", "--get"):
        run.read(archive or ".")
        unpacks(run, folder or ".")
        if options.has("-P", "--absolute-names"):
            run.ask(Class.WRITE_OUTSIDE, "unpacks files to wherever their names say")
    else:
        run.read(archive or ".")
    for word in options.values("--index-file", "-g", "--listed-incremental"):
        run.write(word)
    if options.has("--remove-files"):
        deletes(run, options.rest, True)


_FLAGS = {"cpio": {"-d"}, "ar": {"-x", "-d", "-o", "-P", "-O"}}  # take no value there


def _unpack(run: Run) -> None:
    options = run.options(names("-d -o -x -P -O -D --directory -F -I --output") - _FLAGS.get(run.name, set()))
    if run.name == "cpio" and options.has("-D", "--directory"):
        run.write(options.value("-D", "--directory"))
    if run.name == "ar" and options.has("--output"):
        run.write(options.value("--output"))
    if run.name in ("unzip", "bsdtar"):
        if options.has("-l", "-v", "-t", "-p", "-Z"):
            run.note(Class.READ)
        else:
            unpacks(run, options.value("-d") or ".")
    else:
        unpacks(run, ".")
    for word in options.rest[:1]:
        run.read(word)


def _seven(run: Run) -> None:
    output = [a[2:] for a in run.args if a.startswith("-o")]
    words = [a for a in run.args[1:] if a[:1] != "-"]
    if run.args[:1] in (["x"], ["e"]):
        unpacks(run, output[0] if output else ".")
    elif run.args[:1] in (["l"], ["t"], ["i"], ["h"], ["b"]):
        run.note(Class.READ)
    else:
        run.write(words[0] if words else ".")
    for word in words:
        run.read_all(word)


def _zip(run: Run) -> None:
    options = run.options({"-i", "-x", "-P", "-b", "-t", "-n", "-TT", "--unzip-command"})
    if options.has("-T", "--unzip-command", "-TT") and any(a.startswith(("-TT", "--unzip-command")) for a in run.args):
        run.ask(Class.CODE, "runs another program to test the archive")
    if options.rest:
        run.write(options.rest[0])
    for word in options.rest[1:]:
        run.read_all(word)
    if options.has("-m", "--move"):
        deletes(run, options.rest[1:], True)


def _compress(run: Run) -> None:
    options = run.options(
        {"-S", "-T", "-o", "-M", "-q", "-D"} if run.name in ("xz", "zstd", "brotli") else {"-S", "-p"}
    )
    for word in options.rest:
        if options.has("-c", "--stdout", "--to-stdout", "-l", "--list", "-t", "--test"):
            run.read(word)
        else:
            run.write(word)
    for word in options.values("-o"):
        run.write(word)
    if options.has("--files", "--files0"):
        run.ask(Class.UNCLEAR, "changes the files that another file names")
    run.note(Class.READ)


def _split(run: Run) -> None:
    options = run.options(names("-b -l -n -a -C -t --bytes --lines --number -f --prefix --suffix-format"))
    if options.has("--filter"):
        run.code(options.value("--filter"))
        run.ask(Class.CODE, "runs another program on every part")
    if run.name == "csplit":
        run.looked.update(options.rest[1:])  # patterns
        run.write(options.value("-f", "--prefix") or "xx00")
    else:
        run.write(options.rest[1] if len(options.rest) > 1 else "xaa")


PROGRAMS: dict[str, Program] = {
    **each(_compress, "gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 pigz brotli compress"),
    **each(_split, "split csplit"),
    **each(_seven, "7z 7za 7zr"),
    **each(_unpack, "unzip unrar cpio ar"),
    **each(_tar, "tar bsdtar gtar"),
    "zip": _zip,
}
