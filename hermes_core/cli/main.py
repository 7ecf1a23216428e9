"""The root of the command line: flags that hold for every command, and commands imported when they are used."""

import contextlib
import gc
import io
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

import click

from hermes_core.agent.policy.itself import only_by_a_person, run_by_tool, widens
from hermes_core.cli.flags import kernel_options
from hermes_core.cli.scope import Scope
from hermes_core.environment import switched_on
from hermes_core.errors import HermesError, PluginError, UnknownName, UserError
from hermes_core.records import KERNEL, Record, grouped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.product import Product

__all__ = ["root", "run"]

_RECORDS = {one.words: one for one in KERNEL if one.module}


def run(distribution: "Product | None" = None, arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 the work failed, 2 you can fix it, 3 a plugin, 130 interrupted."""
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: PTH123, SIM115 - the caller closed it
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a letter that the locale lacks must not end the program
            stream.reconfigure(errors="replace")
    status = _status(distribution, [_utf8(word) for word in sys.argv[1:]] if arguments is None else list(arguments))
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)  # everything is closed; tearing the interpreter down would only take the person's time


def _utf8(word: str) -> str:
    """Return a word of the command line as UTF-8, also where the locale knows only ASCII."""
    try:
        return os.fsencode(word).decode()
    except UnicodeError:
        return word


def _status(distribution: "Product | None", arguments: list[str]) -> int:
    scope = Scope(distribution)
    try:
        _refuse_tools(scope.name, arguments, KERNEL)
        result = root.main(arguments, prog_name=scope.name, standalone_mode=False, obj=scope)
    except (click.exceptions.Abort, KeyboardInterrupt):
        print("Interrupted.", file=sys.stderr)
        return 130
    except click.ClickException as error:
        error.show()
        return 2
    except HermesError as error:
        status = 2 if isinstance(error, UserError) else 3 if isinstance(error, PluginError) else 1
        error.hint = scope.distribution.told(error.hint)
        return _say(scope, str(error), status)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader left; there is nobody to tell
        return 1
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        return _say(scope, f"The system refused: {error.strerror or error}{where}", 1)
    except Exception as error:
        import logging

        log = logging.getLogger("hermes_core")
        if log.handlers:
            log.exception("a command failed")
        told = f"{type(error).__name__}: {error}"
        return _say(scope, told, 1, "A fault in Hermes or a plugin; HERMES_STRICT=1 shows where.")
    return result if isinstance(result, int) else 0


def _refuse_tools(name: str, arguments: Sequence[str], records: Iterable[Record]) -> None:
    """Leave to people what only a person may do. Raises UserError when a tool of this program runs it."""
    if "HERMES_TRUST" in os.environ and run_by_tool():
        del os.environ["HERMES_TRUST"]  # inherited, or made up: it is a person's word
    only_by_a_person(name, switched_on("HERMES_YOLO") or widens(arguments, records))


def _say(scope: Scope, text: str, status: int, more: str = "") -> int:
    """Say an error without its secrets and what drives a terminal, and ``more`` as it is."""
    from hermes_tables.tables import harmless

    if switched_on("HERMES_STRICT"):
        import traceback

        print(scope.masked(traceback.format_exc()), end="", file=sys.stderr)
    sys.stdout.flush()
    print("\n".join(filter(None, [harmless(scope.masked(text)), more])), file=sys.stderr)
    return status


class LazyGroup(click.Group):
    """Knows its commands by name; imports one when it runs. Plugins' commands come from their manifests."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        own = [name for name in _RECORDS if _scope(ctx).distribution.offers(name)]
        return [*own, *sorted({one.first for one in _scope(ctx).plugin_commands()} - set(_RECORDS))]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if not _scope(ctx).distribution.offers(cmd_name):
            return None
        if cmd_name not in _RECORDS:
            from hermes_core.cli.plugin_commands import find_command

            if cmd_name != _scope(ctx).default_command():
                gc.enable()  # whatever it does, it may take long
            return find_command(_scope(ctx), cmd_name)
        module = import_module(f"hermes_core.cli.{_RECORDS[cmd_name].module}")
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        if isinstance(command, click.Group):
            from hermes_core.cli.shared import Shared

            return Shared(command, _scope(ctx))
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        scope = _scope(ctx)
        own = (one for one in _RECORDS.values() if scope.distribution.offers(one.words))
        groups = grouped([*own, *scope.plugin_commands()])
        width = max(len(one.words) for rows in groups.values() for one in rows)
        for group, rows in groups.items():
            with formatter.section(group):
                formatter.write_dl([(one.words.ljust(width), one.summary) for one in rows])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        scope = _scope(ctx)
        scope.flags.update(ctx.params)  # which command there is depends on the profile and on safe mode
        name, *rest = args
        _refuse_tools(scope.name, args, scope.plugin_commands())
        command = self.get_command(ctx, name)
        if command is None:
            hint = f"`{scope.name} --help` lists all commands."
            raise UnknownName("command", name, self.list_commands(ctx), hint=hint)
        return name, command, [*_passed(ctx.params), *rest] if name == scope.default_command() else rest


def _passed(said: Mapping[str, Any]) -> list[str]:
    """Return what stood before a command and is for the one that runs where none is named, as words behind it."""
    known = {"continue_": "--continue", "worktree": "--worktree", "as_json": "--json"}
    flags = [word for name, word in known.items() if said[name]]
    return [*flags, *(f"--{n}={said[n]}" for n in ("oneshot", "resume", "interface") if said[n] is not None)]


def _scope(ctx: click.Context) -> Scope:
    return ctx.find_object(Scope) or Scope()


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Without a command, a conversation starts. `hermes COMMAND --help` explains a command.",
)
@click.option("-z", "--oneshot", metavar="TEXT", help="Answer TEXT, print only the answer, and end.")
@click.option("-c", "--continue", "continue_", is_flag=True, help="Go on with the last session.")
@click.option("-r", "--resume", metavar="ID|TITLE", help="Go on with a session: its id, the start of it, or its title.")
@click.option("-w", "--worktree", is_flag=True, help="Work in a worktree of git, on a branch of its own.")
@click.option("--json", "as_json", is_flag=True, help="With -z or chat -q: one JSON object per event, a line each.")
@click.option("-p", "--profile", default=None, help="Use another profile (its own settings, keys, memory, sessions).")
@click.option("--trust", is_flag=True, help="For this run, the folder is known: its notes for agents are followed.")
@click.option("--safe-mode", is_flag=True, help="Start with the distribution's own plugins only.")
@click.option("--interface", help="The platform to talk through (display.interface).")
@click.option("--tui", "interface", flag_value="tui", help="Talk on the full screen.")
@click.option("--cli", "interface", flag_value="cli", help="Talk line by line.")
@click.option("-V", "--version", is_flag=True, help="Print the version.")
@click.pass_context
def root(context: click.Context, /, **flags: Any) -> Any:
    """An agent that lives on your machine: it answers, runs tools, remembers, and can be extended by plugins."""
    scope: Scope = context.obj
    scope.flags.update(flags)
    os.environ.update({"HERMES_TRUST": "1"} if flags["trust"] else {})
    if flags["version"]:
        click.echo(f"{scope.name} {scope.distribution.version}")
        context.exit()
    if context.invoked_subcommand is not None:
        return 0
    from hermes_core.cli.plugin_commands import default_command

    name, command = default_command(scope)
    with command.make_context(name, _passed(flags), parent=context) as talking:
        return command.invoke(talking)


root.params[3:3] = kernel_options()  # where help shows them


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
    from click.shell_completion import get_completion_class

    name = _scope(context).name
    made = get_completion_class(shell)
    assert made is not None
    variable = f"_{name.upper().replace('-', '_')}_COMPLETE"
    click.echo(made(context.find_root().command, {}, name, variable).source())
