"""``hermes config``: look at and change settings; comments in the file survive."""

import json
import os
import sys

import click

from hermes_core.agent.policy.rules import idle
from hermes_core.cli.scope import Scope
from hermes_core.config.describe import plain
from hermes_core.config.layers import managed
from hermes_core.config.schema import OPEN
from hermes_core.config.secrets import Secrets
from hermes_core.config.settings import config_problems as problems_in
from hermes_core.config.settings import get_value
from hermes_core.errors import ConfigError, UserError
from hermes_tables.tables import json_option


@click.group()
def config() -> None:
    """Settings live in config.yaml, secrets in .env beside it."""


@config.command()
@click.argument("key")
@json_option
@click.pass_obj
def get(scope: Scope, key: str, as_json: bool) -> None:
    """Print one setting, or a section. KEY has dots: model.default."""
    value = plain(get_value(scope.settings, key, sections(scope) if key.partition(".")[0] in OPEN else {}))
    plainly = isinstance(value, str) and not as_json
    click.echo(value if plainly else json.dumps(value, ensure_ascii=False, default=str))


@config.command("set")
@click.argument("key")
@click.argument("value", required=False)
@click.pass_obj
def set_(scope: Scope, key: str, value: str | None) -> None:
    """Change one setting. VALUE is YAML: 5, true, [a, b], text. An all-capital KEY is a secret and goes to .env.

    Without VALUE it is asked for, a secret unseen; - reads it from standard input.

    Examples: `config set model.default gpt-5`, `config set OPENROUTER_API_KEY`.
    """
    from hermes_core.config.edit import refuse_locked, set_text

    (home := scope.home).create()
    refuse_locked(managed(home.managed)[1] | dict.fromkeys(scope.distribution.locked, scope.name), key)
    entered = _entered(scope, key, value)
    if not key.isupper():
        set_text(home, key, entered, sections=sections(scope))
        return
    Secrets(home.env_file, os.environ).set(key, entered)
    typed = "" if value in (None, "-") else " The history of your shell holds it too; without a value it is asked for."
    click.echo(f"{key} is kept in {home.env_file}.{typed}", err=True)


def _entered(scope: Scope, key: str, value: str | None) -> str:
    """Return a value from the command line, from standard input, or typed, a secret unseen."""
    if value is None and sys.stdin.isatty():
        return str(click.prompt(key, hide_input=key.isupper(), err=True))
    entered = sys.stdin.read().strip("\r\n") or None if value == "-" else value
    if entered is None:
        raise UserError(f"There is no value for {key}.", hint=f"Pipe it into: {scope.name} config set {key} -")
    return entered


@config.command()
@click.argument("key")
@click.pass_obj
def unset(scope: Scope, key: str) -> None:
    """Take one setting back to its default."""
    from hermes_core.config.edit import unset_value

    there = Secrets(scope.home.env_file, os.environ).unset(key) if key.isupper() else unset_value(scope.home, key)
    if not there:
        if not key.isupper():
            get_value(scope.settings, key)  # a wrong name is told
        click.echo(f"{key} is not set.", err=True)


@config.command()
@click.pass_obj
def check(scope: Scope) -> None:
    """Check config.yaml, the sections of enabled plugins too. Exit 2 when something is wrong."""
    problems = config_problems(scope)
    if problems:
        raise ConfigError(problems)
    told = idle_rules(scope) or [f"{scope.home.config_file}: fine."]
    click.echo("\n".join(told))


def idle_rules(scope: Scope) -> list[str]:
    """Return rules of the policy that no installed tool fits; it may belong to a plugin that is yet to come."""
    policy = scope.settings.config.policy
    return idle([*policy.deny, *policy.allow], scope.index.tools)


def config_problems(scope: Scope) -> list[str]:
    """Return everything that is wrong with the file, the kernel's part and the enabled plugins' parts."""
    try:
        return problems_in(scope.home, sections(scope), scope.index.config_sections)
    except UserError as error:
        return list(error.problems) if isinstance(error, ConfigError) else [str(error)]


def sections(scope: Scope) -> dict[str, type]:
    """Return the settings classes of enabled plugins, by the path of their section."""
    from hermes_core.plugins.loader import config_sections

    return config_sections(scope.index, scope.consent())
