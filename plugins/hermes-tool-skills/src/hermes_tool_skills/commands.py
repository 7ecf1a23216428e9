"""``hermes skills``: looking at skills. What changes them is in ``actions`` and ``history``."""

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import Command
from hermes_tool_skills.asking import json_option, say
from hermes_tool_skills.catalogue import catalogue_for

if TYPE_CHECKING:
    import click

Build = Callable[[PluginContext], "click.Command"]


def commands(ctx: PluginContext) -> Sequence[Command]:
    """All commands; each is put together when it is used."""
    from hermes_tool_skills import actions, asking_secrets, curating, history
    from hermes_tool_skills.hub import commands as hub

    made: tuple[tuple[str, Build], ...] = (
        ("list", _list),
        ("show", _show),
        ("search", hub.search_command),
        ("browse", hub.browse_command),
        ("install", actions.install_command),
        ("update", hub.update_command),
        ("publish", hub.publish_command),
        ("enable", actions.enable_command),
        ("disable", actions.disable_command),
        ("remove", actions.remove_command),
        ("pin", actions.pin_command),
        ("secrets", asking_secrets.secrets_command),
        ("verify", _verify),
        ("history", _history),
        ("diff", _diff),
        ("rollback", history.rollback_command),
        ("pending", _pending),
        ("approve", history.approve_command),
        ("reject", history.reject_command),
        ("new", history.new_command),
        ("scan", _scan),
    )
    life = (
        ("status", curating.status_command),
        ("run", curating.run_command),
        ("restore", curating.restore_command),
        ("backup", curating.backup_command),
        ("rollback", curating.rollback_command),
    )
    found = [Command(name=f"skills {name}", build=partial(build, ctx)) for name, build in made]
    return [*found, *(Command(name=f"curator {name}", build=partial(build, ctx)) for name, build in life)]


def _list(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    @json_option
    def command(as_json: bool) -> None:
        """All skills, and what stands in the way of each one that is not used.

        \b
        ready     the model is told of it and may read it
        disabled  it waits for: hermes skills enable NAME
        new       somebody put it into the folder; nobody accepted it yet
        changed   its files are not those that were accepted; it is not used
        broken    SKILL.md cannot be used; the reason is told
        blocked   the scan found it dangerous
        """
        from hermes_tool_skills.screens import json_lines, skill_row, table

        catalogue = catalogue_for(ctx)
        rows = [skill_row(skill) for skill in catalogue.all(_here())]
        if as_json:
            say(json_lines(rows))
            return
        if catalogue.problem:
            say([catalogue.problem], err=True)
        say(table(rows, ("skill", "state", "source", "version", "description")) if rows else [])
        told = [f"{row['skill']}: {row['reason']}.   {row['fix']}" for row in rows if row["state"] not in ("ready", "disabled")]  # fmt: skip # noqa: E501
        say(["", *told] if told else [])
        if not rows:
            say(["There is no skill. `hermes skills new NAME` makes one."], err=True)

    return command


def _here() -> str:
    try:
        return os.getcwd()  # noqa: PTH109 - as a session would begin here
    except OSError:
        return ""


def _show(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    @click.argument("name")
    @json_option
    def command(name: str, as_json: bool) -> None:
        """Everything about one skill: its state, where it is from, what it needs, its files."""
        from attrs import asdict

        from hermes_tool_skills.screens import json_lines, skill_lines, skill_row
        from hermes_tool_skills.tree import BadTree, walk

        skill = catalogue_for(ctx).get(name)
        try:
            files = {path: info.st_size for path, info in walk(skill.folder)}
        except (OSError, BadTree):
            files = {}
        if as_json:
            head = asdict(skill.head) if skill.head else None
            say(json_lines([{**skill_row(skill), "files": files, "frontmatter": head}]))
        else:
            say(skill_lines(skill, files))

    return command


def _verify(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    @json_option
    def command(as_json: bool) -> int:
        """Read every file of every skill again and compare it with skills.lock. Exit 1 when something differs."""
        from hermes_tool_skills.screens import json_lines, table

        rows = list(_compared(ctx))
        bad = [row for row in rows if row["state"] != "ok"]
        say(json_lines(rows) if as_json else table(rows, ("skill", "state", "version", "files")) if rows else [])
        if not as_json:
            said = f"{len(bad)} of {len(rows)} differ from what was accepted." if bad else f"{len(rows)} skills, all as they were accepted."  # fmt: skip # noqa: E501
            say([said], err=True)
        return 1 if bad else 0

    return command


def _compared(ctx: PluginContext) -> Any:
    from hermes_tool_skills.tree import BadTree, hashes

    library = catalogue_for(ctx).library
    for name, entry in sorted(library.lock().entries.items()):
        if entry.stage != "here":
            continue
        row: dict[str, object] = {"skill": name, "version": entry.version}
        try:
            found = hashes(library.live(name))
        except (BadTree, OSError) as error:
            yield {
                **row,
                "state": "missing" if isinstance(error, FileNotFoundError) else "changed",
                "files": str(error),
            }
            continue
        off = sorted(p for p in {*found, *entry.files} if found.get(p) != entry.files.get(p))
        yield {**row, "state": "changed" if off else "ok", "files": ", ".join(off) or len(found)}


def _history(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    @click.argument("name")
    @json_option
    def command(name: str, as_json: bool) -> None:
        """The versions of a skill, newest first: who made each, in which session, why. * is the one in use."""
        from hermes_tool_skills.screens import json_lines, table, version_row

        library = catalogue_for(ctx).library
        entry = library.lock().get(name)
        rows = [version_row(one, entry.version if entry else 0) for one in library.versions(name)]
        columns = ("version", "now", "when", "by", "verdict", "session", "why")
        say(json_lines(rows) if as_json else table(rows, columns))

    return command


def _diff(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    @click.argument("name")
    @click.argument("old", type=int, required=False)
    @click.argument("new", type=int, required=False)
    @json_option
    def command(name: str, old: int | None, new: int | None, as_json: bool) -> None:
        """What changed in a skill, as a patch.

        \b
        hermes skills diff NAME        what is in the folder against what was accepted; if that is
                                       the same, the version in use against the one before
        hermes skills diff NAME 2      the version in use against version 2
        hermes skills diff NAME 2 3    version 3 against version 2
        hermes skills diff ID          a change that waits against what is there
        """
        from hermes_tool_skills.screens import json_lines
        from hermes_tool_skills.tree import difference

        title, before, after = _pair(ctx, name, old, new)
        lines = difference(before, after)
        if as_json:
            say(json_lines([{"what": title, "patch": "\n".join(lines)}]))
        else:
            say([title, *(lines or ["Nothing changed."])])

    return command


def _pair(ctx: PluginContext, name: str, old: int | None, new: int | None) -> tuple[str, Any, Any]:
    from hermes_tool_skills.pending import proposal, proposals

    library = catalogue_for(ctx).library
    if any(name == p.id for p in proposals(library)):
        one, tree = proposal(library, name)
        base = library.lock().get(one.name)
        before = library.version(one.name, base.version)[1] if base else {}
        return f"{one.name}: {one.action}, waiting as {one.id}", before, tree or {}
    numbers, entry = library.numbers(name), library.lock().get(name)
    if old is not None:
        to = new if new is not None else entry.version if entry else numbers[-1]
        return f"{name}: version {old} and {to}", library.version(name, old)[1], library.version(name, to)[1]
    if entry is None:
        raise UserError(f"There is no accepted version of {name} to compare with.", hint=f"hermes skills show {name}")
    accepted, live = library.version(name, entry.version)[1], library.live(name)
    if accepted != live:
        return f"{name}: version {entry.version} and its folder", accepted, live
    earlier = [n for n in numbers if n < entry.version]
    before = library.version(name, earlier[-1])[1] if earlier else {}
    return f"{name}: version {earlier[-1] if earlier else 0} and {entry.version}", before, accepted


def _pending(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    @json_option
    def command(as_json: bool) -> None:
        """Changes of the agent's that wait for you. See one with `hermes skills diff ID`, then approve or reject it."""
        from hermes_tool_skills.pending import proposals
        from hermes_tool_skills.screens import json_lines, proposal_row, table

        rows = [proposal_row(one) for one in proposals(catalogue_for(ctx).library)]
        columns = ("id", "skill", "action", "when", "verdict", "session", "why")
        say(json_lines(rows) if as_json else table(rows, columns) if rows else [])
        if not rows and not as_json:
            say(["Nothing waits."], err=True)

    return command


def _scan(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    @click.argument("what")
    @json_option
    def command(what: str, as_json: bool) -> int:
        """Scan a skill that is here, a folder or an archive, and say what speaks against it. Exit 1 when dangerous.

        A scan knows words, shapes and structure. It is help, not a promise.
        """
        from hermes_tool_skills.fetch import fetch
        from hermes_tool_skills.scan import scan
        from hermes_tool_skills.screens import finding_row, json_lines, report_lines
        from hermes_tool_skills.tree import read_tree

        if Path(what).expanduser().exists():
            tree = fetch(what, archives="", scratch=Path()).tree
        else:
            tree = read_tree(catalogue_for(ctx).get(what).folder)
        report = scan(tree)
        rows = [{"verdict": report.verdict, "findings": [finding_row(f) for f in report.findings]}]
        say(json_lines(rows) if as_json else report_lines(report))
        return 1 if report.verdict == "dangerous" else 0

    return command
