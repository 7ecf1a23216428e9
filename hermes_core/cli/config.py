"""``hermes config``: look at and change settings; comments in the file survive."""

import json
import os
import shlex
import subprocess

import click

from hermes_core.cli.scope import Scope
from hermes_core.cli.table import emit, json_option
from hermes_core.errors import ConfigError, PluginError, UserError


@click.group()
def config() -> None:
    """Settings live in config.yaml, secrets in .env beside it."""


@config.command()
@click.pass_obj
def path(scope: Scope) -> None:
    """Print where config.yaml is."""
    click.echo(scope.home.config_file)


@config.command()
@click.option("--all", "everything", is_flag=True, help="Defaults too.")
@json_option
@click.pass_obj
def show(scope: Scope, everything: bool, as_json: bool) -> None:
    """Print the settings that are in force. Secrets are hidden."""
    from hermes_core.config.describe import settings_rows
    from hermes_core.config.edit import get_value
    from hermes_core.config.schema import Config

    rows = []
    for row in settings_rows(Config, ""):
        value = get_value(scope.settings, row.key)
        changed = value != row.default
        if everything or changed:
            shown = "…" if "Secret" in row.type and value else json.dumps(value, ensure_ascii=False, default=str)
            rows.append({"setting": row.key, "value": shown, "from": "you" if changed else "default", "help": row.help})
    emit(rows, ("setting", "value", "from", "help"), as_json=as_json, empty="Everything is at its default: --all.")


@config.command()
@click.argument("key")
@json_option
@click.pass_obj
def get(scope: Scope, key: str, as_json: bool) -> None:
    """Print one setting. KEY has dots: model.default."""
    from hermes_core.config.edit import get_value

    value = get_value(scope.settings, key)
    plain = isinstance(value, str) and not as_json
    click.echo(value if plain else json.dumps(value, ensure_ascii=False, default=str))


@config.command("set")
@click.argument("key")
@click.argument("value")
@click.pass_obj
def set_(scope: Scope, key: str, value: str) -> None:
    """Change one setting. VALUE is YAML: 5, true, [a, b], text. An all-capital KEY is a secret and goes to .env.

    \b
    Examples:
      hermes config set model.default gpt-5
      hermes config set OPENROUTER_API_KEY sk-…
    """
    home = scope.home
    home.create()
    if key.isupper() and "." not in key:
        from hermes_core.config.secrets import Secrets

        Secrets(home.env_file, os.environ).set(key, value)
        click.echo(f"{key} is kept in {home.env_file}.", err=True)
        return
    import yaml

    from hermes_core.config.edit import set_value

    try:
        parsed = yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise UserError(f"{value!r} is not YAML.", hint="Put quotes around text with special characters.") from error
    set_value(home, key, parsed)


@config.command()
@click.argument("key")
@click.pass_obj
def unset(scope: Scope, key: str) -> None:
    """Take one setting back to its default."""
    if key.isupper() and "." not in key:
        from hermes_core.config.secrets import Secrets

        Secrets(scope.home.env_file, os.environ).unset(key)
        return
    from hermes_core.config.edit import unset_value

    unset_value(scope.home, key)


@config.command()
@click.pass_obj
def check(scope: Scope) -> int:
    """Check config.yaml, the sections of enabled plugins too. Exit 2 when something is wrong."""
    problems = config_problems(scope)
    if problems:
        raise ConfigError(problems, hint="Mend them with `hermes config edit`.")
    click.echo(f"{scope.home.config_file}: fine.")
    return 0


def config_problems(scope: Scope) -> list[str]:
    """Everything that is wrong with the file, the kernel's part and the enabled plugins' parts."""
    from hermes_core.plugins.modules import config_class

    try:
        settings = scope.settings
    except ConfigError as error:
        return list(error.problems)
    problems: list[str] = []
    consent = scope.consent()
    for plugin in scope.index.plugins:
        if plugin.manifest and plugin.manifest.config_class and consent.state(plugin).usable:
            try:
                settings.section(plugin.manifest.config_section, config_class(plugin))
            except ConfigError as error:
                problems.extend(error.problems)
            except PluginError as error:
                problems.append(str(error))
    return problems


@config.command()
@click.pass_obj
def schema(scope: Scope) -> None:
    """Print the JSON Schema of config.yaml, for editors."""
    from hermes_core.config.describe import json_schema
    from hermes_core.config.schema import Config

    click.echo(json.dumps(json_schema(Config), indent=2))


@config.command()
@click.pass_obj
def edit(scope: Scope) -> None:
    """Open config.yaml in $VISUAL or $EDITOR, then check it."""
    home = scope.home
    home.create()
    if not home.config_file.exists():
        home.config_file.write_text("# Settings of Hermes. `hermes config show --all` lists them.\n", encoding="utf-8")
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        subprocess.run([*shlex.split(editor), str(home.config_file)], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise UserError(
            f"The editor {editor!r} failed: {error}", hint="Set EDITOR to one that is installed."
        ) from error
    if problems := config_problems(scope):
        raise ConfigError(problems, hint="Saved, but these must be mended: `hermes config edit`.")
