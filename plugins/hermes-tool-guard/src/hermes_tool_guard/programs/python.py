"""Python: a file or module of the project is the project's code; code on the command line may calculate and print."""

import re
from itertools import pairwise

from hermes_tool_guard.judgement import Class
from hermes_tool_guard.programs.foreign import from_source, never_in
from hermes_tool_guard.programs.tools import tool
from hermes_tool_guard.run import Program, Run, each, names

_MODULES = names(
    "pytest unittest mypy ruff black isort flake8 pylint build coverage tox nox doctest compileall "
    "py_compile json.tool venv virtualenv sphinx mkdocs pyright bandit pydocstyle cProfile "
    "pstats dis ast tokenize this calendar platform site sysconfig trace zipfile tarfile django "
    "alembic pre_commit towncrier vulture radon interrogate yapf autopep8 pyupgrade twine_check "
    "grpc_tools.protoc ipykernel nbconvert black.main pyinstaller cython mccabe pycodestyle pyflakes "
    "tabnanny json base64 zipapp http.server pip piptools pipx uv ensurepip poetry setuptools wheel "
    "pip_audit safety hatch pdm invoke behave robot asv"
)


def _python(run: Run) -> None:
    words = list(run.args)
    while words and words[0][:1] == "-" and words[0] != "-":
        word = words.pop(0)
        if word in ("--version", "-V", "-VV", "--help", "-h", "-?"):
            run.note(Class.READ)
            return
        if word == "-i":
            run.ask(Class.CODE, f"opens {run.name}, which waits for input")
        elif word in ("-W", "-X", "--check-hash-based-pycs"):
            words[:1] = []
        elif match := re.match(r"-[bBdEhiIOPqsSuvx]*([cm])(.*)$", word, re.DOTALL):
            value = match[2] or (words.pop(0) if words else "")
            if "i" in word[: match.start(1)]:
                run.ask(Class.CODE, f"opens {run.name}, which waits for input")
            (_python_code if match[1] == "c" else _module)(run, value, words)
            return
    if not words or words[0] == "-":
        if run.stdin is None:
            run.ask(Class.CODE, f"opens {run.name}, which waits for input")
        else:
            _python_code(run, run.stdin, words[1:])
        return
    run.script(words[0])
    if words[0].endswith("setup.py") and words[1:2] == ["install"]:
        run.ask(Class.INSTALL, "installs the project for more than itself")


def _python_code(run: Run, code: str, rest: list[str]) -> None:
    from hermes_tool_guard.programs.pycode import python_code

    inner = Run(run.scene, run.argv, run.folders, None)
    never_in(run, code)
    if not python_code(inner, code, rest):
        from_source(run, code)
        run.ask(Class.CODE, "runs Python code that the guard cannot read")
    run.asked = run.asked or inner.asked
    run.note(Class.CODE)


def _local_server(run: Run, rest: list[str]) -> bool:
    """A server of the folder that only this machine can reach."""
    local = any(
        pair in (("--bind", "127.0.0.1"), ("-b", "127.0.0.1"), ("--bind", "localhost"), ("-b", "localhost"))
        for pair in pairwise(rest)
    )
    folders = [after for word, after in pairwise(rest) if word in ("-d", "--directory")] or ["."]
    return local and all(map(run.inside, folders))


def _module(run: Run, module: str, rest: list[str]) -> None:
    if rest in (["--help"], ["-h"], ["--version"]) or (module == "http.server" and _local_server(run, rest)):
        run.note(Class.PROJECT)
    elif module == "http.server" or module in ("http", "SimpleHTTPServer", "pyftpdlib", "smtpd", "aiosmtpd"):
        run.ask(Class.SERVE, "serves the folder to the network")
    elif module in ("pip", "pipx", "uv", "poetry", "hatch", "pdm"):
        run.inner([module, *rest])
    elif module == "timeit":
        _timed(run, rest)
    elif module in _TOOLS:
        tool(Run(run.scene, [module, *rest], run.folders, run.stdin))
        run.note(Class.PROJECT)
    elif module in _MODULES:
        if module in ("zipfile", "tarfile", "compileall"):
            _archived(run, module, rest)
        run.note(Class.PROJECT)
    elif re.fullmatch(r"[a-z_]\w*(?:\.[a-z_]\w*)*", module):
        if module in names(
            "pty code pdb cgi webbrowser idlelib turtledemo asyncio sqlite3 telnetlib ftplib smtplib poplib twine "
            "keyring awscli runpy"
        ):
            run.ask(Class.CODE, f"runs Python's module {module}")
        else:
            run.note(Class.PROJECT)
    else:
        run.ask(Class.UNCLEAR, "runs a Python module that is only known when it runs")


def _archived(run: Run, module: str, rest: list[str]) -> None:
    for word in [w for w in rest if w[:1] != "-"]:
        run.write(word) if module == "compileall" else run.read(word)
    if any(w in ("-e", "--extract") for w in rest):
        run.write(rest[-1])
    if any(w in ("-c", "--create") for w in rest):
        run.write(next((w for w in rest if w[:1] != "-"), "."))


_TOOLS = names("pytest coverage mypy ruff black isort flake8 pylint bandit pyright mkdocs alembic yapf autopep8")


def _timed(run: Run, rest: list[str]) -> None:
    """timeit: what it times, and what it sets up before, is code."""
    words = iter(rest)
    for word in words:
        if word in ("-n", "-r", "-u", "--number", "--repeat", "--unit"):
            next(words, "")
        elif word in ("-s", "--setup"):
            _python_code(run, next(words, ""), [])
        elif word[:1] != "-" or word.startswith(("-s", "--setup=")):
            _python_code(run, word.removeprefix("-s").removeprefix("--setup="), [])
    run.note(Class.CODE)


PROGRAMS: dict[str, Program] = each(_python, "python python3 python2 pypy pypy3 ipython micropython py")
