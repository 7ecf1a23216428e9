"""``hermes workshop``: what a person does with the tools that the agent wrote."""

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import asdict, evolve

from hermes_core.errors import HermesError, UserError, nearest
from hermes_core.types import Command
from hermes_tool_workshop.health import Record
from hermes_tool_workshop.shape import PREFIX
from hermes_tool_workshop.store import Damaged, Ledger, ToolStore, stores
from hermes_tool_workshop.words import difference, may, visible
from hermes_tool_workshop.writing import state

if TYPE_CHECKING:
    import click


class Found:
    """A tool that a command is about, with the store it is on."""

    def __init__(self, store: ToolStore, name: str) -> None:
        self.store, self.name = store, name


def commands(data: Path) -> Sequence[Command]:
    """The nine commands about one tool, or all of them."""
    made: tuple[tuple[str, Callable[[], click.Command]], ...] = (
        ("list", lambda: _list(data)),
        ("show", lambda: _show(data)),
        ("diff", lambda: _diff(data)),
        ("rollback", lambda: _rollback(data)),
        ("disable", lambda: _switch(data, on=False)),
        ("enable", lambda: _switch(data, on=True)),
        ("remove", lambda: _remove(data)),
        ("accept", lambda: _accept(data)),
        ("pin", lambda: _pin(data)),
    )
    return [Command(name=f"workshop {name}", build=build) for name, build in made]


def _find(data: Path, name: str, person: str) -> Found:
    """The tool by its name, with or without its prefix. Raises UserError."""
    full = name if name.startswith(PREFIX) else f"{PREFIX}{name}"
    there = [store for store in stores(data) if person in ("", store.folder.name, store.folder.name.partition(".")[2])]
    found = [store for store in there if full in store.names()]
    if len(found) > 1:
        people = ", ".join(store.folder.name for store in found)
        raise UserError(f"{full} is there for several people: {people}.", hint="Say whose with --person.")
    if not found:
        known = [name for store in there for name in store.names()]
        close = nearest(full, known)
        more = (
            f" Did you mean {close}?"
            if close
            else f" There is: {', '.join(known)}."
            if known
            else " There is none yet."
        )
        raise UserError(f"There is no tool named {full[:80]!r} that the agent wrote.{more}")
    return Found(found[0], full)


def _command(data: Path, act: Callable[..., tuple[dict[str, Any], str]], *more: Any, doc: str) -> "click.Command":
    """A command about one tool: its name, whose it is, ``--json``; ``more`` are parameters of its own."""
    import click

    def run(name: str, person: str, as_json: bool, **given: Any) -> None:
        try:
            row, text = act(_find(data, name, person), **given)
        except Damaged as error:
            raise UserError(f"{error}.", hint=f"Put it right by hand, or: hermes workshop remove {name}") from None
        click.echo(json.dumps(row) if as_json else visible(text))

    run.__doc__ = doc
    for decorate in reversed(
        (
            click.argument("name"),
            *more,
            click.option("--person", default="", help="Whose tool, where several people have one of that name."),
            click.option("--json", "as_json", is_flag=True, help="One JSON object."),
        )
    ):
        run = decorate(run)
    return click.command(run)


def _row(store: ToolStore, name: str) -> dict[str, Any]:
    """What is known of a tool, damaged or not."""
    row: dict[str, Any] = {"tool": name, "person": store.folder.name, "version": 0, "versions": [], "state": "damaged"}
    row |= {"why": "", "may": [], "written": "", "crashes": Record(store.folder / name).read().row}
    try:
        ledger = store.ledger(name)
        version = store.version(name, ledger.version)
    except (Damaged, HermesError) as error:
        return {**row, "why": str(error)}
    label = version.label
    row |= {"version": ledger.version, "versions": sorted(ledger.digests), "written": label.written}
    row |= {"may": label.permissions.words(), "why": ledger.why}
    return {**row, "state": state(ledger) if version.intact else "changed on the disk"}


def _list(data: Path) -> "click.Command":
    import click

    @click.command()
    @click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
    def command(as_json: bool) -> None:
        """The tools that the agent wrote for itself, whose they are, and what they may do."""
        rows = [_row(store, name) for store in stores(data) for name in store.names()]
        if as_json:
            for row in rows:
                click.echo(json.dumps(row))
            return
        if not rows:
            click.echo("The agent has written no tool yet.", err=True)
        several = len({row["person"] for row in rows}) > 1
        for row in rows:
            whose = f"  {row['person']}" if several else ""
            click.echo(f"{row['tool']}  version {row['version']} of {len(row['versions'])}, {row['state']}{whose}")
            click.echo(f"    may {'; '.join(row['may'])}" if row["may"] else f"    {row['why']}")
            if row["may"] and row["why"]:
                click.echo(f"    {row['why']}")

    return command


def _show(data: Path) -> "click.Command":
    import click

    def act(found: Found, number: int) -> tuple[dict[str, Any], str]:
        ledger = found.store.ledger(found.name)
        version = found.store.version(found.name, number or ledger.version)
        label, force = (
            version.label,
            "in force" if version.number == ledger.version else f"version {ledger.version} is in force",
        )
        facts = {
            **asdict(label.permissions),
            "examples": list(label.examples),
            "why": label.why,
            "session": label.session,
        }
        row = {
            **_row(found.store, found.name),
            "shown": version.number,
            "intact": version.intact,
            "code": version.code,
            **facts,
        }
        lines = [f"{found.name}, version {version.number} of {len(ledger.digests)} ({force}; {state(ledger)})"]
        lines += [f"written {label.written} in session {label.session}" + (f": {label.why}" if label.why else "")]
        lines += [] if version.intact else ["It is not what was approved, and is not run."]
        return row, "\n".join([*lines, "It may:", may(label.permissions), "", version.code.rstrip("\n")])

    option = click.option("--version", "number", type=int, default=0, help="Default: the one in force.")
    return _command(data, act, option, doc="A tool's code, and what it may do.")


def _diff(data: Path) -> "click.Command":
    import click

    def act(found: Found, old: int, new: int) -> tuple[dict[str, Any], str]:
        ledger = found.store.ledger(found.name)
        new = new or ledger.version
        old = old or max((n for n in ledger.digests if n < new), default=new)
        text = difference(found.name, found.store.version(found.name, old), found.store.version(found.name, new))
        return {"tool": found.name, "old": old, "new": new, "diff": text}, text

    numbers = (click.argument("old", type=int, default=0), click.argument("new", type=int, default=0))
    doc = "What changed from version OLD of a tool to NEW; by default, what the newest one changed."
    return _command(data, act, *numbers, doc=doc)


def _said(found: Found, ledger: Ledger, text: str) -> tuple[dict[str, Any], str]:
    return {"tool": found.name, "version": ledger.version, "state": ledger.state}, text


def _rollback(data: Path) -> "click.Command":
    import click

    def act(found: Found, number: int) -> tuple[dict[str, Any], str]:
        ledger = found.store.switch(found.name, number)
        return _said(found, ledger, f"Version {number} of {found.name} is in force.")

    doc = "Put version NUMBER of a tool in force. Nothing is lost: the newer ones stay."
    return _command(data, act, click.argument("number", type=int), doc=doc)


def _switch(data: Path, *, on: bool) -> "click.Command":
    def act(found: Found) -> tuple[dict[str, Any], str]:
        ledger = found.store.change(found.name, lambda now: evolve(now, state="on" if on else "off", why=""))
        if on:
            Record(found.store.folder / found.name).forgiven(ledger.version)
        return _said(found, ledger, f"{found.name} {'can be called again' if on else 'is switched off'}.")

    doc = (
        "Let a tool be called again, also one that was set aside."
        if on
        else "Let nobody call a tool; it stays where it is."
    )
    return _command(data, act, doc=doc)


def _remove(data: Path) -> "click.Command":
    def act(found: Found) -> tuple[dict[str, Any], str]:
        with suppress(Damaged):
            if found.store.ledger(found.name).pinned:
                raise UserError(f"{found.name} is pinned.", hint=f"hermes workshop pin --off {found.name}")
        place = found.store.archive(found.name)
        return {"tool": found.name, "archive": str(place)}, f"{found.name} is gone. All its versions are in {place}."

    return _command(data, act, doc="Take a tool away. All its versions go to the archive.")


def _pin(data: Path) -> "click.Command":
    import click

    def act(found: Found, off: bool) -> tuple[dict[str, Any], str]:
        ledger = found.store.change(found.name, lambda now: evolve(now, pinned=not off))
        return _said(found, ledger, f"{found.name} is {'no longer pinned' if off else 'pinned'}.")

    option = click.option("--off", is_flag=True, help="Let it be put away again.")
    return _command(data, act, option, doc="Keep a tool from being put away, however long it is not called.")


def _accept(data: Path) -> "click.Command":
    def act(found: Found) -> tuple[dict[str, Any], str]:
        import click

        ledger = found.store.ledger(found.name)
        version = found.store.version(found.name, ledger.version)
        if version.intact:
            return _said(found, ledger, f"{found.name} is as it was approved; there is nothing to accept.")
        _readable(found, version.code, version.label.permissions)
        click.echo(f"Version {version.number} of {found.name} was changed on the disk. It may:", err=True)
        click.echo(f"{may(version.label.permissions)}\n\n{version.code}", err=True)
        if not sys.stdin.isatty():
            raise UserError("Nobody is here to say yes to this.", hint="Say it in a terminal.")
        click.confirm("Is this what may run?", abort=True, err=True)
        return _said(found, found.store.accept(found.name, version.digest), f"{found.name} is accepted as it is now.")

    doc = "Say yes to a tool whose files were changed on the disk. Shows all of it and asks."
    return _command(data, act, doc=doc)


def _readable(found: Found, code: str, permissions: Any) -> None:
    from hermes_tool_workshop.draft import read_code

    shape, problems = read_code(code, permissions)
    if shape is None or problems:
        raise UserError(f"{found.name} cannot be accepted:\n- " + "\n- ".join(problems), hint="Correct the file first.")
