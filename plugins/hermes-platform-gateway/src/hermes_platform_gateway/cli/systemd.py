"""``hermes gateway install`` and ``uninstall``: the gateway as a service of systemd."""

import os
import pwd
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

import click

from hermes_atomic import whole
from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_platform_gateway.cli.unit import DEFAULT, Service, unit

__all__ = ["make_install", "make_uninstall", "profile_of"]

_SYSTEM_UNITS = Path("/etc/systemd/system")


def make_install(ctx: PluginContext) -> click.Command:
    """``gateway install``."""

    @click.command()
    @click.option("--system", is_flag=True, help="A service of the machine, which root installs.")
    @click.option(
        "--run-as", metavar="USER", default="", help="With --system: whose account it runs in (never root's)."
    )
    @click.option("--print", "shown", is_flag=True, help="Only print the unit.")
    @click.option("--start/--no-start", default=True, show_default=True, help="Start it now, and with the machine.")
    def install(system: bool, run_as: str, shown: bool, start: bool) -> None:
        """Keep the gateway running: as a service of yours, or with --system of the machine."""
        service = _service(ctx, _account(run_as) if system or run_as else "")
        text = unit(service)
        if shown:
            click.echo(text, nl=False)
            return
        _require_systemd(ctx, system=bool(service.run_as))
        file = _file(service.name, system=bool(service.run_as))
        try:
            _replace(file, text)
        except OSError as error:
            raise _refused("write", file, error) from error
        click.echo(f"Wrote {file}", err=True)
        manager = [] if service.run_as else ["--user"]
        _systemctl(*manager, "daemon-reload")
        if start:
            _systemctl(*manager, "enable", file.name)
            _systemctl(*manager, "restart", file.name)
        of = " ".join(["", *manager, ""])
        click.echo(f"See it: systemctl{of}status {service.name}; journalctl{of}-u {service.name}", err=True)
        if not service.run_as and not Path(f"/var/lib/systemd/linger/{_me()}").exists():
            click.echo(f"It ends when you log out. To keep it: sudo loginctl enable-linger {_me()}", err=True)

    return install


def make_uninstall(ctx: PluginContext) -> click.Command:
    """``gateway uninstall``."""

    @click.command()
    @click.option("--system", is_flag=True, help="The service of the machine.")
    def uninstall(system: bool) -> None:
        """Stop the service and remove its unit. Settings, keys and conversations stay."""
        _require_systemd(ctx, system=system)
        file = _file(_name(ctx), system=system)
        if not file.exists():
            raise UserError(f"There is no such service: {file} is not there.")
        manager = [] if system else ["--user"]
        _systemctl(*manager, "disable", "--now", file.name)
        try:
            file.unlink()
        except OSError as error:
            raise _refused("remove", file, error) from error
        _systemctl(*manager, "daemon-reload")
        click.echo(f"Removed {file}", err=True)

    return uninstall


def profile_of(home: Path) -> str:
    """The name of the profile whose home it is."""
    return home.name if home.parent.name == "profiles" else DEFAULT


def _name(ctx: PluginContext) -> str:
    profile = profile_of(ctx.paths.home)
    return f"{ctx.program}-gateway" + ("" if profile == DEFAULT else f"-{profile}")


def _file(name: str, *, system: bool) -> Path:
    own = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "systemd" / "user"
    return (_SYSTEM_UNITS if system else own) / f"{name}.service"


def _replace(file: Path, text: str) -> None:
    """Write the file whole or not at all, for everybody to read; a link to it stays one. Raises OSError."""
    file.parent.mkdir(parents=True, exist_ok=True)
    whole.replace(file, text.encode(), mode=0o644, follow=True)


def _refused(doing: str, file: Path, error: OSError) -> UserError:
    why, hint = error.strerror or error, f"Check the disk, and owner and rights: ls -ld {file.parent}"
    return UserError(f"Cannot {doing} the unit {file}: {why}.", hint=hint)


def _service(ctx: PluginContext, run_as: str) -> Service:
    profile, name = profile_of(ctx.paths.home), f"{ctx.program.upper().replace('-', '_')}_HOME"
    home = ctx.paths.home if profile == DEFAULT else ctx.paths.home.parents[1]
    if run_as and name not in os.environ and run_as != _me():
        home = Path(f"~{run_as}").expanduser() / f".{ctx.program}"
    path = [one for one in os.environ.get("PATH", os.defpath).split(os.pathsep) if one.startswith("/")]
    return Service(
        name=_name(ctx),
        brand=ctx.program,
        program=_program(ctx.program),
        environment={name: str(home), "PATH": os.pathsep.join(dict.fromkeys(path))},
        profile=profile,
        run_as=run_as,
    )


def _program(brand: str) -> Sequence[str]:
    """The command of this program: the script that was installed with it, or the module."""
    script = Path(sysconfig.get_path("scripts"), brand)
    return (str(script),) if script.exists() else (sys.executable, "-P", "-m", "hermes_core")


def _account(run_as: str) -> str:
    """Whose account a service of the machine runs in. Raises UserError."""
    name = run_as or os.environ.get("SUDO_USER", "")
    try:
        known = pwd.getpwnam(name) if name else None
    except KeyError:
        raise UserError(f"There is no account {name!r} on this machine.") from None
    if known is None or known.pw_uid == 0:
        raise UserError(
            "Whoever writes to the gateway runs commands with its account, so it is not root's.",
            hint="Say whose: --run-as USER",
        )
    return name


def _require_systemd(ctx: PluginContext, *, system: bool) -> None:
    """Raises UserError where there is none, or this account may not change what the machine runs."""
    if shutil.which("systemctl") is None:
        raise UserError(
            "There is no systemd on this machine.",
            hint=f"Let what there is run `{ctx.program} gateway run`: it stays in the foreground and ends on SIGTERM.",
        )
    if system and os.geteuid():
        raise UserError("A service of the machine is root's to change.", hint="Say it again with sudo.")


def _systemctl(*words: str) -> None:
    done = subprocess.run(("systemctl", *words), capture_output=True, text=True, check=False)
    if done.returncode:
        said = " ".join(done.stderr.split()) or f"it ended with {done.returncode}"
        raise UserError(f"`systemctl {' '.join(words)}` failed: {said}", hint="The unit's file is as it was written.")


def _me() -> str:
    return pwd.getpwuid(os.geteuid()).pw_name
