"""Calls in Python code that touch files, run programs, fetch, or run code."""

import ast
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hermes_tool_guard.judgement import DERIVED, UNKNOWN, Class
from hermes_tool_guard.places import Zone
from hermes_tool_guard.programs.pymodules import FETCHING, HARMLESS_OF, is_closed
from hermes_tool_guard.run import names

if TYPE_CHECKING:
    from hermes_tool_guard.programs.pycode import Code

__all__ = ["CALLS", "fetches", "is_own", "loads", "needs_call"]

Call = Callable[["Code", ast.Call, str], None]
_MODE = re.compile(r"[rwaxbtU+]{1,4}")
_OWN = re.compile(r"[A-Za-z_]\w*")
_REBUILT = re.compile(
    r"(?:.*/)?(?:build|dist|out|target|__pycache__|\.pytest_cache|\.mypy_cache|\.ruff_cache|htmlcov|node_modules|tmp"
    r"|temp|coverage|[\w.-]+\.egg-info|[\w.-]+\.py[co])/?"
)
_TELLS = names(
    "exceptions __version__ codes parse request error HTTPError URLError RequestException Timeout ConnectionError "
    "TimeoutException response util"
)


def is_own(module: str) -> bool:
    """Whether a module may be the project's own, as far as its name tells."""
    return bool(_OWN.fullmatch(module)) and not is_closed(module)


def loads(code: "Code", module: str) -> None:
    """A module is loaded that may be the project's own: it must lie in the folder, and not be made just now."""
    run = code.run
    for path in (f"{folder}/{module}{end}" for folder in run.folders for end in (".py", "")):
        if run.scene.was_written(path):
            code.ask(Class.CODE, f"loads {module}, which the same command makes")
        elif run.scene.places.zone(path) not in (Zone.INSIDE, Zone.REPOSITORY):
            code.ask(Class.CODE, f"may load {module} from outside of the folder")
    run.note(Class.PROJECT)


def fetches(module: str, name: str) -> bool:
    """Whether something of a network module only fetches, or only tells."""
    return name in FETCHING[module] or name in _TELLS or f"{module}.{name}" in FETCHING


def needs_call(target: str) -> bool:
    """Whether something may only be called, where its arguments are seen, and not handed on."""
    return target in CALLS or (target.startswith(".") and target[1:] in _HANDLED)


_HANDLED = names("unlink rmdir write_text write_bytes rmtree symlink_to hardlink_to extractall")


_OPEN_TO_ALL = re.compile(
    r"/proc/(?:cpuinfo|meminfo|version|loadavg|uptime|stat|self/status|mounts|net/dev)"
    r"|/etc/(?:os-release|hostname|timezone|debian_version|hosts|lsb-release|machine-id)|/(?:usr|opt|sys/class|nix)/.*|/dev/.*"
)


def _reads(code: "Code", path: str) -> None:
    """Code may read in the folder, and what everybody may know."""
    code.run.read(path)
    far = [p for p, zone in code.run._zones(path) if zone in (Zone.OUTSIDE, Zone.PERSISTENT, Zone.VITAL, Zone.HARDWARE)]
    if path[:1] in ("/", "~") and any(not _OPEN_TO_ALL.fullmatch(p) for p in far):
        code.ask(Class.CODE, f"reads {path[:80]}, which is outside of the folder")


def _read(code: "Code", node: ast.Call, target: str) -> None:
    for path in code.texts(code.given(node, 0, "file", "path", "filename", "src")):
        if "://" not in path:
            _reads(code, path)
        elif any(c in path for c in UNKNOWN):
            code.ask(Class.SEND, f"may send something with {target}")
        else:
            code.run.note(Class.FETCH)


def _opened(code: "Code", node: ast.Call, target: str) -> None:
    """``open``, and what is like it."""
    if target.startswith(".") and isinstance(node.func, ast.Attribute):  # a path's own
        mode = code.given(node, 0, "mode")
        values = ["r"] if mode is None else code.texts(mode)
        if all(_MODE.fullmatch(v) for v in values):
            _by_mode(code, code.texts(node.func.value), values)
            return
    mode = code.given(node, 1, "mode")
    paths = code.texts(code.given(node, 0, "file", "name", "filename", "path"))
    _by_mode(code, paths, ["r"] if mode is None else code.texts(mode))


def _by_mode(code: "Code", paths: Sequence[str], modes: Sequence[str]) -> None:
    for path in paths:
        if all(re.fullmatch(r"r[bt]?U?(?::\w*)?|[bt]?r", mode) for mode in modes):
            _reads(code, path)
        else:
            code.run.write(path, keeps=all("a" in mode for mode in modes))


def _written(code: "Code", node: ast.Call, _target: str) -> None:
    for path in code.texts(code.given(node, 0, "path", "name", "filename", "dst", "base_name", "fname", "file")):
        code.run.write(path)


def _own_written(code: "Code", node: ast.Call, target: str) -> None:
    """A method of a path that changes it."""
    for path in _of_whom(code, node, target):
        code.run.write(path)


def _of_whom(code: "Code", node: ast.Call, target: str) -> list[str]:
    """The path that a method is called on: ``Path("x").touch()``, or ``Path.touch(Path("x"))``."""
    if target.startswith(".") and isinstance(node.func, ast.Attribute):
        return code.texts(node.func.value)
    return code.texts(node.args[0] if node.args else None)


def _own_read(code: "Code", node: ast.Call, target: str) -> None:
    for path in _of_whom(code, node, target):
        _reads(code, path)


def _saved(code: "Code", node: ast.Call, _target: str) -> None:
    """A method that saves something to a file named by a text."""
    named = [*node.args[:2], *(k.value for k in node.keywords if k.arg in ("path", "fname", "filename", "path_or_buf"))]
    found = [v for one in named for v in code.texts(one)]
    paths = [v for v in found if re.search(r"[./~]", v) and "\n" not in v]
    for path in paths or [v for v in found if any(c in v for c in UNKNOWN)][:1]:
        code.run.write(path)


def _deletes(code: "Code", paths: Sequence[str], recursive: bool) -> None:
    for path in paths:
        code.run.delete(path, recursive=recursive)
        rebuilt = _REBUILT.fullmatch(path) or all(z is Zone.TEMPORARY for _, z in code.run._zones(path))
        if not rebuilt:
            code.ask(Class.DELETE, "deletes files")


def _deleted(code: "Code", node: ast.Call, target: str) -> None:
    paths = code.texts(code.given(node, 0, "path", "name"))
    _deletes(code, paths, target in ("shutil.rmtree", "os.removedirs"))


def _own_deleted(code: "Code", node: ast.Call, target: str) -> None:
    recursive = target.endswith(".rmtree")
    paths = code.texts(node.args[0]) if recursive and node.args else _of_whom(code, node, target)
    _deletes(code, paths, recursive)


def _moved(code: "Code", node: ast.Call, _target: str) -> None:
    for path in code.texts(code.given(node, 0, "src", "old")):
        code.run.delete(path, what="moves away", loses=False)
    for path in code.texts(code.given(node, 1, "dst", "new")):
        code.run.write(path)
        if any(zone is Zone.TEMPORARY for _, zone in code.run._zones(path)):
            code.ask(Class.DELETE, "moves files out of the folder")


def _own_moved(code: "Code", node: ast.Call, target: str) -> None:
    """``path.rename(to)``, ``Path.rename(path, to)``; a text's own ``replace`` has two arguments."""
    whole = [*node.args, *(k.value for k in node.keywords if k.arg == "target")]
    if len(whole) < len(node.args) + len(node.keywords):
        return
    if target.startswith(".") and isinstance(node.func, ast.Attribute):
        whole = [node.func.value, *whole]
    if len(whole) != 2:
        return
    for path in code.texts(whole[0]):
        code.run.delete(path, what="moves away", loses=False)
    for path in code.texts(whole[1]):
        code.run.write(path)


def _copied(code: "Code", node: ast.Call, target: str) -> None:
    for path in code.texts(code.given(node, 0, "src")):
        (code.run.read_all if target == "shutil.copytree" else code.run.read)(path)
    for path in code.texts(code.given(node, 1, "dst")):
        code.run.write(path)


def _unpacked(code: "Code", node: ast.Call, target: str) -> None:
    position = 1 if target in ("shutil.unpack_archive", ".extract") else 0
    where = code.given(node, position, "path", "extract_dir")
    for path in ["."] if where is None else code.texts(where):
        code.run.write(path)


def _linked(code: "Code", node: ast.Call, target: str) -> None:
    code.ask(Class.WRITE_OUTSIDE, "makes links")


def _shell(code: "Code", node: ast.Call, target: str) -> None:
    """``os.system`` and its kin: the text is judged, and starting it asked about."""
    for text in code.texts(code.given(node, 0, "command", "cmd")):
        if not any(c in text for c in UNKNOWN):
            code.run.code(text)
    code.ask(Class.CODE, f"starts programs with {target}")


def _process(code: "Code", node: ast.Call, target: str) -> None:
    first = code.given(node, 0, "args")
    shell = code.given(node, 99, "shell")
    if isinstance(first, (ast.List, ast.Tuple)):
        argv = [code.texts(one)[0] for one in first.elts if not isinstance(one, ast.Starred)]
        if argv:
            code.run.inner(argv, stdin=None)
    else:
        for text in code.texts(first):
            if any(c in text for c in UNKNOWN):
                continue
            if isinstance(shell, ast.Constant) and shell.value:
                code.run.code(text)
            else:
                code.run.inner(text.split() or [""], stdin=None)
    code.ask(Class.CODE, f"starts programs with {target}")


def _killed(code: "Code", node: ast.Call, _target: str) -> None:
    if code.given(node, 0, "pid") is not None and _number(node.args[0] if node.args else None) in (-1, 1):
        code.run.deny(Class.PROCESSES, "ends every process, or the first one")
    code.ask(Class.PROCESSES, "ends processes")


def _number(node: ast.expr | None) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        return -node.operand.value if isinstance(node.operand.value, int) else None
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, int) else None


def _evaluated(code: "Code", node: ast.Call, target: str) -> None:
    from hermes_tool_guard.programs.pycode import python_code

    code.ask(Class.CODE, f"runs text as code with {target}")
    if code.run.scene.depth < 6:
        code.run.scene.depth += 1
        for text in code.texts(node.args[0] if node.args else None):
            python_code(code.run, text, [])
        code.run.scene.depth -= 1


def _timed(code: "Code", node: ast.Call, target: str) -> None:
    """Code in a text that is run as it stands."""
    from hermes_tool_guard.programs.pycode import python_code

    for one in [*node.args[:2], *(k.value for k in node.keywords if k.arg in ("stmt", "setup"))]:
        for text in code.texts(one) if not isinstance(one, ast.Lambda) else ():
            if not python_code(code.run, text, []):
                code.ask(Class.CODE, f"runs text as code with {target}")


def _got(code: "Code", node: ast.Call, _target: str) -> None:
    name = node.args[1] if len(node.args) > 1 else None
    found = code.texts(name)
    if any(c in text for text in found for c in UNKNOWN):
        code.ask(Class.CODE, "looks up names that are only known when it runs")
    for text in found:
        code.named(code.module_of(node.args[0]) if node.args else "", text, called=False)


def _imported(code: "Code", node: ast.Call, _target: str) -> None:
    for text in code.texts(node.args[0] if node.args else None):
        if any(c in text for c in UNKNOWN):
            code.ask(Class.CODE, "loads a module that is only known when it runs")
        elif not code.is_held(node) and text.partition(".")[0] in HARMLESS_OF:
            code.ask(Class.CODE, f"hands {text} to somebody else")
        else:
            code.module(text)


def _fetched(code: "Code", node: ast.Call, target: str) -> None:
    """A fixed address may be fetched; what is put into one is sent."""
    where = code.texts(code.given(node, 0, "url"))
    more = {k.arg for k in node.keywords} - {"timeout", "headers", "verify", "stream", "allow_redirects", "url"}
    more -= {"follow_redirects", "params", "context"}
    known = all(re.match(r"https?://", v) and not any(c in v for c in UNKNOWN) for v in where)
    loose = [v for k in node.keywords if k.arg in ("headers", "params") for v in _leaves(code, k.value)]
    if known and not more and not any(c in v for v in loose for c in UNKNOWN) and len(node.args) <= 1:
        code.run.note(Class.FETCH)
    else:
        code.ask(Class.SEND, f"may send something with {target}")


def _leaves(code: "Code", node: ast.expr) -> list[str]:
    if isinstance(node, ast.Dict):
        return [v for one in node.values for v in code.texts(one)]
    return code.texts(node)


def _search_path(code: "Code", node: ast.Call, _target: str) -> None:
    """``sys.path.insert(0, …)``: where modules come from."""
    for path in code.texts(node.args[-1] if node.args else None):
        if path == DERIVED or not code.run.inside(path or "."):
            code.ask(Class.CODE, "loads modules from outside of the folder")


def _names(judge: Call, text: str) -> dict[str, Call]:
    return dict.fromkeys(text.split(), judge)


CALLS: dict[str, Call] = {
    **_names(
        _opened,
        "open io.open io.FileIO codecs.open gzip.open bz2.open lzma.open tarfile.open zipfile.ZipFile .open "
        "tokenize.open wave.open",
    ),
    **_names(_own_read, ".read_text .read_bytes"),
    **_names(_read, ".read_csv .read_json .read_html .read_excel .read_parquet .read_table .loadtxt .imread .fromfile"),
    **_names(
        _written,
        "os.makedirs os.mkdir os.chmod os.utime shutil.make_archive logging.FileHandler shutil.copymode "
        "shutil.copystat logging.handlers.RotatingFileHandler",
    ),
    **_names(_own_written, ".write_text .write_bytes .touch .mkdir .chmod .lchmod"),
    **_names(
        _saved,
        ".to_csv .to_json .to_parquet .to_excel .to_pickle .to_html .to_feather .to_hdf .to_markdown .to_latex "
        ".to_stata .savefig .save .savez .savez_compressed .savetxt .imsave .imwrite .write_image .write_html "
        ".save_pretrained .tofile .write_csv .write_parquet .write_json .save_model .save_weights .dump_to "
        ".basicConfig",
    ),
    **_names(_deleted, "os.remove os.unlink os.rmdir os.removedirs shutil.rmtree os.truncate"),
    **_names(_own_deleted, ".unlink .rmdir .rmtree"),
    **_names(_moved, "os.rename os.renames os.replace shutil.move"),
    **_names(_own_moved, ".rename .replace .move .move_into"),
    **_names(_copied, "shutil.copy shutil.copy2 shutil.copyfile shutil.copytree"),
    **_names(_unpacked, "shutil.unpack_archive .extractall .extract"),
    **_names(_linked, "os.link os.symlink .symlink_to .hardlink_to"),
    **_names(_shell, "os.system os.popen subprocess.getoutput subprocess.getstatusoutput"),
    **_names(
        _process,
        "subprocess.run subprocess.call subprocess.check_call subprocess.check_output subprocess.Popen",
    ),
    **_names(_killed, "os.kill"),
    **_names(_evaluated, "exec eval compile"),
    **_names(_timed, "timeit.timeit timeit.repeat timeit.Timer"),
    **_names(_got, "getattr"),
    **_names(_imported, "__import__ importlib.import_module"),
    **_names(_fetched, "requests.get requests.head httpx.get httpx.head urllib.request.urlopen"),
    **_names(_search_path, "sys.path.insert sys.path.append sys.path.extend"),
}
_OTHERS = names("globals locals vars breakpoint setattr delattr urllib.request.urlretrieve")


def _other(code: "Code", _node: ast.Call, target: str) -> None:
    code.ask(Class.CODE, f"uses {target}")


CALLS |= dict.fromkeys(_OTHERS, _other)
