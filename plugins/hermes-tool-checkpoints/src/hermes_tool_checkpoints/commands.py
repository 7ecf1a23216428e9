"""``hermes checkpoints``: list, show, restore, prune, status."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_core.types import Command
from hermes_tool_checkpoints import views
from hermes_tool_checkpoints.git import Job
from hermes_tool_checkpoints.notes import Notes
from hermes_tool_checkpoints.prune import projects, prune, size, tidied
from hermes_tool_checkpoints.restore import cut_off
from hermes_tool_checkpoints.slash import bring_back
from hermes_tool_checkpoints.store import Store, pick

if TYPE_CHECKING:
    import click

_SECONDS = 600.0
_MB = 1_000_000


def commands(store: Store, notes: Notes) -> Sequence[Command]:
    """The five commands."""
    made: tuple[tuple[str, Callable[[], click.Command]], ...] = (
        ("list", lambda: _list(store)),
        ("show", lambda: _show(store)),
        ("restore", lambda: _restore(store, notes)),
        ("prune", lambda: _prune(store)),
        ("status", lambda: _status(store)),
    )
    return [Command(name=f"checkpoints {name}", build=build) for name, build in made]


def _folder(command: Any) -> Any:
    import click

    option = click.option("--folder", default=".", show_default=True, help="The folder, the current one by default.")
    return option(click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")(command))


def _say(rows: Sequence[Mapping[str, object]], lines: Sequence[str], *, as_json: bool) -> None:
    import click

    for line in [json.dumps(row) for row in rows] if as_json else lines:
        click.echo(line.encode("utf-8", "replace").decode())


def _list(store: Store) -> "click.Command":
    import click

    @click.command()
    @_folder
    def command(folder: str, as_json: bool) -> None:
        """Snapshots of a folder, newest first, and what changed after each."""
        place, job = store.checked(folder), Job(_SECONDS)
        found = views.rows(store, place, store.snapshots(place, job), job)
        fields = [
            {
                "number": r.number, "when": r.snapshot.when, "kind": r.snapshot.kind, "tool": r.snapshot.tool,
                "session": r.snapshot.session, "turn": r.snapshot.turn, "files": r.snapshot.files,
                "skipped": r.snapshot.skipped, "changes": r.changes,
            }
            for r in found
        ]  # fmt: skip
        if not found and not as_json:
            click.echo(f"There is no snapshot of {place}.", err=True)
            return
        lines = views.listing(str(place), found, cut_off(store, place)).splitlines()[:-1]
        _say(fields, lines, as_json=as_json)

    return command


def _show(store: Store) -> "click.Command":
    import click

    @click.command()
    @click.argument("number", type=int, default=1)
    @_folder
    def command(number: int, folder: str, as_json: bool) -> None:
        """What changed in a folder since snapshot NUMBER, as a patch. 1 is the newest."""
        place, job = store.checked(folder), Job(_SECONDS)
        snapshot = pick(store.snapshots(place, job), number, str(place))
        patch = views.difference(store, place, snapshot, job, most=0)
        with store.at(place, job) as git:
            facts = store.facts(git, snapshot)
        row = {"number": number, "when": snapshot.when, "patch": patch, "skipped": dict(facts.skipped)}
        left = [f"Left out of it: {name} ({reason})" for name, reason in sorted(facts.skipped.items())]
        _say([row], [*left, patch or "Nothing changed since."], as_json=as_json)

    return command


def _restore(store: Store, notes: Notes) -> "click.Command":
    import click

    @click.command()
    @click.argument("number", type=int)
    @click.argument("files", nargs=-1)
    @_folder
    def command(number: int, files: Sequence[str], folder: str, as_json: bool) -> None:
        """Bring a folder back to snapshot NUMBER, or only FILES in it. What is there now is kept first.

        \b
        Examples:
          hermes checkpoints restore 1
          hermes checkpoints restore 2 src/main.py
        """
        place, job = store.checked(folder), Job(_SECONDS)
        ref = pick(store.snapshots(place, job), number, str(place)).ref
        for name in files or [""]:  # by its ref: the snapshot of now moves the numbers
            found = store.snapshots(place, job)
            at = next(n for n, s in enumerate(found, 1) if s.ref == ref)
            done = bring_back(store, notes, place, found, at, job, only=name)
            row = {"restored": done.restored, "deleted": done.deleted, "left": done.left, "undo": done.undo.when}
            lines = views.told(done, undo="hermes checkpoints restore 1").splitlines()
            _say([row], lines, as_json=as_json)

    return command


def _prune(store: Store) -> "click.Command":
    import click

    @click.command()
    @click.option("--json", "as_json", is_flag=True, help="One JSON object.")
    def command(as_json: bool) -> None:
        """Drop snapshots that are too old, too many, too large or of folders that are gone, and tidy the store."""
        done = prune(store, Job(_SECONDS))
        row = {"dropped": done.dropped, "before": done.before, "after": done.after}
        text = f"{done.dropped} snapshots dropped; {done.before / _MB:.1f} MB before, {done.after / _MB:.1f} MB now."
        _say([row], [text], as_json=as_json)

    return command


def _status(store: Store) -> "click.Command":
    import click

    @click.command()
    @click.option("--json", "as_json", is_flag=True, help="One JSON object.")
    def command(as_json: bool) -> None:
        """Whether snapshots are taken, of which folders there are some, and how much they take."""
        config, found, bytes_ = store.config, projects(store, Job(_SECONDS)), size(store)
        folders = [
            {
                "folder": str(p.folder), "snapshots": len(p.snapshots), "gone": not p.folder.exists(),
                "newest": p.snapshots[0].when if p.snapshots else 0.0,
            }
            for p in found
        ]  # fmt: skip
        pruned = tidied(store).when
        row = {"enabled": config.enabled, "bytes": bytes_, "pruned": pruned, "folders": folders}
        on = "on" if config.enabled else "off; to turn them on: hermes config set tools.checkpoints.enabled true"
        lines = [
            f"Snapshots are {on}.",
            f"They take {bytes_ / _MB:.1f} of {config.max_total_size_mb} MB in {store.root}.",
        ]
        for p in found:
            newest = f", the newest of {views.at(p.snapshots[0].when)}" if p.snapshots else ""
            gone = " (the folder is gone)" if not p.folder.exists() else ""
            lines.append(f"    {Path(p.folder)}{gone}: {len(p.snapshots)}{newest}")
        _say([row], lines, as_json=as_json)

    return command
