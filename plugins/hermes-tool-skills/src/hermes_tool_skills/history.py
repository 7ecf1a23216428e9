"""``hermes skills``: going back, deciding what the agent proposed, and beginning a skill."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_tool_skills.asking import agreed, say, yes_option
from hermes_tool_skills.catalogue import catalogue_for
from hermes_tool_skills.library import Change
from hermes_tool_skills.lock import Entry
from hermes_tool_skills.tree import Tree

if TYPE_CHECKING:
    import click

_TEMPLATE = """\
---
name: {name}
description: {description}
---

# {title}

Say in a few steps what to do, in the order it is done. Write what a careful colleague would not know.

1. Look at …
2. Do …
3. Check that …

Keep what is long in files beside this one, and say here when to read them: `references/details.md`.
"""


def rollback_command(ctx: PluginContext) -> "click.Command":
    """``hermes skills rollback``."""
    import click

    @click.command()
    @click.argument("name")
    @click.argument("number", type=int, required=False)
    @yes_option
    def command(name: str, number: int | None, yes: bool) -> None:
        """Bring back version NUMBER of a skill, or the one before. It becomes a new version; nothing is lost.

        A skill that was removed, or whose files were changed, comes back as it was accepted last.
        """
        from hermes_tool_skills.tree import difference, shortened

        library = catalogue_for(ctx).library
        number = number or _wanted(ctx, name)
        about, tree = library.version(name, number)
        entry = library.lock().get(name)
        before: Tree = library.version(name, entry.version)[1] if entry else {}
        say([f"{name}: back to version {number}, by {about.by}", *shortened(difference(before, tree))])
        agreed(f"Bring back version {number} of {name}?", yes=yes)
        made = _brought_back(ctx, name, number, tree)
        after = "" if made.enabled else f" It is not used yet: hermes skills enable {name}"
        say([f"{name} is version {made.version}, the same as {number}.{after}"])

    return command


def _wanted(ctx: PluginContext, name: str) -> int:
    library = catalogue_for(ctx).library
    numbers, entry = library.numbers(name), library.lock().get(name)
    if not numbers:
        library.versions(name)  # says what there is
    last = library.lock().entries.get(name)
    if entry is None:
        return last.version if last and last.version in numbers else numbers[-1]
    if catalogue_for(ctx).get(name).state in ("changed", "missing"):
        return entry.version
    earlier = [n for n in numbers if n < entry.version]
    if not earlier:
        raise UserError(f"Version {entry.version} of {name} is the first that is kept.")
    return earlier[-1]


def _brought_back(ctx: PluginContext, name: str, number: int, tree: Tree) -> Entry:
    from hermes_tool_skills.draft import checked
    from hermes_tool_skills.install import person

    library = catalogue_for(ctx).library
    draft = checked(tree, name=name, foreign=True)
    with library.held():
        last = library.lock_held().entries.get(name) or Entry(name=name, origin="person", version=0, files={})
        enabled = last.enabled and last.stage == "here" and last.origin != "installed"
        found = tuple(sorted({f.rule for f in draft.report.findings}))
        same = last.version == number and last.stage == "here"
        fresh = evolve(
            last, enabled=last.enabled if same else enabled or last.origin == "agent", verdict=draft.report.verdict,
            findings=found, who=person(),
        )  # fmt: skip
        return library.commit(fresh, tree, Change(by=person(), why=f"back to version {number}"))


def approve_command(ctx: PluginContext) -> "click.Command":
    """``hermes skills approve``."""
    import click

    @click.command()
    @click.argument("which")
    @yes_option
    def command(which: str, yes: bool) -> None:
        """Make a change that waits: its id, or the skill's name when only one waits for it. The difference is shown."""
        from hermes_tool_skills.changes import Plan, make
        from hermes_tool_skills.draft import checked
        from hermes_tool_skills.pending import drop, proposal
        from hermes_tool_skills.screens import report_lines
        from hermes_tool_skills.tree import difference, shortened

        library = catalogue_for(ctx).library
        one, tree = proposal(library, which)
        entry = library.lock().get(one.name)
        before: Tree = library.version(one.name, entry.version)[1] if entry else {}
        others = [s.name for s in catalogue_for(ctx).all() if s.name != one.name]
        draft = checked(tree, name=one.name, known=others) if tree is not None else None
        if (entry.digest if entry else "") != one.base:
            hint = f"hermes skills reject {one.id}"
            raise UserError(f"{one.name} was changed since {one.id} was proposed, so it no longer fits.", hint=hint)
        say([f"{one.name}: {one.action}: {one.why}", *shortened(difference(before, tree or {}))])
        say(["", *report_lines(draft.report), ""] if draft else [])
        agreed(f"{one.action} {one.name}?", yes=yes)
        plan = Plan(name=one.name, action=one.action, entry=entry, draft=draft)  # type: ignore[arg-type]
        made = make(library, plan, Change(by="agent", why=f"{one.why} (approved)".strip(), session=one.session))
        drop(library, one)
        say([f"{one.name} is version {made.version}." if made else f"Deleted {one.name}."])

    return command


def reject_command(ctx: PluginContext) -> "click.Command":
    """``hermes skills reject``."""
    import click

    @click.command()
    @click.argument("which", nargs=-1, required=True)
    def command(which: Sequence[str]) -> None:
        """Drop changes that wait, by their ids. Nothing else changes."""
        from hermes_tool_skills.pending import drop, proposals

        library = catalogue_for(ctx).library
        for wanted in which:
            found = [p for p in proposals(library) if wanted in (p.id, p.name)]
            if len(found) != 1:
                raise UserError(f"{len(found)} changes wait as {wanted!r}.", hint="hermes skills pending")
            drop(library, found[0])
            say([f"Rejected {found[0].id}, a change of {found[0].name}."])

    return command


def new_command(ctx: PluginContext) -> "click.Command":
    """``hermes skills new``."""
    import click

    @click.command()
    @click.argument("name")
    @click.option("--description", default="Use when … (one or two sentences).", help="When to use it.")
    def command(name: str, description: str) -> None:
        """Begin a skill of your own in the folder of skills. Edit it, then `hermes skills enable NAME` takes it up.

        A skill is a folder with a SKILL.md: frontmatter between two lines ---, then what to do, in plain markdown.

        \b
        name         as the folder: lower-case letters, digits, '.', '_' and '-', at most 64
        description  when to use it, at most 1,024 characters; this is what the model sees first
        Beside it: references/, scripts/, templates/, assets/, read only when SKILL.md sends there.
        """
        from hermes_tool_skills.disk import write_file
        from hermes_tool_skills.frontmatter import name_problem, parse
        from hermes_tool_skills.tree import MAIN

        if problem := name_problem(name):
            raise UserError(f"The name {name!r} {problem}.")
        library = catalogue_for(ctx).library
        place = library.place(name)
        if place.exists() or name in {s.name for s in catalogue_for(ctx).all()}:
            raise UserError(f"There is a skill {name} already.", hint=f"hermes skills show {name}")
        title = name.replace("-", " ").capitalize()
        quoted = description.replace("\\", "\\\\").replace('"', '\\"')
        text = _TEMPLATE.format(name=name, description=f'"{quoted}"', title=title)
        parse(text, folder=name)
        write_file(place / MAIN, text.encode())
        say([f"Wrote {place / MAIN}.", f"Edit it, then: hermes skills enable {name}"])

    return command
