"""``hermes profile``: separate settings, keys, memory and sessions under one roof."""

import click

from hermes_core.cli.scope import Scope
from hermes_core.config.profiles import create_profile, delete_profile, list_profiles, use_profile
from hermes_core.tables import confirm, emit, json_option


@click.group()
def profile() -> None:
    """A profile has its own settings, keys, memory and sessions. `-p NAME` uses one for a single command."""


@profile.command("list")
@json_option
@click.pass_obj
def list_(scope: Scope, as_json: bool) -> None:
    """List profiles; * marks the one in use."""
    rows: list[dict[str, object]] = [
        {"name": p.name, "active": p.active if as_json else "*" if p.active else "", "path": str(p.path)}
        for p in list_profiles(scope.home)
    ]
    emit(rows, ("name", "active", "path"), as_json=as_json, empty="No profile.")


@profile.command()
@click.argument("name")
@click.option("--clone", "source", default=None, metavar="PROFILE", help="Copy settings, keys and SOUL.md from it.")
@click.pass_obj
def create(scope: Scope, name: str, source: str | None) -> None:
    """Make a profile."""
    create_profile(scope.home, name, clone_from=source)
    click.echo(f"Made profile {name}. Use it: hermes -p {name}, or for good: hermes profile use {name}", err=True)


@profile.command()
@click.argument("name")
@click.pass_obj
def use(scope: Scope, name: str) -> None:
    """Use a profile from now on (`default` goes back)."""
    use_profile(scope.home, name)


@profile.command()
@click.pass_obj
def show(scope: Scope) -> None:
    """Print the profile in use and where it lives."""
    click.echo(f"{scope.home.profile}  {scope.home.root}")


@profile.command()
@click.argument("name")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def delete(scope: Scope, name: str, yes: bool) -> None:
    """Delete a profile with its settings, keys, memory and sessions."""
    confirm(f"Delete profile {name} and everything in it?", yes=yes)
    delete_profile(scope.home, name)
