"""``hermes skills``: getting skills and saying which are used. Each shows what will be, asks, and says what is."""

from typing import TYPE_CHECKING

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_tool_skills import asking
from hermes_tool_skills.asking import agreed, json_option, say, yes_option
from hermes_tool_skills.catalogue import Skill, catalogue_for
from hermes_tool_skills.library import Change
from hermes_tool_skills.tree import Tree

if TYPE_CHECKING:
    import click


def install_command(ctx: PluginContext) -> "click.Command":
    """``hermes skills install``."""
    import click

    @click.command()
    @click.argument("source")
    @yes_option
    @click.option("--force", is_flag=True, help="Install in spite of a verdict of caution; never of dangerous.")
    @json_option
    def command(source: str, yes: bool, force: bool, as_json: bool) -> int:
        """Get a skill, check and scan it, show everything, and keep it if you say yes. Nothing of it is run.

        SOURCE is a folder, a .zip or .tar.gz (here or at an https address), the https address of a git repository
        with #FOLDER, OWNER/REPOSITORY[/FOLDER][@REF], a word that `hermes skills search` shows, or the name of an
        installed skill to look for an update.

        \b
        Examples:
          hermes skills install ./my-skill
          hermes skills install https://example.org/skills/tidy.zip
          hermes skills install https://example.org/skills.git#tidy
          hermes skills install acme/skills/tidy@v2
          hermes skills install clawhub:acme/tidy
          hermes skills install index:https://example.org#tidy
          hermes skills install tidy                (an update: the difference is shown)

        What is installed is not used until `hermes skills enable NAME`, or a yes to the second question.
        """
        from hermes_tool_skills.install import candidate, install
        from hermes_tool_skills.screens import finding_row, install_lines, json_lines

        catalogue, config = catalogue_for(ctx), ctx.config
        one = candidate(
            catalogue, source, archives=config.archives, trusted=config.trusted, force=force, sources=config.sources
        )
        if not as_json:
            say([*install_lines(one), ""])
        verdict = one.draft.report.verdict
        if one.decision == "block":
            hint = "--force does not lift this." if verdict == "dangerous" else "If you know better, say --force."
            whose = "though you trust its source" if one.trust == "trusted" else "and nobody vouched for its source"
            raise UserError(f"{one.name} is not installed: the scan says {verdict}, {whose}.", hint=hint)
        agreed(f"{'Update' if one.entry else 'Install'} {one.name}?", yes=yes)
        entry = install(catalogue.library, one, forced=force)
        if as_json:
            found = [finding_row(f) for f in one.draft.report.findings]
            row = {"skill": one.name, "version": entry.version, "source": one.source, "resolved": one.resolved}
            say(json_lines([{**row, "verdict": verdict, "files": one.files, "findings": found, "enabled": False}]))
            return 0
        say([f"Installed {one.name} as version {entry.version}."])
        if asking.sits_here() and not yes and click.confirm(f"Enable {one.name} now?"):
            _switch(ctx, one.name, on=True)
            say(_in_use(catalogue.get(one.name)))
        else:
            say([f"It is not used yet: hermes skills enable {one.name}"])
        return 0

    return command


def enable_command(ctx: PluginContext) -> "click.Command":
    """``hermes skills enable``."""
    import click

    @click.command()
    @click.argument("name")
    @yes_option
    def command(name: str, yes: bool) -> None:
        """Use a skill. One that is new in the folder, or was changed there, is shown, scanned and accepted first."""
        catalogue = catalogue_for(ctx)
        skill = catalogue.get(name)
        if skill.state == "ready":
            say([f"{name} is in use already."])
            return
        if not skill.managed:
            _switch(ctx, name, on=True)
        elif skill.state in ("new", "changed"):
            _accept(ctx, skill, yes=yes)
        elif skill.state == "disabled" and skill.entry:
            say([f"{name}: {skill.description}", f"  the scan said {skill.verdict}; hermes skills show {name}"])
            agreed(f"Enable {name}?", yes=yes)
            _switch(ctx, name, on=True)
        else:
            raise UserError(f"{name} cannot be used: {skill.reason}.", hint=skill.fix)
        after = catalogue.get(name)
        if after.state != "ready":
            raise UserError(f"{name} is still not used: {after.reason}.", hint=after.fix)
        say(_in_use(after))

    return command


def _in_use(skill: Skill) -> list[str]:
    """What is said of a skill that is used from now on, and what a person has to give it yet."""
    lines = [f"Enabled {skill.name}; sessions that begin from now on know it."]
    if skill.head and skill.head.variables:
        names = ", ".join(v.name for v in skill.head.variables)
        lines.append(f"It needs {names}: hermes skills secrets {skill.name}")
    return lines


def _accept(ctx: PluginContext, skill: Skill, *, yes: bool) -> None:
    """Take the folder as it is for the skill's next version, after showing it."""
    from hermes_tool_skills.draft import checked
    from hermes_tool_skills.install import person
    from hermes_tool_skills.lock import Entry
    from hermes_tool_skills.screens import report_lines, tree_lines
    from hermes_tool_skills.tree import difference, shortened
    from hermes_tool_skills.trust import decide, trust_of

    catalogue = catalogue_for(ctx)
    library, entry = catalogue.library, skill.entry
    tree = library.live(skill.name)
    others = [s.name for s in catalogue.all() if s.name != skill.name]
    draft = checked(tree, name=skill.name, known=others, foreign=True)
    before: Tree = library.version(skill.name, entry.version)[1] if entry else {}
    say([f"{skill.name}: {draft.head.description}", "", "Files", *tree_lines(tree, before)])
    if entry:
        say(["", "What changed", *(f"  {line}" for line in shortened(difference(before, tree)))])
    say(["", *report_lines(draft.report), ""])
    verdict = draft.report.verdict
    if entry and entry.origin == "installed":
        decision = decide(trust_of(entry.source, ctx.config.trusted), verdict, force=True)
        if decision == "block":
            hint = f"Bring the accepted version back: hermes skills rollback {skill.name}"
            raise UserError(f"{skill.name} is not accepted: the scan says {verdict}.", hint=hint)
    agreed(f"Accept and use {skill.name} as it is?", yes=yes)
    found = tuple(sorted({f.rule for f in draft.report.findings}))
    fresh = entry or Entry(name=skill.name, origin="person", version=0, files={})
    fresh = evolve(fresh, enabled=True, verdict=verdict, findings=found, who=person())
    with library.held():
        if library.live(skill.name) != tree:
            raise UserError(f"{skill.name} was changed while you looked.", hint="Look again.")
        library.lock_held()
        library.commit(fresh, tree, Change(by=person(), why="accepted as it was in the folder"))


def _switch(ctx: PluginContext, name: str, *, on: bool) -> None:
    from hermes_tool_skills.install import person

    library = catalogue_for(ctx).library
    change = Change(by=person(), why="")
    with library.held():
        entry = library.lock_held().get(name)
        if entry:
            library.mark(evolve(entry, enabled=on), change, "enable" if on else "disable")
        else:
            library.switch(name, change, on=on)


def disable_command(ctx: PluginContext) -> "click.Command":
    """``hermes skills disable``."""
    import click

    @click.command()
    @click.argument("name")
    def command(name: str) -> None:
        """Stop using a skill; it stays where it is. Sessions that run keep the list they began with."""
        catalogue_for(ctx).get(name)
        _switch(ctx, name, on=False)
        say([f"Disabled {name}."])

    return command


def remove_command(ctx: PluginContext) -> "click.Command":
    """``hermes skills remove``."""
    import click

    @click.command()
    @click.argument("name")
    @yes_option
    def command(name: str, yes: bool) -> None:
        """Take a skill away. Its versions stay, so `hermes skills rollback NAME` brings it back."""
        from hermes_tool_skills.install import person

        skill = catalogue_for(ctx).get(name)
        library = catalogue_for(ctx).library
        if not skill.managed or skill.entry is None:
            hint = f"hermes skills disable {name}" if not skill.managed else f"Delete {skill.folder} yourself."
            raise UserError(f"{name} is not one that was accepted here, so it is not removed.", hint=hint)
        if skill.entry.pinned:
            raise UserError(f"{name} is pinned.", hint=f"hermes skills pin {name} --off")
        agreed(f"Remove {name}?", yes=yes)
        with library.held():
            if entry := library.lock_held().get(name):
                library.remove(entry, Change(by=person(), why="removed"))
        say([f"Removed {name}. Bring it back with: hermes skills rollback {name}"])

    return command


def pin_command(ctx: PluginContext) -> "click.Command":
    """``hermes skills pin``."""
    import click

    @click.command()
    @click.argument("name")
    @click.option("--off", is_flag=True, help="Let it be deleted again.")
    def command(name: str, off: bool) -> None:
        """Keep a skill from being deleted, by the agent or by mistake."""
        from hermes_tool_skills.install import person

        library = catalogue_for(ctx).library
        catalogue_for(ctx).get(name)
        with library.held():
            entry = library.lock_held().get(name)
            if entry is None:
                raise UserError(f"{name} is not one that was accepted here; it cannot be deleted from here either.")
            what = "unpin" if off else "pin"
            library.mark(evolve(entry, pinned=not off), Change(by=person(), why=""), what)
        say([f"{'Unpinned' if off else 'Pinned'} {name}."])

    return command
