"""``hermes help``: what there is to type, as manifests tell it. For what they tell no plugin is imported."""

from collections.abc import Callable, Iterable, Sequence

import click

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName
from hermes_core.records import Record, grouped

__all__ = ["make_help", "names_of"]

_WHO = {
    "everyone": "for everyone",
    "admin": "for admins, as whoever sits at a terminal is",
    "person": "for a person: no tool runs it",
}


def make_help(ctx: PluginContext) -> click.Command:
    """``help``."""

    def complete(context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
        if begun.startswith("/"):
            return [f"/{name}" for name in names_of(ctx, "slash", begun[1:])]
        root = context.find_root()
        known = root.command.list_commands(root) if isinstance(root.command, click.Group) else []
        return [*(name for name in known if name.startswith(begun)), *names_of(ctx, "setup", begun)]

    @click.command()
    @click.argument("words", nargs=-1, metavar="[COMMAND|/COMMAND|STEP]...", shell_complete=complete)
    @click.pass_context
    def command(context: click.Context, words: tuple[str, ...]) -> None:
        """Explain a command, a slash command, or a step of `hermes setup`; without a word, list them all.

        \b
        Examples:
          hermes help sessions list
          hermes help /undo
          hermes help telegram
        """
        root, steps = context.find_root(), {one.words: one for one in ctx.plugins.records("setup")}
        if not words:
            click.echo(_everything(ctx, root))
        elif words[0].startswith("/"):
            click.echo(_slash(ctx.plugins.records("slash"), words[0][1:]))
        elif len(words) == 1 and words[0] in steps:
            click.echo(_explained(steps[words[0]], f"{root.info_name} setup {words[0]}"))
        else:
            click.echo(_of_command(root, words))
            if words == ("setup",):
                click.echo(f"\n{_listed(root, steps.values(), lambda one: one.words)}")

    return command


def names_of(ctx: PluginContext, table: str, begun: str = "") -> list[str]:
    """Say which names a table of records has, other names too, as far as they begin so."""
    found = (name for one in ctx.plugins.records(table) for name in (one.words, *one.told.get("aliases", ())))
    return sorted(name for name in found if name.startswith(begun))


def _everything(ctx: PluginContext, root: click.Context) -> str:
    name = root.info_name
    steps = ", ".join(names_of(ctx, "setup")) or "nothing"
    return "\n\n".join((
        root.get_help(),
        f"In a conversation:\n\n{_listed(root, ctx.plugins.records('slash'), _typed)}",
        f"With `{name} setup NAME`:\n\n{click.wrap_text(steps, 98, '  ', '  ')}",
        f"`{name} help COMMAND`, `{name} help /COMMAND` and `{name} help NAME` explain one.",
    ))  # fmt: skip


def _typed(one: Record) -> str:
    return f"/{one.words} {one.told.get('usage', '')}".strip()


def _listed(root: click.Context, records: Iterable[Record], typed: Callable[[Record], str]) -> str:
    """One line each, by their groups."""
    formatter, known = root.make_formatter(), {one.words: one for one in records}
    for group, rows in grouped(known.values()).items():
        with formatter.section(group):
            formatter.write_dl([(typed(known[one.words]), one.summary) for one in rows])
    return formatter.getvalue().strip("\n")


def _slash(records: Sequence[Record], name: str) -> str:
    """A slash command, by its name or another one. Raises UnknownName."""
    for one in records:
        if name in (one.words, *one.told.get("aliases", ())):
            return _explained(one, _typed(one))
    raise UnknownName("slash command", name, [one.words for one in records])


def _explained(one: Record, typed: str) -> str:
    also = ", ".join(f"/{name}" for name in one.told.get("aliases", ()))
    where = f", in: {', '.join(one.told['where'])}" if "where" in one.told else ""
    lines = (
        one.summary,
        also and f"also: {also}",
        _WHO[one.who] + where,
        f"from {one.owner}",
        *(f"for example: {line}" for line in one.examples),
    )
    return "\n    ".join([typed, *filter(None, lines)])


def _of_command(root: click.Context, words: Sequence[str]) -> str:
    """What `--help` of a command says. Raises UnknownName, and UserError where its plugin is not enabled."""
    command, context = root.command, root
    for word in words:
        known = command.list_commands(context) if isinstance(command, click.Group) else []
        found = command.get_command(context, word) if isinstance(command, click.Group) else None
        if found is None:
            raise UnknownName("command", " ".join(words), known)
        command, context = found, click.Context(found, info_name=word, parent=context, **found.context_settings)
    return command.get_help(context)
