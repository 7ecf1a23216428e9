"""The tool ``vault_run``: one program, with what it needs of the vault in its environment or on its standard input.

No shell is between: nothing can be traced, piped or substituted. The program is the very file that a person bound.
"""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from hermes_backend_wall.apart import Apart
from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, ToolError, UserError
from hermes_core.kinds import Tool, ToolContext, Workspace, tool
from hermes_core.options import ge, le, option, settings
from hermes_core.types import Effect, Feature
from hermes_tool_vault.consent import Use, agreed, owned
from hermes_tool_vault.filling import Filled, fill
from hermes_tool_vault.items import HANDLE, Binding, Item
from hermes_tool_vault.sealed import vault_of

__all__ = ["make_run", "plain_words"]

_LONGEST = 600
_SHELL = re.compile(r"[$`\\\n]")
_OPERATORS = re.compile(r"[;&|<>(){}*?\[\]~#!]")
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,99}")
# Variables that say what is loaded or run: a value there is no value that a program reads.
_LOADERS = re.compile(
    r"LD_|DYLD_|PATH$|PYTHON|NODE_|PERL|RUBY|JAVA_|_JAVA|JDK_|GCONV|LOCPATH|TERMINFO|BASH_|ENV$|IFS$|SHELL|HOME$|TMPDIR$"
    r"|GIT_|EDITOR|VISUAL|PAGER|BROWSER|LESS|MAN|HERMES_|.*_PROXY$|.*_(?:COMMAND|EDITOR|PAGER|SSH|ASKPASS|PRELOAD)$"
)


@settings
class Run:
    """What the model gives."""

    command: str = option("one program with its arguments, no shell and no handles")
    environment: dict[str, str] = option('variables it gets: {"TOKEN": "{{vault:NAME}}"}', factory=dict)
    stdin: str = option("may hold handles", default="")
    timeout: int = option("seconds, at most 600", default=180, validator=[ge(1), le(_LONGEST)])
    workdir: str = option("", default="")


def make_run(ctx: PluginContext) -> Tool:
    """The tool."""
    vault = vault_of(ctx)

    @tool(
        toolset="vault",
        effects={Effect.EXECUTE, Effect.ASK},
        touches=lambda _: (),
        seconds=_LONGEST + 30.0,
    )
    async def vault_run(context: ToolContext, arguments: Run) -> str:
        """Run one program with handles of `vault_list` filled in, in its environment or stdin. You see its output
        without the values."""
        owned(ctx, context)
        words = plain_words(arguments.command)
        _sound(arguments)
        texts = {f"environment {name}": value for name, value in arguments.environment.items()}
        texts["stdin"] = arguments.stdin
        used: list[Binding] = []

        def binding(item: Item, part: str, place: str) -> Use:
            found = _bound(item, words[0], ctx.program)
            used.append(found)
            return Use(item=item, part=part, binding=found, place=f"{found.target} ({place})")

        filled = fill(vault, texts, binding)
        if len({one.path for one in used}) > 1:
            raise ToolError(f"Not run: {words[0]} is another program for each of these values.", retry=False)
        path = _program(used[0], context.workspace)
        given = {"command": arguments.command, "workdir": arguments.workdir, **texts}
        await agreed(ctx, context, filled.uses, f"vault_run({arguments.command})", given)
        return await _run(context, arguments, (path, *words[1:]), filled)

    return vault_run


async def _run(context: ToolContext, arguments: Run, argv: tuple[str, ...], filled: Filled) -> str:
    values: Mapping[str, str] = filled.texts()
    request = Apart(
        argv=argv,
        stdin=values["stdin"].encode(),
        cwd=arguments.workdir,
        env={name: values[f"environment {name}"] for name in arguments.environment},
        seconds=float(arguments.timeout),
    )
    try:
        result = await context.workspace.run(request)
    except HermesError as error:
        raise ToolError(filled.hide(error.text), hint=filled.hide(error.hint)) from None
    said = filled.hide(result.output.decode(errors="replace")).rstrip("\n")
    return "\n".join(filter(None, (said, f"exit {result.status}" if result.status else ""))) or "(no output)"


def plain_words(command: str) -> list[str]:
    """The words of a command that means the same with a shell and without. Raises ToolError for any other."""
    bare = re.sub(r"'[^']*'", "''", command)
    quoted = re.sub(r'"[^"]*"', '""', bare)
    if HANDLE.search(command) or "{{vault" in command:
        raise ToolError(
            "Not run: a value in a command's arguments can be read by every process of this machine.",
            hint="Put the handle into `environment` or `stdin`.",
        )
    if _SHELL.search(bare) or _OPERATORS.search(quoted):
        raise ToolError("Not run: there is no shell here; give one program with its arguments, in quotes where needed.")
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ToolError(f"Not run: the command cannot be read: {error}.") from None
    if not words or "=" in words[0]:
        raise ToolError("Not run: the command begins with the name of the program; variables go into `environment`.")
    return words


def _sound(arguments: Run) -> None:
    """Raises ToolError for an environment that more than the program's own reading makes something of."""
    for name, value in arguments.environment.items():
        if not HANDLE.fullmatch(value):
            raise ToolError(f"Not run: {name[:80]} in `environment` is not one handle, such as {{{{vault:NAME}}}}.")
        if not _VARIABLE.fullmatch(name) or _LOADERS.match(name):
            raise ToolError(f"Not run: {name[:80]} is no variable for a value of the vault.", retry=False)
    if not arguments.environment and not HANDLE.search(arguments.stdin):
        raise ToolError("Not run: nothing of the vault is used. Run it with the terminal.")


def _bound(item: Item, word: str, program: str) -> Binding:
    for binding in item.bindings:
        if binding.kind == "command" and word in (binding.target, binding.path):
            return binding
    raise UserError(
        f"{item.name} is not bound to the program {word[:80]!r}.",
        hint=f"A person may say so: {program} vault bind {item.name} --command PROGRAM",
    )


def _program(binding: Binding, place: Workspace) -> str:
    """The file that a person bound, which must still be what it was. Raises ToolError."""
    if Feature.LOCAL not in place.features:
        raise ToolError("Not run: commands of this conversation run on another machine.", retry=False)
    path = Path(binding.path)
    root = Path(place.cwd).resolve()
    if root in path.resolve().parents:
        raise ToolError(
            f"Not run: {path} lies in the session's folder, where anybody may have written it.", retry=False
        )
    if not path.is_file():
        raise ToolError(f"Not run: {path} is not there any more.", hint="A person binds it again.", retry=False)
    return str(path)
