"""``hermes vault``: what a person keeps, and where it may go."""

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import Command
from hermes_tool_vault.items import KINDS, Binding, Item, Kind, origin_of, read_name, totp_fields
from hermes_tool_vault.listing import row
from hermes_tool_vault.sealed import Vault, vault_of

if TYPE_CHECKING:
    import click

__all__ = ["commands"]

_LEAST = 6  # characters of what can be hidden in texts


def commands(ctx: PluginContext) -> Sequence[Command]:
    """All of them."""
    vault = vault_of(ctx)
    return [
        Command(name="vault add", build=lambda: _add(vault, ctx.program)),
        Command(name="vault list", build=lambda: _list(vault, ctx.program)),
        Command(name="vault show", build=lambda: _show(vault)),
        Command(name="vault bind", build=lambda: _bind(vault)),
        Command(name="vault unbind", build=lambda: _unbind(vault)),
        Command(name="vault remove", build=lambda: _remove(vault)),
    ]


def _add(vault: Vault, program: str) -> "click.Command":
    import click

    @click.command("add")
    @click.argument("name")
    @click.argument("source", required=False, default="", metavar="[-]")
    @click.option("--kind", type=click.Choice(KINDS), default="password", show_default=True, help="What it is.")
    @click.option("--user", default="", help="The user's name that belongs to a password.")
    @click.option("--replace", is_flag=True, help="Put it in the place of one that is there; its bindings stay.")
    def add(name: str, source: str, kind: Kind, user: str, replace: bool) -> None:
        """Keep something. It is asked for without being shown; with - it is read from standard input.

        \b
        A password or token, used as {{vault:github}}:
          hermes vault add github
        One from another program, with its user:
          pass show shop | hermes vault add shop --user ann -
        The key of one-time codes, base32 or an otpauth:// address, used as {{vault:bank.code}}:
          hermes vault add bank --kind totp
        A card, as four lines: number, expiry, check code, holder:
          hermes vault add visa --kind card

        Then say where it may go: hermes vault bind NAME. Nothing is used before that.
        """
        read_name(name)
        if source not in ("", "-"):
            raise UserError(
                "A value on the command line stands in the shell's history.",
                hint=f"{program} vault add {name} asks for it; - reads standard input.",
            )
        there = name in vault.read()
        if there and not replace:
            raise UserError(f"The vault holds {name} already.", hint=f"{program} vault add {name} --replace")
        fields = _fields(kind, source == "-")
        if kind == "password":
            fields["user"] = user

        def edit(things: dict[str, Item]) -> None:
            if name in things and not replace:
                raise UserError(f"The vault holds {name} already.")
            old = things[name].bindings if name in things else ()
            things[name] = Item(name=name, kind=kind, fields=fields, bindings=old)

        vault.change(edit)
        bound = vault.get(name).bindings
        more = "" if bound else f" It is bound to nothing yet: {program} vault bind {name} --help"
        click.echo(f"Kept {name} ({kind}).{more}")

    return add


def _fields(kind: Kind, piped: bool) -> dict[str, str]:
    """What was said, by name. Raises UserError for what cannot be kept."""
    import click

    if not piped and not sys.stdin.isatty():
        raise UserError("Nobody can be asked here.", hint="Give - to read the value from standard input.")
    asked = {"password": ["Password or token"], "totp": ["Key, base32 or otpauth://"], "note": ["Text"]}
    asked["card"] = ["Card number", "Expiry", "Check code", "Holder"]
    if piped:
        text = sys.stdin.read().strip("\r\n")
        said = text.splitlines() if kind == "card" else [text]
    else:
        said = [
            str(click.prompt(one, hide_input=True, default="", show_default=False, err=True)) for one in asked[kind]
        ]
    if kind == "totp":
        return totp_fields(said[0])
    if kind == "card":
        number = "".join(sign for sign in said[0] if sign.isdigit()) if said else ""
        if not 12 <= len(number) <= 19 or not _checked(number):
            raise UserError("That is no card number: its digits do not add up.")
        return dict(zip(("number", "expiry", "cvc", "holder"), [number, *said[1:4], "", "", ""], strict=False))
    if len(said[0]) < _LEAST:
        raise UserError(f"It has {len(said[0])} characters; less than {_LEAST} cannot be hidden in what comes back.")
    return {"secret" if kind == "password" else "text": said[0]}


def _checked(number: str) -> bool:
    """Whether the last digit is that of Luhn's sum (ISO/IEC 7812-1)."""
    doubled = [int(sign) * (2 if at % 2 else 1) for at, sign in enumerate(reversed(number))]
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0


def _list(vault: Vault, program: str) -> "click.Command":
    import click

    @click.command("list")
    @click.option("--json", "as_json", is_flag=True, help="As JSON.")
    def show(as_json: bool) -> None:
        """What is kept, under which handles, and where each may go. No value is shown."""
        items = list(vault.read().values())
        if as_json:
            rows = [
                {
                    "name": i.name,
                    "kind": i.kind,
                    "bindings": [{"kind": b.kind, "target": b.target, "unattended": b.unattended} for b in i.bindings],
                }
                for i in items
            ]
            click.echo(json.dumps(rows))
            return
        click.echo("\n".join(map(row, items)) or f"The vault is empty. To keep something: {program} vault add NAME")

    return show


def _show(vault: Vault) -> "click.Command":
    import click

    @click.command("show")
    @click.argument("name")
    def show(name: str) -> None:
        """Show the values of a thing, at a terminal only. Of one-time codes the code that holds now is shown."""
        item = vault.get(name)
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise UserError("Values are shown at a terminal only, so that they get into no file and no pipe.")
        lines = [f"{part}: {value}" for part, value in item.fields.items() if value and item.kind != "totp"]
        click.echo("\n".join(lines or [f"code: {item.value()}"]))

    return show


def _bind(vault: Vault) -> "click.Command":
    import click

    @click.command("bind")
    @click.argument("name")
    @click.option(
        "--origin", default="", metavar="https://HOST[:PORT]", help="Requests there, and fields of its pages."
    )
    @click.option("--header", default="", metavar="HOST[:PORT]", help="Headers of requests there, by https.")
    @click.option("--command", "program", default="", metavar="PROGRAM", help="Environment and input of this program.")
    @click.option("--unattended", is_flag=True, help="No question is put. A conversation with outside text asks ever.")
    @click.option("--anyway", is_flag=True, help="Also a program that runs, prints or sends what it is told.")
    def bind(name: str, origin: str, header: str, program: str, unattended: bool, anyway: bool) -> None:
        """Say where a thing may go; each of them adds to what was said before.

        \b
          hermes vault bind github --command gh
          hermes vault bind github --header api.github.com
          hermes vault bind shop --origin https://shop.example

        A program gets the value itself: bind one that uses it for one thing. A shell, an interpreter or curl does
        whatever its arguments say.
        """
        made: list[Binding] = []
        if origin:
            made.append(Binding(kind="origin", target=origin_of(origin), unattended=unattended))
        if header:
            target = origin_of(header if "://" in header else f"https://{header}")
            made.append(Binding(kind="header", target=target, unattended=unattended))
        if program:
            made.append(_program(program, anyway=anyway, unattended=unattended))
        if not made:
            raise UserError("Say where it may go.", hint="--command PROGRAM, --header HOST or --origin https://HOST")
        vault.get(name)

        def edit(things: dict[str, Item]) -> None:
            item = things[name]
            new = {(one.kind, one.target) for one in made}
            kept = [one for one in item.bindings if (one.kind, one.target) not in new]
            things[name] = evolve(item, bindings=(*kept, *made))

        vault.change(edit)
        click.echo(row(vault.get(name)))

    return bind


def _program(word: str, *, anyway: bool, unattended: bool) -> Binding:
    """The program that a word means now. Raises UserError for none, and for one that keeps nothing to itself."""
    found = shutil.which(word)
    if not found:
        raise UserError(f"There is no program {word!r}.")
    path = Path(found).absolute()
    listed = Path(__file__).with_name("programs.txt").read_text("utf-8").splitlines()
    open_ones = {name for line in listed if not line.startswith("#") for name in line.split()}
    names = {one.name.rstrip("0123456789.-") or one.name for one in (path, path.resolve())}
    names |= {path.name, path.resolve().name}
    if (told := sorted(names & open_ones)) and not anyway:
        raise UserError(
            f"{told[0]} runs, prints or sends whatever it is told, so the value would be anybody's.",
            hint="Bind the program that needs it, or --header for a request; --anyway does it all the same.",
        )
    return Binding(kind="command", target=path.name, path=str(path), unattended=unattended)


def _unbind(vault: Vault) -> "click.Command":
    import click

    @click.command("unbind")
    @click.argument("name")
    def unbind(name: str) -> None:
        """Take back everything a thing was bound to; it is kept, and nothing can use it."""
        vault.get(name)
        vault.change(lambda things: things.update({name: evolve(things[name], bindings=())}))
        click.echo(row(vault.get(name)))

    return unbind


def _remove(vault: Vault) -> "click.Command":
    import click

    @click.command("remove")
    @click.argument("name")
    def remove(name: str) -> None:
        """Forget a thing for good."""
        vault.get(name)

        def edit(things: dict[str, Item]) -> None:
            things.pop(name, None)

        vault.change(edit)
        click.echo(f"Forgot {name}.")

    return remove
