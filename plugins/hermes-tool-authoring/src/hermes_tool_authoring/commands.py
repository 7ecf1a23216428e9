"""The commands of an author. What each of them does is in the kits of ``hermes_core.testing``."""

from pathlib import Path

import click

__all__ = ["make_audit", "make_check", "make_new"]


def make_new() -> click.Command:
    """``plugins new``."""

    @click.command()
    @click.argument("kind", metavar="KIND")
    @click.argument("name")
    @click.option("--into", type=click.Path(path_type=Path), default=Path(), help="The folder to write it into.")
    def new(kind: str, name: str, into: Path) -> None:
        """Write a new plugin package with a contract test that passes.

        KIND is provider, tool, backend, platform or memory, or what a plugin adds instead: command, slash, hooks,
        routes, service or setup.

        \b
        Example:
          hermes plugins new tool dice && cd hermes-tool-dice && pip install -e . && pytest
        """
        from hermes_core.testing import new_plugin

        written = new_plugin(kind, name, into)
        click.echo("\n".join(str(p) for p in written))
        click.echo(f"\nNext: cd {written[0].parent}, then pip install -e . and pytest", err=True)

    return new


def make_check() -> click.Command:
    """``plugins check``."""

    @click.command()
    @click.argument("path", type=click.Path(exists=True, path_type=Path))
    @click.option("--imports", is_flag=True, help="Import it too, and compare what it registers with its manifest.")
    def check(path: Path, imports: bool) -> int:
        """Check a plugin in a folder or file: its manifest, and with --imports its code.

        Ends with status 1 when something is wrong.
        """
        from hermes_core.testing import check_plugin
        from hermes_tool_authoring.trial import tried

        findings = check_plugin(path)
        if imports and not any(f.level == "fault" for f in findings):
            findings = tried(path)
        for finding in findings:
            click.echo(f"{finding.level:<8} {finding.text}" + (f"\n         {finding.fix}" if finding.fix else ""))
        return 1 if any(f.level == "fault" for f in findings) else 0

    return check


def make_audit() -> click.Command:
    """``plugins audit``."""

    @click.command(context_settings={"ignore_unknown_options": True})
    @click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[COMMAND]...")
    @click.pass_context
    def audit(context: click.Context, words: tuple[str, ...]) -> int:
        """Run a command as it is, and list at its end what plugins reached for and did not disclose.

        It is a witness, not a wall. Put `--` before a command that begins with an option.

        \b
        Example:
          hermes plugins audit -- -z "run: ls"
        """
        from hermes_core.testing import Audit

        root = context.find_root()
        watching = Audit(root.obj.index)
        try:
            status = root.command.main([*words], prog_name=root.info_name, obj=root.obj, standalone_mode=False)
        finally:
            lines = [f"{label}: {text}" for label, text in watching.close()]
            lines = lines or ["No plugin reached for what it does not disclose."]
            click.echo("\n".join(["", "Audit (a witness, not a wall):", *(f"  {line}" for line in lines)]), err=True)
        return status if isinstance(status, int) else 0

    return audit
