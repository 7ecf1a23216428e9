"""git's settings, many of which run something."""

import re

from hermes_tool_guard.judgement import Class
from hermes_tool_guard.run import Run

__all__ = ["configure", "setting"]

_FREE_CONFIG = re.compile(
    r"(?i)(?!init\.templatedir|branch\..*\.(?:push)?remote$|gc\..*hook|push\.(?:default)?remote)(?:user\.|color\.|core\.(?:autocrlf|quotepath|filemode|ignorecase|longpaths|abbrev|eol|safecrlf"
    r"|symlinks|preloadindex|untrackedcache|compression)|init\.|push\.|pull\.|fetch\.|commit\.gpgsign"
    r"|tag\.gpgsign|advice\.|log\.|diff\.(?:algorithm|renames|color|context|noprefix|mnemonic)"
    r"|merge\.(?:conflict|ff)|rebase\.|status\.|branch\.|http\.(?:post|low|version)|gc\."
    r"|protocol\.version|safe\.directory|feature\.|index\.|pack\.|column\.|stash\.|help\.auto|rerere\."
    r"|versionsort|blame\.|grep\.)"
)


def setting(run: Run, given: str) -> None:
    """One setting for one command: ``git -c name=value``."""
    name = given.partition("=")[0]
    value = given.partition("=")[2]
    if _FREE_CONFIG.match(name) and not value.startswith("!"):
        return
    if name.lower() in ("core.pager", "core.editor") and value in ("cat", "true", ":", "less", "", "vim", "vi", "nano"):
        return
    for code in re.findall(r"!?(.+)", value)[:1]:
        run.code(code.lstrip("!"))
    run.ask(Class.CODE, f"sets git's {name[:60]}, which may run anything")


def configure(run: Run) -> None:
    """``git config``."""
    options = run.options(
        {"-f", "--file", "--get", "--get-all", "--get-regexp", "--unset", "--type", "--default", "-t"}
    )
    reads = options.has(
        "--get", "--get-all", "--get-regexp", "--list", "-l", "--show-origin", "--get-urlmatch"
    ) or options.rest[:1] in (["get"], ["list"])
    if reads or (
        len(options.rest) == 1 and not options.has("--unset", "--edit", "-e", "--unset-all", "--remove-section")
    ):
        run.note(Class.READ)
        return
    rest = [w for w in options.rest if w != "set"]
    if options.has("--global", "--system", "-e", "--edit") or options.has("-f", "--file"):
        run.ask(Class.PERSISTENCE, "changes git's settings for more than this repository")
    if len(rest) > 1 and not (_FREE_CONFIG.match(rest[0]) and not rest[1].startswith("!")):
        run.ask(Class.PERSISTENCE, f"sets git's {rest[0][:60]}, which may run something later")
    run.note(Class.GIT)
