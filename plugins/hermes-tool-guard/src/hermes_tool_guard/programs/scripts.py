"""Scripts that the command itself has written: their text is known, so it is judged."""

import re

from hermes_tool_guard.judgement import UNKNOWN, Class
from hermes_tool_guard.programs.calm import calm
from hermes_tool_guard.programs.foreign import from_source
from hermes_tool_guard.run import Run

__all__ = ["judged"]

_KINDS = {".py": "python", ".js": "node", ".mjs": "node", ".cjs": "node", ".ts": "node", ".rb": "ruby", ".pl": "perl"}
_KINDS |= {".php": "php", ".lua": "lua", ".R": "Rscript", ".jl": "julia", ".sh": "sh", ".bash": "sh", ".exs": "elixir"}
_FIRST = re.compile(r"#!\s*/(?:usr/)?(?:local/)?bin/(?:env\s+)?(?:-S\s+)?([a-zA-Z]+)")
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "source", ".", "ash"})
_RUNNERS = {"pypy": "python", "ipython": "python", "nodejs": "node", "bun": "node", "deno": "node", "tsx": "node"}


def judged(run: Run, path: str, text: str) -> bool:
    """Judge a script that ``run`` is about to run. False where its text cannot be read; then somebody must be asked."""
    read = _judged(run, path, text)
    return read and "\n" in text.strip()  # who writes a single line to a file to run it may be hiding something


def _judged(run: Run, path: str, text: str) -> bool:
    if any(c in text for c in UNKNOWN):
        return False
    kind = _kind(run, path, text)
    if kind == "sh":
        run.code(text)
        return True
    if kind == "python":
        from hermes_tool_guard.programs.foreign import never_in
        from hermes_tool_guard.programs.pycode import python_code

        never_in(run, text)
        return python_code(Run(run.scene, run.argv, run.folders, None), text, [])
    from_source(run, text)
    if kind and calm(run, kind, text):
        run.note(Class.CODE)
        return True
    run.code(text)  # it may be for a shell all the same
    return False


def _kind(run: Run, path: str, text: str) -> str:
    if run.name in _SHELLS:
        return "sh"
    name = run.name.rstrip("0123456789.")
    by_name = _RUNNERS.get(name, name) if name in _RUNNERS or name in _KINDS.values() else ""
    if by_name:
        return by_name
    if first := _FIRST.match(text):
        name = first[1].rstrip("0123456789.")
        return "sh" if name in _SHELLS else _RUNNERS.get(name, name)
    dot = path.rfind(".")
    return _KINDS.get(path[dot:], "") if dot > path.rfind("/") else "sh"
