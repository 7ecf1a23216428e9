"""``hermes distribution``: new, check and update."""

from pathlib import Path
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.errors import UserError

if TYPE_CHECKING:
    import click

    from hermes_distribution.form import Form

__all__ = ["make_check", "make_new", "make_update"]


def make_new(ctx: PluginContext) -> "click.Command":
    """``distribution new``."""
    import click

    from hermes_tool_distribution.naming import check_free
    from hermes_tool_distribution.template import texts

    @click.command("new")
    @click.argument("name")
    @click.option("--title", default="", help="What it is called in sentences; of the name, if none is given.")
    @click.option(
        "--into", type=click.Path(path_type=Path, file_okay=False), help="The folder to write; ./NAME if none is given."
    )
    def command(name: str, title: str, into: Path | None) -> None:
        """Write the package of a product called NAME: its file, its program, and how it is installed.

        The command, the home folder and the environment variables of the product have its name. Nothing that is there
        is overwritten.
        """
        import tempfile

        from hermes_distribution.form import read

        folder = into or Path(name)
        written = texts(name, title or name.replace("-", " ").title())
        with tempfile.TemporaryDirectory() as scratch:  # a wrong name is told before anything is written
            file = Path(scratch, "hermes-distribution.toml")
            file.write_text(next(text for place, text in written.items() if place.endswith(file.name)), "utf-8")
            read(file)
        check_free(name)
        if folder.exists() and any(folder.iterdir()):
            raise UserError(f"{folder} is there already, and not empty.", hint="Choose another with --into.")
        for place, text in written.items():
            path = folder / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        click.echo(f"Wrote {folder}. What the product is stands in its hermes-distribution.toml.", err=True)
        click.echo(f"Try it: pip install -e {folder} && {name} --help", err=True)

    return command


def make_check(ctx: PluginContext) -> "click.Command":
    """``distribution check``."""
    import click

    @click.command("check")
    @click.argument("file", type=click.Path(path_type=Path))
    def command(file: Path) -> None:
        """Check a product's FILE, and say what it allows. Exit 2 where something is wrong."""
        from hermes_distribution.form import read
        from hermes_distribution.product import must_be_settings
        from hermes_tool_distribution.renewing import told

        form = read(file / "hermes-distribution.toml" if file.is_dir() else file)
        must_be_settings(form)
        for line in told(form):
            click.echo(line)

    return command


def make_update(ctx: PluginContext) -> "click.Command":
    """``distribution update``."""
    import click

    @click.command("update")
    @click.argument("name", default="")
    @click.option("--source", default="", help="Another place: a package's name, or git+https://….")
    @click.option("-y", "--yes", is_flag=True, help="Do not ask.")
    def command(name: str, source: str, yes: bool) -> None:
        """Renew the product NAME (this one, if none is given) from its source, and say what it allows anew.

        What a person set, edited or deleted stays: settings are in config.yaml, and a shipped file that was edited is
        kept, with the new text beside it as NAME.new.
        """
        from hermes_distribution.files import lay_down
        from hermes_distribution.form import read
        from hermes_tables.tables import confirm
        from hermes_tool_distribution.renewing import differences, file_of, install, missing, told

        file = file_of(name or ctx.program)
        before = read(file)
        if not (source or before.source):  # on the index its name may be another's
            raise UserError(f"{file} names no source.", hint='Write it there as source = "…", or give --source.')
        refusal = "Only a person renews a product."
        wanted = [_sealed(source or before.source), *missing(before)]
        confirm(f"Install {', '.join(wanted)}? It runs with your rights.", yes=yes, refusal=refusal)
        install(wanted)
        after: Form = read(file)
        for line in differences(told(before), told(after)):
            click.echo(line)
        if more := missing(after):
            confirm(f"It names plugins anew. Install {', '.join(more)}, too?", yes=yes, refusal=refusal)
            install(more)
        shipped = file.parent / "files"
        if after.brand.name == ctx.program and shipped.is_dir():
            for kept in lay_down(shipped, ctx.paths.home):
                click.echo(f"Kept {kept} as you have it; what the product ships lies beside it.", err=True)
        click.echo(f"{after.brand.title} {after.version}", err=True)

    return command


def _sealed(source: str) -> str:
    """Return a source. Raises UserError for one that is neither a package's name nor a sealed address."""
    import re

    if re.fullmatch(r"git\+https://[\w.:/@~+-]+(?:#[\w=&./-]+)?|[A-Za-z0-9][\w.-]*(?:==[\w.!+-]+)?", source):
        return source
    raise UserError(f"{source!r} is no source.", hint="Give a package's name, or git+https://HOST/REPOSITORY.")
