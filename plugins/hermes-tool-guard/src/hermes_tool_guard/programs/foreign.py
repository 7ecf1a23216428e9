"""Commands and places named in code of another language: the hard limits hold for them too."""

import re

from hermes_tool_guard.judgement import Class
from hermes_tool_guard.places import Zone
from hermes_tool_guard.run import Run

__all__ = ["HOME_IN_CODE", "from_source", "never_in", "with_home"]


_BOMB = re.compile(
    r"\bfork\b(?:\s*\(\s*\)|\s*\{[^}]*\})?\s*(?:;\s*)?while\b|\bwhile\b[^\n]{0,40}[\s:({]+(?:\w+\.)?fork\b|\bloop\b\s*(?:do|\{)\s*(?:\w+\.)?fork\b"
    r"|\bfork\(\)\s+for\b|\bfor\s*\(\s*;\s*;\s*\)\s*\{?\s*(?:\w+_)?fork\b|while\s+(?:True|1)\s*:\s*(?:\w+\.)?fork\b"
)
_KILL_ALL = re.compile(r"\bkill\w*\b[\s(]*[^\n;)]{0,30}(?<![\w.])-1\b")
_ENDS = re.compile(r"(?i)\b(?:shut\s*down|restart|log\s*out)\b|«event aevt(?:rrst|rsdn|rlgo)»")
_DEVICES = re.compile(r"(?<![\w.])/dev/[\w/-]+")
_WRITING = re.compile(r"[\"']?[>+]|\bwrite|[\"'][rwa]?b?[wa+][b+]?[\"']|\bdd\b|put_contents|copy|truncate|\bopen")
_TAKES_ALL = (
    r"(?:rmtree|rmSync|rmdirSync|rm_rf|rm_r|remove_tree|remove_dir_all|removeSync|rimraf|deltree|unlink|fs\.rm)"
)
HOME_IN_CODE = (
    r"(?:Dir\.home|(?:\w+\.|require\(['\"](?:node:)?os['\"]\)\.)?homedir\(\)|\$?ENV[\[{(]?['\"]?HOME['\"]?[\]})]?|process\.env\.HOME"
    r"|ENV\[['\"]HOME['\"]\]|(?:os\.)?getenv\(['\"]HOME['\"]\)|path\.expand\(['\"]~/?['\"]\)|homedir\(\)|File\.expand_path\(['\"]~/?['\"]\)"
    r"|\$_SERVER\[['\"]HOME['\"]\]|\$HOME)"
)
_WIPES_HOME = re.compile(rf"{_TAKES_ALL}\s*\(?\s*[\"']?{HOME_IN_CODE}[\"']?\s*(?:[,);}}]|$)")


def never_in(run: Run, code: str) -> None:
    """What is never done, in any language."""
    if _BOMB.search(code):
        run.deny(Class.PROCESSES, "is a fork bomb")
    if run.name == "osascript" and _ENDS.search(code):
        run.deny(Class.SERVICES, "stops or restarts the machine with osascript")
    if _KILL_ALL.search(code):
        run.deny(Class.PROCESSES, "ends every process")
    if _WIPES_HOME.search(code):
        run.delete(run.scene.places.home)
    if "/dev/" in code and _WRITING.search(code):
        for device in _DEVICES.findall(code)[:20]:
            if any(zone is Zone.DEVICE for _, zone in run._zones(device)):
                run.write(device)


_AT_HOME = re.compile(rf"(?:[#$]?\{{\s*)?{HOME_IN_CODE}(?:\s*\}})?\s*(?:[+.,]|\.\.)?\s*([\"'`]?)/?(?=[\w.])")


def with_home(run: Run, code: str) -> str:
    """Code in which what is put behind the home, as ``homedir() + "/x"``, is one path."""
    if "HOME" not in code and "homedir" not in code and "Dir.home" not in code:
        return code
    return _AT_HOME.sub(lambda m: f"{m[1]}{run.scene.places.home}/", code)


def from_source(run: Run, code: str) -> None:
    """Judge what a piece of code would run, delete or overwrite, as far as its texts tell."""
    code = with_home(run, code)
    never_in(run, code)
    for path in re.findall(r"[\"'](~?/[^\"'\s]+)[\"']", code)[:50]:
        if any(zone is Zone.GUARDED for _, zone in run._zones(path)):
            run.read(path)
    if not any(
        w in code
        for w in (
            "system",
            "exec",
            "spawn",
            "popen",
            "Popen",
            "run",
            "call",
            "rmtree",
            "unlink",
            "remove",
            "`",
            "rm",
            "qx",
            "open",
            "glob",
            "delete",
        )
    ):
        return
    for text in re.findall(r"\"((?:\\.|[^\"\\])*)\"|'((?:\\.|[^'\\])*)'|`((?:\\.|[^`\\])*)`|qx\{([^}]*)\}", code):
        inner = next((t for t in text if t), "")
        if re.search(
            r"\b(?:system|exec\w*|spawn\w*|popen|Popen|run|call|check_\w+|shell_exec|passthru|getoutput|IO"
            r"|qx)\b|`|%x",
            code,
        ) and re.match(r"\s*[\w/.~]+\s", inner):
            run.code(inner)
    listed = re.findall(r"[\[(]\s*((?:[\"'][^\"']*[\"']\s*,\s*)+[\"'][^\"']*[\"'])\s*[\])]", code)
    for words in listed:
        argv = re.findall(r"[\"']([^\"']*)[\"']", words)
        run.inner(argv, stdin=None)
    if re.search(
        r"rmtree|rmSync|rm_rf|rm_r|remove_tree|unlink|rmdir|removedirs|fs\.rm|rimraf|deltree|remove\b"
        r"|FileUtils|writeFile|write_text|open|\.delete\b|\bglob\b",
        code,
    ):
        for path in re.findall(r"[\"'](~?/[^\"']*|~)[\"']", code):
            if re.search(r"rmtree|rmSync|rm_rf|rm_r|remove_tree|rmdir|removedirs|fs\.rm|rimraf", code):
                run.delete(path.replace("~", run.scene.places.home, 1) if path.startswith("~") else path)
            elif re.search(r"\bunlink|\bremove\b|\.delete\b", code):
                run.delete(
                    path.replace("~", run.scene.places.home, 1) if path.startswith("~") else path, recursive=False
                )
            elif path.startswith("/dev/") and re.search(r"[\"'][wa]b?[\"']|write", code):
                run.write(path)
