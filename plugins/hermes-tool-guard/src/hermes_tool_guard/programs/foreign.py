"""Commands and places named in code of another language: the hard limits hold for them too."""

import re

from hermes_tool_guard.places import Zone
from hermes_tool_guard.run import Run

__all__ = ["from_source"]


def from_source(run: Run, code: str) -> None:
    """Judge what a piece of code would run, delete or overwrite, as far as its texts tell."""
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
        r"|FileUtils|writeFile|write_text|open",
        code,
    ):
        for path in re.findall(r"[\"'](~?/[^\"']*|~)[\"']", code):
            if re.search(r"rmtree|rmSync|rm_rf|rm_r|remove_tree|rmdir|removedirs|fs\.rm|rimraf", code):
                run.delete(path.replace("~", run.scene.places.home, 1) if path.startswith("~") else path)
            elif path.startswith("/dev/") and re.search(r"[\"'][wa]b?[\"']|write", code):
                run.write(path)
