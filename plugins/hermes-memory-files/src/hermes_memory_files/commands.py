"""``hermes memory`` and ``hermes user``: what is kept of a person, and what they do about it."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from attrs import asdict, evolve

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError, UnknownName, UserError
from hermes_core.types import Command, Principal
from hermes_memory_files.memory import FilesMemory
from hermes_memory_files.store import MemoryStore

if TYPE_CHECKING:
    import click


def commands(ctx: PluginContext) -> Sequence[Command]:
    """All commands; each is put together when it is used."""
    made: tuple[tuple[str, Callable[[PluginContext], click.Command]], ...] = (
        ("memory list", _list),
        ("memory forget", _forget),
        ("memory pending", _pending),
        ("memory approve", partial(_decide, verb="approve")),
        ("memory reject", partial(_decide, verb="reject")),
        ("memory tidy", _tidy),
        ("memory export", _export),
        ("memory erase", _erase),
        ("user", _user),
        ("user add", _user_add),
        ("user forget", _user_forget),
        ("user edit", _user_edit),
    )
    return [Command(name=name, build=partial(build, ctx)) for name, build in made]


def _whose(ctx: PluginContext, person: str) -> Principal:
    return evolve(ctx.owner, person=person) if person else ctx.owner


def _store(ctx: PluginContext, person: str) -> MemoryStore:
    return FilesMemory.of(ctx).store(_whose(ctx, person))


def _person(command: Any) -> Any:
    import click

    return click.option("--person", default="", help="Whose; you, if nobody is named.")(command)


def _made(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except ToolError as error:
        raise UserError(error.text, hint=error.hint) from None


def _list(ctx: PluginContext) -> "click.Command":
    import click

    from hermes_tables.tables import emit, json_option

    @click.command()
    @_person
    @click.option("--gone", is_flag=True, help="What the agent replaced or took out, or you by approving it.")
    @json_option
    async def command(person: str, gone: bool, as_json: bool) -> None:
        """Print what is remembered of you, or of another person, each with its id. What waits is not in it."""
        if gone:
            let_go = _made(_store(ctx, person).archived)
            emit(let_go, ("id", "when", "why", "text"), as_json=as_json, empty="Nothing was let go of.")
            return
        memos = await FilesMemory.of(ctx).search(_whose(ctx, person), "", 1_000_000)
        rows = [{"id": one.id, "by": one.source.by, "trusted": one.source.trusted, "text": one.text} for one in memos]
        emit(rows, ("id", "by", "text"), as_json=as_json, empty="Nothing is remembered yet.")

    return command


def _forget(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    @click.argument("memo", metavar="ID")
    @_person
    async def command(memo: str, person: str) -> None:
        """Forget what `hermes memory list` names by ID, with --gone too: no copy stays in the memory.

        Conversations keep theirs.
        """
        memory, owner = FilesMemory.of(ctx), _whose(ctx, person)
        known = {str(one["id"]): str(one["text"]) for one in _made(memory.store(owner).archived)}
        known |= {one.id: one.text for one in await memory.search(owner, "", 1_000_000)}
        found = [one for one in known if memo and one.startswith(memo)]
        if len(found) != 1:
            raise UnknownName("memory", memo, list(known), hint="hermes memory list")
        await memory.forget(owner, found[0])
        click.echo(f"Forgotten: {known[found[0]]}", err=True)

    return command


def _pending(ctx: PluginContext) -> "click.Command":
    import click

    from hermes_tables.tables import json_option, visible

    @click.command()
    @_person
    @json_option
    def command(person: str, as_json: bool) -> None:
        """Print what the agent wants to remember. It waits where memories.files.approval is true.

        + stands before what would come, - before what would go.
        """
        import json

        from hermes_memory_files.pending import waiting
        from hermes_memory_files.slash import shown

        store = _store(ctx, person)
        there = waiting(store)
        for one in there:
            click.echo(
                json.dumps(asdict(one), ensure_ascii=False) if as_json else visible("\n".join(shown(one, store)))
            )
        if not as_json:
            said = "hermes memory approve ID, or reject ID" if there else "Nothing waits to be remembered."
            click.echo(said, err=True)

    return command


def _decide(ctx: PluginContext, verb: str) -> "click.Command":
    import click

    from hermes_memory_files import pending
    from hermes_tables.tables import visible

    @click.command(
        help={
            "approve": "Remember what waits as each ID. See it with `hermes memory pending`.",
            "reject": "Drop what waits as each ID.",
        }[verb]
    )
    @click.argument("wanted", metavar="ID", nargs=-1, required=True)
    @_person
    def command(wanted: tuple[str, ...], person: str) -> None:
        store = _store(ctx, person)
        for name in wanted:
            one = _made(partial(pending.approve if verb == "approve" else pending.reject, store, name))
            lines = [f"{'Remembered' if verb == 'approve' else 'Dropped'}: {one.id}", *one.lines(())]
            click.echo(visible("\n".join(lines)), err=True)

    return command


def _tidy(ctx: PluginContext) -> "click.Command":
    import click

    from hermes_tables.tables import visible

    @click.command()
    @_person
    async def command(person: str) -> None:
        """Have a model (auxiliary.memory) propose what to merge and what to let go of: one call for each file.

        It may merge entries in their own words, and let go of one where a newer entry says otherwise. Nothing is done
        before you say so: what it proposes waits, as `hermes memory pending` shows it. What goes then is in
        `hermes memory list --gone`. memories.files.tidy has it looked at once a day.
        """
        from hermes_memory_files.slash import shown
        from hermes_memory_files.tidying import propose_order

        store = _store(ctx, person)
        try:
            made = await propose_order(ctx.llm, store)
        except ToolError as error:
            raise UserError(error.text, hint=error.hint) from None
        for one in made:
            click.echo(visible("\n".join(shown(one, store))))
        click.echo("hermes memory approve ID, or reject ID" if made else "It is in order.", err=True)

    return command


def _export(ctx: PluginContext) -> "click.Command":
    import json

    import click

    @click.command()
    @_person
    async def command(person: str) -> None:
        """Print what is remembered of you, or of another person, as lines of JSON; what waits to be is in it too."""
        for memo in await FilesMemory.of(ctx).export(_whose(ctx, person)):
            click.echo(json.dumps({"id": memo.id, "text": memo.text, **asdict(memo.source)}, ensure_ascii=False))

    return command


def _erase(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    @_person
    @click.option("--yes", is_flag=True, help="Do not ask.")
    async def command(person: str, yes: bool) -> None:
        """Delete all that is remembered of you, or of another person, with what was let go of before and what waits."""
        memory, owner = FilesMemory.of(ctx), _whose(ctx, person)
        whom = person or "you"
        if not yes:
            many = len(await memory.export(owner))
            click.confirm(
                f"Delete {many} memos of {whom}, and what was let go of before? It cannot be undone", abort=True
            )
        click.echo(f"{await memory.erase(owner)} memos of {whom} are deleted.", err=True)

    return command


def _user(ctx: PluginContext) -> "click.Command":
    import click

    from hermes_tables.tables import visible

    @click.command()
    @_person
    def command(person: str) -> None:
        """Print who you are, as every conversation of yours is told it: what you said, and what the agent noted.

        It stands in USER.md. Nobody else's conversations are told of it. `hermes user add`, `forget` and `edit` change
        it; a conversation that has begun is told of it with your next message.
        """
        from hermes_memory_files.profile import told

        click.echo(visible(_made(partial(told, _store(ctx, person)))))

    return command


def _user_add(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    @click.argument("text", nargs=-1, required=True)
    @_person
    def command(text: tuple[str, ...], person: str) -> None:
        """Say something of yourself that every conversation is told: hermes user add I live in Daegu."""
        from hermes_memory_files.profile import keep

        click.echo(f"Kept: {_made(partial(keep, _store(ctx, person), ' '.join(text)))}", err=True)

    return command


def _user_forget(ctx: PluginContext) -> "click.Command":
    import click

    from hermes_tables.tables import visible

    @click.command()
    @click.argument("part", nargs=-1, required=True)
    @_person
    def command(part: tuple[str, ...], person: str) -> None:
        """Forget the entry that PART stands in, for good: no copy of it stays in the memory."""
        from hermes_memory_files.profile import forget

        click.echo(visible(f"Forgotten: {_made(partial(forget, _store(ctx, person), ' '.join(part)))}"), err=True)

    return command


def _user_edit(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    @_person
    def command(person: str) -> None:
        """Open what is known of you in your editor ($VISUAL, $EDITOR). A line with only § parts entries."""
        from hermes_memory_files.entries import join_entries
        from hermes_memory_files.profile import rewrite

        store = _store(ctx, person)
        before = _made(partial(store.entries, "user"))
        text = click.edit(join_entries(before) + "\n", extension=".md")
        if text is None:
            click.echo("Nothing changed.", err=True)
            return
        after = _made(partial(rewrite, store, before, text))
        click.echo("Nothing changed." if after == before else f"{len(after)} entries are kept.", err=True)

    return command
