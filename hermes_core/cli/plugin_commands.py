"""Commands of plugins: known from manifests, imported when one is used, and run with a live kernel where they ask."""

import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from copy import copy
from functools import partial, wraps
from inspect import iscoroutinefunction
from typing import Any

import click

from hermes_core.cli.bare import require_somebody
from hermes_core.cli.flags import kernel_options
from hermes_core.cli.loop import run_loop
from hermes_core.cli.scope import Scope
from hermes_core.errors import ContractError, HermesError, PluginError, UserError
from hermes_core.own import COMMANDS, DEFAULT
from hermes_core.plugins.fence import log, one_line
from hermes_core.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.plugins.dispatch import Dispatch

__all__ = ["PACKAGES", "awaited", "default_command", "find_command", "why_not"]

COMMANDLINE = click.core.ParameterSource.COMMANDLINE
Run = Callable[[Coroutine[Any, Any, Any]], Any]
PACKAGES = {words: package for package, found in COMMANDS.items() for words in found}


def default_command(scope: Scope) -> tuple[str, click.Command]:
    """Return what runs where no command is named, and its name. Raises as ``find_command``, UserError without one."""
    require_somebody(scope)
    name = scope.default_command()
    if not name and scope.distribution.offers(DEFAULT):
        why_not(scope, DEFAULT)
    if command := find_command(scope, name):
        return name, command
    raise UserError("No plugin here talks with a person.", hint=f"{scope.name} plugins install {PACKAGES[DEFAULT]}")


def find_command(scope: Scope, name: str) -> click.Command | None:
    """Return the command, or group of commands, that enabled plugins add under a name; imports those plugins.

    Raises PluginError when they cannot be used, UserError when the plugin that has it is not enabled or installed.
    """
    records = scope.plugin_commands(lambda one: one.first == name)
    if not records:
        why_not(scope, name)
        return None
    labels = {one.owner for one in records}
    loader, dispatch = scope.loading(labels)
    for label in sorted(labels):
        loader.load(scope.index.resolve(label), named=True)
    command = _built(name, records, labels, dispatch, partial(_in_kernel, scope))
    if any(one.told.get("default") for one in records):
        command.params = [*command.params, *kernel_options()]
    return command


def _built(name: str, records: Iterable[Record], labels: set[str], dispatch: "Dispatch", run: Run) -> click.Command:
    told = {one.words: one for one in records}
    group = click.Group(name, help=told[name].summary if name in told else None)
    alone: click.Command | None = None  # what runs when no word follows
    for owner, command in dispatch.contributions("register_cli_commands"):
        second = command.name.partition(" ")[2]
        if owner in labels and command.name in told:
            try:
                built = command.build()
            except Exception as error:
                log.exception("the command %s cannot be built", command.name)
                raise PluginError(owner, f"its command {command.name} cannot be built: {one_line(error)}") from error
            if not isinstance(built, click.Command):
                raise ContractError(owner, f"its command {command.name} is built as a {type(built).__name__}")
            made = awaited(built, run, owner)
            if record := told.get(command.name):
                made.short_help = record.summary
                made.epilog = "\n  ".join(["\b\nExamples:", *record.examples]) if record.examples else made.epilog
            if second:
                group.add_command(made, second)
            else:
                alone = made
    if alone:
        return alone if isinstance(alone, click.Group) or not group.commands else _headed(alone, group)
    if not group.commands:
        fault = next((f for f in dispatch.faults if f.plugin in labels), None)
        raise PluginError(", ".join(sorted(labels)), fault.error if fault else f"it adds no command {name}")
    return group


def _headed(alone: click.Command, group: click.Group) -> click.Group:
    """Return a group that runs a command of its own where no word follows; its options are good before a word too."""

    @click.pass_context
    def run(context: click.Context, /, **options: Any) -> Any:
        if context.invoked_subcommand is None:
            return context.invoke(alone, **options)
        said = {n: value for n, value in options.items() if context.get_parameter_source(n) is COMMANDLINE}
        context.default_map = {context.invoked_subcommand: said}
        return None

    return click.Group(
        group.name,
        group.commands,
        help=alone.help,
        short_help=alone.short_help,
        params=[one for one in alone.params if isinstance(one, click.Option)],
        invoke_without_command=True,
        callback=run,
    )


def awaited(command: click.Command, run: Run, owner: str) -> click.Command:
    """Return a copy of a command in which ``run`` is given what an ``async def`` makes, and those below it alike.

    Raises ContractError for a group that is itself ``async def``: its commands have a kernel each.
    """
    made, function = copy(command), command.callback
    if isinstance(made, click.Group):
        if iscoroutinefunction(function):
            raise ContractError(owner, f"the group {made.name} is an 'async def'", hint="Only its commands may be.")
        made.commands = {name: awaited(one, run, owner) for name, one in made.commands.items()}
        return made
    if function is None:
        return made

    def call(*given: Any, **options: Any) -> Any:
        try:
            return run(function(*given, **options)) if iscoroutinefunction(function) else function(*given, **options)
        except (HermesError, click.ClickException, click.exceptions.Exit, click.Abort, OSError):
            raise
        except (Exception, asyncio.CancelledError, GeneratorExit) as error:
            log.exception("the command %s failed", made.name)
            raise PluginError(owner, f"its command {made.name} failed: {one_line(error)}") from error

    made.callback = wraps(function)(call)
    return made


def _in_kernel(scope: Scope, work: Coroutine[Any, Any, Any]) -> Any:
    """Run the work of a command while the kernel lives. It is closed at the end, also after Ctrl-C and SIGTERM."""
    ended: list[bool] = []

    async def live() -> Any:
        task = asyncio.current_task()
        assert task

        def end() -> None:
            ended.append(True)
            task.cancel()

        loop = asyncio.get_running_loop()
        with suppress(NotImplementedError, RuntimeError, ValueError):  # beside the main thread, or another system
            loop.add_signal_handler(signal.SIGTERM, end)
        async with scope.kernel:
            return await work

    try:
        return run_loop(live())
    except asyncio.CancelledError:
        if ended:
            raise KeyboardInterrupt from None  # it is told as Ctrl-C is
        raise
    finally:
        work.close()  # it may not have begun


def why_not(scope: Scope, name: str) -> None:
    """Say where a command is that cannot be used, by its words. Raises UserError; nothing where nobody has it."""
    consent = scope.consent()
    found = [one for one in scope.index.commands if name in (one.first, one.words)]
    for one in sorted(found, key=lambda one: one.words != name):  # of a group, whose it is before who adds to it
        if (installed := scope.index.get(one.owner)) and not consent.state(installed).usable:
            hint = "" if scope.safe_mode else f"{scope.name} plugins enable {one.owner}"
            why = f"which is not enabled: {consent.state(installed).reason}."
            raise UserError(f"`{scope.name} {name}` is a command of the plugin {one.owner}, {why}", hint=hint)
    if package := PACKAGES.get(name):
        require_somebody(scope)
        hint = f"{scope.name} plugins install {package}"
        if all(one.distribution != PACKAGES["plugins install"] for one in scope.index.plugins):
            hint = f"pip install {package}   (or: uv pip install, pipx inject; into {sys.prefix})"
        raise UserError(f"`{scope.name} {name}` is a command of {package}, which is not installed.", hint=hint)
