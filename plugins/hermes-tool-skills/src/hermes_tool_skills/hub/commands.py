"""``hermes skills search``, ``browse``, ``update`` and ``publish``."""

from pathlib import Path
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_tool_skills.asking import agreed, json_option, say, yes_option
from hermes_tool_skills.catalogue import catalogue_for
from hermes_tool_skills.tree import BadTree

if TYPE_CHECKING:
    from collections.abc import Sequence

    import click

    from hermes_tool_skills.hub.sources import Source

_COLUMNS = ("install", "uses", "description")


def search_command(ctx: PluginContext) -> "click.Command":
    """``hermes skills search``."""
    import click

    @click.command()
    @click.argument("words", nargs=-1, required=True)
    @click.option("--from", "sources", multiple=True, metavar="SOURCE", help="Only here; may be given again.")
    @click.option("--most", type=click.IntRange(1, 100), default=15, show_default=True, help="Of each source.")
    @json_option
    def command(words: tuple[str, ...], sources: tuple[str, ...], most: int, as_json: bool) -> int:
        """Find skills by words, at every source of `tools.skills.sources`.

        \b
        Examples:
          hermes skills search pdf forms
          hermes skills search invoices --from clawhub --from git:acme/skills

        What strangers say of their skills is not checked here; `hermes skills install` looks at the skill itself.
        """
        return _tell(ctx, " ".join(words), sources, most, as_json=as_json)

    return command


def browse_command(ctx: PluginContext) -> "click.Command":
    """``hermes skills browse``."""
    import click

    @click.command()
    @click.argument("sources", nargs=-1, metavar="[SOURCE]...")
    @click.option("--most", type=click.IntRange(1, 200), default=50, show_default=True, help="Of each source.")
    @json_option
    def command(sources: tuple[str, ...], most: int, as_json: bool) -> int:
        """List what a source has, or all sources of `tools.skills.sources`.

        \b
        A SOURCE is
          clawhub                    the registry clawhub.ai, or clawhub:https://ADDRESS of one like it
          skills.sh                  a catalogue of skills on GitHub; it can be searched, not listed
          index:https://SITE         a site that publishes skills under /.well-known/agent-skills/
          git:OWNER/REPOSITORY       a repository of GitHub, all of it or /FOLDER of it
          git:https://ADDRESS.git    any git repository, with #FOLDER
        """
        return _tell(ctx, "", sources, most, as_json=as_json)

    return command


def _tell(ctx: PluginContext, words: str, named: "Sequence[str]", most: int, *, as_json: bool) -> int:
    from attrs import asdict

    from hermes_tool_skills.hub.sources import found, source_of
    from hermes_tool_skills.screens import json_lines, table

    sources: Sequence[Source] = [source_of(line) for line in named or ctx.config.sources]
    offers, problems = found(sources, words, most, archives=ctx.config.archives, cache=ctx.paths.cache)
    rows = [{"source": source.word, **asdict(offer)} for source, offer in offers]
    say([f"Not asked: {problem}" for problem in problems], err=True)
    if as_json:
        say(json_lines(rows))
    elif rows:
        shown = [{**row, "uses": f"{row['uses']:,}" if row["uses"] else ""} for row in rows]
        say(
            [*table(shown, _COLUMNS), "", "Look at one: hermes skills install WORD   (you are asked before it is kept)"]
        )
    elif len(problems) < len(sources):
        say(["Nothing was found."], err=True)
    return 1 if len(problems) == len(sources) else 0


def update_command(ctx: PluginContext) -> "click.Command":
    """``hermes skills update``."""
    import click

    @click.command()
    @click.argument("names", nargs=-1, metavar="[NAME]...")
    @click.option("--check", is_flag=True, help="Only say what is newer.")
    @click.option("--force", is_flag=True, help="Take one in spite of a verdict of caution; never of dangerous.")
    @yes_option
    def command(names: tuple[str, ...], check: bool, force: bool, yes: bool) -> int:
        """Ask the sources of installed skills, all of them or those named, for what is newer. Each difference is shown.

        A new version is scanned and stays disabled until you enable it, as a new skill does. Pinned skills are left
        as they are unless you name them.
        """
        from hermes_tool_skills.install import candidate, install
        from hermes_tool_skills.screens import install_lines

        catalogue, config, failed = catalogue_for(ctx), ctx.config, 0
        known = {s.name: s for s in catalogue.all() if s.source == "installed" and s.entry and s.state != "missing"}
        if wrong := [name for name in names if name not in known]:
            raise UserError(f"{wrong[0]} was not installed from elsewhere.", hint="hermes skills list")
        wanted = names or [name for name, s in known.items() if s.entry and not s.entry.pinned]
        for name in wanted:
            try:
                one = candidate(
                    catalogue, name, archives=config.archives, trusted=config.trusted, force=force,
                    sources=config.sources,
                )  # fmt: skip
            except (UserError, BadTree) as error:
                say([f"{name}: {error.text}"], err=True)
                failed += 1
                continue
            if one.entry and one.files == one.entry.files:
                say([f"{name}: as it is."])
                continue
            if check:
                say([f"{name}: there is a newer one: hermes skills update {name}"])
                continue
            say([*install_lines(one), ""])
            if one.decision == "block":
                say([f"{name} is not updated: the scan says {one.draft.report.verdict}."], err=True)
                failed += 1
                continue
            agreed(f"Update {name}?", yes=yes)
            entry = install(catalogue.library, one, forced=force)
            say([f"{name} is version {entry.version}. It is not used yet: hermes skills enable {name}"])
        if not wanted:
            say(["No skill was installed from elsewhere."], err=True)
        return 1 if failed else 0

    return command


def publish_command(ctx: PluginContext) -> "click.Command":
    """``hermes skills publish``."""
    import click

    @click.command()
    @click.argument("what", metavar="NAME|FOLDER")
    @click.argument("target", metavar="TO")
    @click.option("--version", default="", help="Of ClawHub's: as in 1.2.0; else the one that the skill names.")
    @click.option("--owner", default="", help="Of ClawHub's: the publisher, where you may write for several.")
    @click.option("--note", default="", help="What is new, in a line.")
    @yes_option
    def command(what: str, target: str, version: str, owner: str, note: str, yes: bool) -> None:
        """Give a skill of yours to others. It has to hold to the standard, and the scan must not find it dangerous.

        \b
        TO is
          a folder     the files of a site: /.well-known/agent-skills/ with the index; others are left as they are
          clawhub      the registry; with CLAWHUB_TOKEN from its settings page: hermes config set CLAWHUB_TOKEN VALUE
        \b
        Examples:
          hermes skills publish tidy-up ./public
          hermes skills publish ./my-skill clawhub --version 1.0.0 --note "First one."
        """
        from hermes_tool_skills.hub.publish import ready, to_clawhub, to_site
        from hermes_tool_skills.hub.sources import source_of
        from hermes_tool_skills.screens import report_lines, tree_lines
        from hermes_tool_skills.tree import read_tree

        place = Path(what).expanduser()
        folder = place if place.is_dir() else catalogue_for(ctx).get(what).folder
        draft = ready(ctx, read_tree(folder))
        say([f"{draft.head.name}: {draft.head.description}", "", *tree_lines(draft.tree, {}), ""])
        say([*report_lines(draft.report), ""])
        if target.partition(":")[0] == "clawhub":
            base = source_of(target).base
            agreed(f"Publish {draft.head.name} at {base}, for everybody, under its licence MIT-0?", yes=yes)
            say([to_clawhub(ctx, base, draft, version=version or draft.head.version, owner=owner, note=note)])
            return
        site = Path(target).expanduser()
        if not site.is_dir():
            raise UserError(f"There is no folder {site}.", hint="Make it, or publish to clawhub.")
        agreed(f"Write {draft.head.name} below {site}?", yes=yes)
        say(to_site(site, draft))

    return command
