"""The forms of git's commands that only look."""

from hermes_tool_guard.run import names

# Commands of which some forms only look: those without an operand, or whose first words are these.
LISTS = {
    "branch": r"(?:-[avrl]+|--(?:show-current|list|all|remotes|(?:no-)?(?:merged|contains)|points-at|sort|format|column"
    r"|no-color|color|ignore-case|verbose)(?:=.*)?)",
    "tag": r"(?:-[ln]\d*|--(?:list|sort|contains|points-at|merged|no-merged|format|column)(?:=.*)?)",
    "stash": r"list|show",
    "remote": r"-v|--verbose|get-url",
    "worktree": r"list",
    "notes": r"list|show",
    "reflog": r"show|exists|HEAD|-.*|[\w@{}/-]+",
    "config": r"--get.*|--list|-l|--show-.*|get|list",
    "bisect": r"log|view|visualize",
    "submodule": r"status|summary",
    "symbolic-ref": r"--short|-q",
    "sparse-checkout": r"list",
    "apply": r"--(?:check|stat|numstat|summary)",
    "clean": r"-n|--dry-run",
    "lfs": r"ls-files|status|env|version",
    "bundle": r"verify|list-heads",
    "rerere": r"status|diff",
}
VERBS_BELOW = names("remote stash reflog worktree submodule bundle notes lfs bisect sparse-checkout")
ALONE_LISTS = frozenset({"branch", "tag", "remote", "reflog", "notes", "submodule", "flow"})
