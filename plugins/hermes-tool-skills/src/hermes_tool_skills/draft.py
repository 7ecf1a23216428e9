"""A change before it is made: the files it would leave, whether they are a skill, and what the scan says of them."""

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from hermes_core.errors import ToolError
from hermes_core.values import frozen
from hermes_tool_skills.frontmatter import BadSkill, Head, parse
from hermes_tool_skills.scan import Report, scan
from hermes_tool_skills.tree import MAIN, BadTree, Tree, check_tree, path_problem, text_of

Action: TypeAlias = Literal["create", "patch", "write_file", "remove_file", "delete"]


@frozen(kw_only=True)
class Draft:
    """A tree that is a skill, and what was found out about it."""

    head: Head
    tree: Tree
    report: Report


def checked(tree: Tree, *, name: str = "", known: Iterable[str] = (), foreign: bool = False) -> Draft:
    """Hold a tree against the format and scan it; ``foreign`` as in ``parse``. Raises BadTree or BadSkill."""
    check_tree(tree)
    text = text_of(tree[MAIN]) if MAIN in tree else None
    if text is None:
        raise BadSkill([f"{MAIN} is missing" if MAIN not in tree else f"{MAIN} is not UTF-8 text"])
    head, _ = parse(text, folder=name, foreign=foreign)
    return Draft(head=head, tree=tree, report=scan(tree, known))


def patched(text: str, old: str, new: str) -> str:
    """A text with the one place that reads ``old`` replaced. Raises ToolError when there is none, or several.

    Where no place is equal, one that differs only in white space at the ends of lines or in indentation will do.
    """
    if not old.strip():
        raise ToolError("patch needs old: a piece of the file that stands there only once.")
    if (count := text.count(old)) == 1:
        return text.replace(old, new)
    if count > 1:
        raise ToolError(f"{count} places read like that.", hint="Give more of the text around the one you mean.")
    lines, wanted = text.splitlines(keepends=True), [line.strip() for line in old.strip("\n").splitlines()]
    places = [
        at for at in range(len(lines) - len(wanted) + 1)
        if [line.strip() for line in lines[at : at + len(wanted)]] == wanted
    ]  # fmt: skip
    if len(places) != 1:
        found = f"{len(places)} places read" if places else "No place reads"
        raise ToolError(f"{found} like that.", hint="Look at the file with skill_view, and copy the piece exactly.")
    at = places[0]
    end = "\n" if not new.endswith("\n") and lines[at + len(wanted) - 1].endswith("\n") else ""
    return "".join([*lines[:at], new + end, *lines[at + len(wanted) :]])


def edited(tree: Tree, action: Action, *, path: str, content: str, old: str, new: str) -> dict[str, bytes]:
    """The tree after an action. Raises ToolError that says what to do."""
    after = dict(tree)
    if action == "create":
        return {MAIN: content.encode()}
    place = path or MAIN
    if problem := path_problem(place):
        raise ToolError(f"The path {place!r} {problem}.")
    if action == "write_file":
        after[place] = content.encode()
    elif action == "patch":
        text = text_of(tree[place]) if place in tree else None
        if text is None:
            raise ToolError(f"There is no text file {place} in this skill.", hint=_listed(tree))
        after[place] = patched(text, old, new).encode()
    elif place == MAIN:
        raise ToolError(f"{MAIN} cannot be removed; to give up the whole skill, use delete.")
    elif after.pop(place, None) is None:
        raise ToolError(f"There is no file {place} in this skill.", hint=_listed(tree))
    return after


def usable(tree: Tree, *, name: str, known: Iterable[str]) -> Draft:
    """The same as ``checked`` for a model. Raises ToolError."""
    try:
        return checked(tree, name=name, known=known)
    except (BadTree, BadSkill) as error:
        raise ToolError(f"Nothing was changed: {error.text}", hint=error.hint) from None


def worst(report: Report, most: int = 5) -> Sequence[str]:
    """What speaks against a draft, a line each."""
    lines = [
        f"{f.path}{f':{f.line}' if f.line else ''}: {f.why} ({f.rule})" for f in report.findings if f.level != "note"
    ]
    return lines[:most]


def _listed(tree: Tree) -> str:
    return f"It has: {', '.join(sorted(tree)[:30])}"
