"""``hermes plugins``: what is installed, what is allowed, and how to write one."""

import click

from hermes_core.cli.scope import Scope
from hermes_core.errors import PluginError
from hermes_core.plugins.consent import disclosed, enforced
from hermes_core.plugins.index import Installed
from hermes_tables.tables import confirm, emit, json_option


@click.group()
def plugins() -> None:
    """Installed is not enabled, and enabled is not imported: three words, three moments."""


@plugins.command("list")
@json_option
@click.pass_obj
def list_(scope: Scope, as_json: bool) -> None:
    """List installed plugins and whether they are enabled. Imports none of them."""
    consent = scope.consent()
    rows = [
        {
            "plugin": p.label,
            "version": p.version,
            "state": str(consent.state(p)) if p.manifest and not p.fault else "broken",
            "distribution": p.distribution,
            "origin": p.origin,
            "summary": p.manifest.summary if p.manifest else (p.fault.error if p.fault else ""),
        }
        for p in scope.index.plugins
    ]
    emit(rows, ("plugin", "version", "state", "distribution", "summary"), as_json=as_json, empty="No plugin installed.")


@plugins.command()
@click.argument("name")
@click.pass_obj
def info(scope: Scope, name: str) -> None:
    """Show what a plugin adds, may do and needs, from its manifest."""
    _describe(scope, scope.index.resolve(name))


def _describe(scope: Scope, plugin: Installed) -> None:
    if plugin.fault:
        raise plugin.error(PluginError, plugin.fault.error, plugin.fault.hint)
    manifest = plugin.manifest
    assert manifest
    foreign = "" if scope.consent().state(plugin) == "builtin" else "   (not one of this distribution's own)"
    click.secho(f"{plugin.label} {plugin.version}   from {plugin.distribution or plugin.path}{foreign}", bold=True)
    click.echo(manifest.summary)
    for table, names in manifest.contributes.items():
        if names:
            click.echo(f"  adds {table}: {', '.join(names)}")
    click.echo("\n  Enforced by Hermes: it may")
    click.echo("\n".join(f"    {line}" for line in enforced(manifest)) or "    do nothing beyond what it adds")
    click.echo("  Disclosed by the author (Hermes cannot stop it): it")
    click.echo("\n".join(f"    {line}" for line in disclosed(manifest)))


@plugins.command()
@click.argument("name")
@click.option("-y", "--yes", is_flag=True, help="Enable without being asked (a person decided it elsewhere).")
@click.pass_obj
def enable(scope: Scope, name: str, yes: bool) -> int:
    """Allow a plugin to be used, after showing what it may do; then try it. Exit 3 when it does not work."""
    from hermes_core.cli.trial import probed
    from hermes_core.plugins.crash_markers import CrashMarkers

    plugin = scope.index.resolve(name)
    _describe(scope, plugin)
    consent = scope.consent()
    if difference := consent.state(plugin).difference:
        click.echo("\n  New since you allowed it:\n" + "\n".join(f"    {line}" for line in difference))
    click.echo("\nA plugin runs inside Hermes with your rights. Enable only what you trust.")
    confirm("Enable?", yes=yes, refusal="A run without a person never enables a plugin.")
    consent.enable(plugin)
    CrashMarkers(scope.home.cache / "crash_markers").forgive(plugin)
    faults = [r for r in probed(scope, plugin) if r["level"] == "fault"]
    for fault in faults:
        click.echo(f"It does not work: {fault['phase'] or 'trial'}: {fault['text']}\n{fault['fix']}", err=True)
    click.echo(f"Enabled {plugin.label}.", err=True)
    return 3 if faults else 0


@plugins.command()
@click.argument("name")
@click.pass_obj
def disable(scope: Scope, name: str) -> None:
    """Stop using a plugin; its settings stay."""
    plugin = scope.index.resolve(name)
    scope.home.create()
    scope.consent().disable(plugin)
    click.echo(f"Disabled {plugin.label}.", err=True)


@plugins.command()
@click.pass_obj
def rescan(scope: Scope) -> None:
    """Look again at what is installed."""
    found = scope.distribution.installed(scope.home, safe_mode=scope.safe_mode, rescan=True)
    click.echo(f"{len(found.plugins)} plugins installed.", err=True)
