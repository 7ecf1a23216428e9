"""``hermes completion``: shell completion."""

import click
from click.shell_completion import get_completion_class

from hermes_core.cli.scope import Scope
from hermes_core.errors import UserError


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of a shell.

    \b
    Examples:
      hermes completion bash >> ~/.bashrc
      hermes completion fish > ~/.config/fish/completions/hermes.fish
    """
    scope = context.find_object(Scope) or Scope(None)
    made = get_completion_class(shell)
    if made is None:
        raise UserError(f"There is no completion for {shell}.")
    variable = f"_{scope.name.upper().replace('-', '_')}_COMPLETE"
    click.echo(made(context.find_root().command, {}, scope.name, variable).source())
