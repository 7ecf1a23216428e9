"""The root of the command line: flags that hold for every command, and lazy sub-commands."""

import contextlib
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from hermes_core.cli.lazy import LazyGroup
from hermes_core.cli.scope import Scope
from hermes_core.errors import HermesError, PluginError, UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.distribution import Distribution

__all__ = ["run"]


def run(distribution: "Distribution | None" = None, arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 the work failed, 2 you can fix it, 3 a plugin, 130 interrupted."""
    status = _status(distribution, list(sys.argv[1:] if arguments is None else arguments))
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    if "logging" in sys.modules:
        sys.modules["logging"].shutdown()
    os._exit(status)  # everything is closed; tearing the interpreter down would only take the person's time


def _status(distribution: "Distribution | None", arguments: list[str]) -> int:
    try:
        name = distribution.name if distribution else "hermes"
        result = root.main(arguments, prog_name=name, standalone_mode=False, obj=Scope(distribution))
    except click.exceptions.Abort:
        return _say("Interrupted.", 130)
    except KeyboardInterrupt:
        return _say("Interrupted.", 130)
    except click.ClickException as error:
        error.show()
        return 2
    except UserError as error:
        return _say(str(error), 2)
    except PluginError as error:
        return _say(str(error), 3)
    except HermesError as error:
        return _say(str(error), 1)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader left; there is nobody to tell
        return 1
    except OSError as error:
        return _say(
            f"The system refused: {error.strerror or error}{f' ({error.filename})' if error.filename else ''}", 1
        )
    return result if isinstance(result, int) else 0


def _say(text: str, status: int) -> int:
    if os.environ.get("HERMES_STRICT") and status != 130:
        import traceback

        traceback.print_exc()
    sys.stdout.flush()
    print(text, file=sys.stderr)
    return status


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Without a command, a conversation starts. `hermes COMMAND --help` explains a command.",
)
@click.option("-z", "--oneshot", metavar="TEXT", help="Answer TEXT, print only the answer, and end.")
@click.option("-c", "--continue", "continue_", is_flag=True, help="Go on with the last session.")
@click.option("-r", "--resume", metavar="ID|TITLE", help="Go on with a session: its id, the start of it, or its title.")
@click.option("-m", "--model", metavar="[PROVIDER:]MODEL", default="", help="The model that answers.")
@click.option("--provider", default="", help="The provider of the model.")
@click.option("-t", "--toolsets", metavar="A,B", default="", help="Offer only these toolsets.")
@click.option("--json", "as_json", is_flag=True, help="With -z or chat -q: one JSON object per event, a line each.")
@click.option("-p", "--profile", default=None, help="Use another profile (its own settings, keys, memory, sessions).")
@click.option("--yolo", is_flag=True, help="Ask nothing: everything but the hard blocks is allowed.")
@click.option("--safe-mode", is_flag=True, help="Start with the distribution's own plugins only.")
@click.option("--interface", default="", help="The platform to talk through (display.interface).")
@click.option("-V", "--version", is_flag=True, help="Print the version.")
@click.pass_context
def root(context: click.Context, /, **flags: Any) -> int:
    """An agent that lives on your machine: it answers, runs tools, remembers, and can be extended by plugins."""
    scope: Scope = context.obj
    scope.flags.update(flags)
    if flags["version"]:
        click.echo(f"{scope.name} {scope.version}")
        return 0
    if context.invoked_subcommand is not None:
        return 0
    from hermes_core.cli.chat import converse, oneshot

    if flags["oneshot"] is not None:
        return oneshot(scope, flags["oneshot"], quiet=True)
    return converse(scope)
