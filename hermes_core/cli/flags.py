"""Options that say what the kernel of a command is put together of."""

from typing import Any

import click

from hermes_core.cli.scope import Scope

__all__ = ["kernel_options"]


def kernel_options() -> list[click.Parameter]:
    """Return options that no command is told of. The root has them, and so has what runs where no command is named."""
    return [
        _option("-m", "--model", metavar="[PROVIDER:]MODEL", help="The model that answers."),
        _option("--provider", help="The provider of the model."),
        _option("-t", "--toolsets", metavar="A,B", help="Offer only these toolsets."),
        _option("--yolo", is_flag=True, help="Ask nothing: everything but the hard blocks is allowed."),
    ]


def _option(*names: str, **more: Any) -> click.Option:
    return click.Option(names, expose_value=False, callback=_note, **more)


def _note(context: click.Context, option: click.Parameter, value: Any) -> None:
    if value:
        context.ensure_object(Scope).choose(option.name or "", value)
