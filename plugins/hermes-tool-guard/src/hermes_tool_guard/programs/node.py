"""npm and its kin: scripts of the project run, packages from outside are asked about."""

import re
from itertools import pairwise

from hermes_tool_guard.judgement import Class
from hermes_tool_guard.programs.packages import LOOKS, is_local, known_tool, looks
from hermes_tool_guard.programs.wellknown import is_well_known
from hermes_tool_guard.run import Program, Run, each, names

_RUNS = names(
    "run run-script test t tst start build lint dev rebuild ci clean-install pack dedupe prune version init format "
    "typecheck workspaces workspace import link stop restart coverage check generate fetch rb ddp recursive "
    "stage e2e preview"
)
_CHANGES = names("install i add in isntall up update upgrade remove rm uninstall un why global")
_VALUED = names("--filter -F --filter-prod --dir -C --prefix --cwd --workspace -w --loglevel --reporter --config")
_FETCHES = names("ci clean-install dedupe init import fetch install i in isntall add up update upgrade rebuild")
_TELLS = names("publish unpublish deprecate dist-tag login logout adduser owner access token team org profile hook npm")


def _npm(run: Run) -> None:
    words = list(run.args)
    if words and words[0][:1] == "-" and "=" not in words[0] and _TELLS & set(words[1:4]):
        run.ask(Class.SEND, f"may change something at the registry with {run.name}")
    for option, after in pairwise([*words, ""]):
        name, eq, value = option.partition("=")
        if name in ("-C", "--dir", "--prefix", "--cwd") and not run.inside(value if eq else after or "."):
            run.ask(Class.CODE, f"works in {(value if eq else after)[:60]}, outside of the folder")
    while words and words[0][:1] == "-":  # its own options, before the command
        words = words[2 if words[0] in _VALUED else 1 :]
    first = words[0] if words else "install" if run.name == "yarn" else ""
    rest = words[1:]
    if first in _FETCHES:
        run.note(Class.FETCH)
    if first in _RUNS:
        _scripts(run, first, [w for w in rest if w[:1] != "-"])
    elif first in _CHANGES:
        _dependencies(run, first, [w for w in rest if w[:1] != "-"])
    elif first in ("exec", "x", "dlx", "create"):
        inner = [w for w in rest if w != "--"]
        if first in ("dlx", "create"):
            run.note(Class.FETCH)
        if any(w in ("-c", "--call") for w in inner):
            run.code(inner[-1])
            run.ask(Class.CODE, "runs a command through the package manager")
        known_tool(run, [w for w in inner if w[:1] != "-"], first == "exec")
    elif first in _TELLS:
        run.ask(Class.SEND, f"changes something at the registry with {run.name} {first}")
    else:
        _other(run, first, [w for w in rest if w[:1] != "-"])


def _scripts(run: Run, first: str, named: list[str]) -> None:
    if (first == "init" and named) or first == "link":
        run.ask(Class.INSTALL, f"runs {run.name} {first} {' '.join(named[:1])}")
    if any(w.startswith("--script-shell") for w in run.args):
        run.ask(Class.CODE, "decides which shell runs the scripts")
    run.unknown(named[:1])
    run.note(Class.PROJECT)


def _dependencies(run: Run, first: str, named: list[str]) -> None:
    if any(w in ("-g", "--global", "--location=global", "global") for w in run.args):
        run.ask(Class.INSTALL, "installs packages for the whole machine")
    elif first in ("install", "i", "add", "in", "isntall") and any(
        not is_local(w) and not is_well_known(w, "node") for w in named
    ):
        run.ask(Class.INSTALL, f"adds {' '.join(named)[:60]} from the registry, whose code then runs here")
    run.note(Class.PROJECT)


def _other(run: Run, first: str, named: list[str]) -> None:
    if first == "config" and named[:1] and named[0] in ("set", "delete", "edit", "rm"):
        run.ask(Class.PERSISTENCE, f"changes {run.name}'s settings")
    elif first in ("setup", "plugin", "node"):
        run.ask(Class.INSTALL, f"runs {run.name} {first}")
    elif first in LOOKS or first in ("completion", "set-script", "pkg", "store", ""):
        looks(run)
    elif run.name in ("yarn", "pnpm") and re.fullmatch(r"[a-z][\w:.-]*", first):
        run.note(Class.PROJECT)  # the name of a script, or of a tool of the project
    else:
        run.ask(Class.CODE, f"runs {run.name} {first[:40]}, which the guard does not know")


PROGRAMS: dict[str, Program] = each(_npm, "npm yarn pnpm cnpm")
