"""``hermes gateway install`` and ``uninstall``: the gateway as a service of systemd."""

import os
import pwd
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from hermes_core.agent.policy.itself import run_by_tool
from hermes_core.cli.scope import Scope
from hermes_core.config.files import explain, write_atomic
from hermes_core.config.paths import DEFAULT
from hermes_core.errors import UserError
from hermes_core.values import frozen

__all__ = ["Service", "install", "uninstall", "unit"]

_GRACE = 20  # seconds that systemd waits beyond the drain before it kills
_SYSTEM_UNITS = Path("/etc/systemd/system")


@frozen(kw_only=True)
class Service:
    """What the unit says. ``run_as`` makes it one of the machine; without it is one of the person who installs it."""

    name: str
    brand: str
    program: Sequence[str]
    environment: Mapping[str, str]
    profile: str = DEFAULT
    run_as: str = ""
    drain: float = 10.0


def unit(service: Service) -> str:
    """The unit file.

    Ready is said by the gateway itself (``Type=notify``), and it is started again when it gives no sign of life. 75
    asks for a new start; 2, 3 and 78 say that only a person can mend it. Only the gateway is told to stop: it drains,
    and takes its tools' processes with it. Secrets stay in the home, so there is no EnvironmentFile.
    """
    program, *rest = service.program
    if re.search(r"""["'\\]""", program):
        raise UserError(f"systemd starts no program at a place with quotes or backslashes in its name: {program}")
    words = " ".join((_value(program), *map(_word, (*rest, "-p", service.profile, "gateway", "run"))))
    environment = [f"Environment={_value(f'{name}={value}')}" for name, value in service.environment.items()]
    # A person's own service keeps what their shell has: tools may use sudo there. One of the machine gains nothing.
    hardening = (
        "# Tools that need sudo: `systemctl edit` this unit, with NoNewPrivileges=no and CapabilityBoundingSet=~",
        "NoNewPrivileges=yes",
        "CapabilityBoundingSet=",
        "LockPersonality=yes",
        "RestrictRealtime=yes",
    )
    online = ("Wants=network-online.target", "After=network-online.target")
    lines = (
        "[Unit]",
        f"Description={_plain(service.brand.capitalize())} gateway (profile {_plain(service.profile)})",
        *(online if service.run_as else ()),
        "# An outage may take longer than any number of tries.",
        "StartLimitIntervalSec=0",
        "",
        "[Service]",
        "Type=notify",
        "NotifyAccess=main",
        f"ExecStart={words}",
        *([f"User={service.run_as}"] if service.run_as else []),
        *environment,
        "WorkingDirectory=~",
        "Restart=on-failure",
        "RestartSec=5",
        "RestartForceExitStatus=75",
        "RestartPreventExitStatus=2 3 78",
        "WatchdogSec=60",
        "TimeoutStartSec=120",
        f"TimeoutStopSec={round(service.drain) + _GRACE}",
        "KillMode=mixed",
        "# A tool that the kernel kills for its memory takes nobody with it.",
        "OOMPolicy=continue",
        "TasksMax=4096",
        *(hardening if service.run_as else ()),
        "",
        "[Install]",
        f"WantedBy={'multi-user.target' if service.run_as else 'default.target'}",
        "",
    )
    return "\n".join(lines)


@click.command()
@click.option("--system", is_flag=True, help="A service of the machine, which root installs.")
@click.option("--run-as", metavar="USER", default="", help="With --system: whose account it runs in (never root's).")
@click.option("--print", "shown", is_flag=True, help="Only print the unit.")
@click.option("--start/--no-start", default=True, show_default=True, help="Start it now, and with the machine.")
@click.pass_obj
def install(scope: Scope, system: bool, run_as: str, shown: bool, start: bool) -> None:
    """Keep the gateway running: as a service of yours, or with --system of the machine."""
    service = _service(scope, _account(run_as) if system or run_as else "")
    text = unit(service)
    if shown:
        click.echo(text, nl=False)
        return
    _allow(scope, system=bool(service.run_as))
    file = _file(service.name, system=bool(service.run_as))
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(file, text.encode(), mode=0o644)
    except OSError as error:
        raise explain(error, "write the unit", file) from error
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


@click.command()
@click.option("--system", is_flag=True, help="The service of the machine.")
@click.pass_obj
def uninstall(scope: Scope, system: bool) -> None:
    """Stop the service and remove its unit. Settings, keys and conversations stay."""
    _allow(scope, system=system)
    file = _file(_name(scope), system=system)
    if not file.exists():
        raise UserError(f"There is no such service: {file} is not there.")
    manager = [] if system else ["--user"]
    _systemctl(*manager, "disable", "--now", file.name)
    try:
        file.unlink()
    except OSError as error:
        raise explain(error, "remove the unit", file) from error
    _systemctl(*manager, "daemon-reload")
    click.echo(f"Removed {file}", err=True)


def _name(scope: Scope) -> str:
    profile = scope.home.profile
    return f"{scope.name}-gateway" + ("" if profile == DEFAULT else f"-{profile}")


def _file(name: str, *, system: bool) -> Path:
    own = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "systemd" / "user"
    return (_SYSTEM_UNITS if system else own) / f"{name}.service"


def _service(scope: Scope, run_as: str) -> Service:
    home, known, name = scope.home.base, True, f"{scope.name.upper().replace('-', '_')}_HOME"
    if run_as and name not in os.environ and run_as != _me():
        home, known = Path(f"~{run_as}").expanduser() / f".{scope.name}", False
    path = [one for one in os.environ.get("PATH", os.defpath).split(os.pathsep) if one.startswith("/")]
    return Service(
        name=_name(scope),
        brand=scope.name,
        program=_program(scope.name),
        environment={name: str(home), "PATH": os.pathsep.join(dict.fromkeys(path))},
        profile=scope.home.profile,
        run_as=run_as,
        **({"drain": scope.settings.config.gateway.drain_seconds} if known else {}),
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


def _allow(scope: Scope, *, system: bool) -> None:
    """Raises UserError when this may not, or cannot, change what the machine runs."""
    if run_by_tool(scope.name):
        raise UserError("Only a person installs or removes a service, and a tool started this.")
    if shutil.which("systemctl") is None:
        raise UserError(
            "There is no systemd on this machine.",
            hint=f"Let what there is run `{scope.name} gateway run`: it stays in the foreground and ends on SIGTERM.",
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


def _value(text: str) -> str:
    """A value as systemd reads it back: quoted, with nothing of it taken for a specifier or an escape."""
    if re.search(r"[\x00-\x1f\x7f]", text):
        raise UserError(f"{text!r} holds a control character, and cannot stand in a unit.")
    if re.fullmatch(r"[A-Za-z0-9@./:=+,_-]+", text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%") + '"'


def _word(text: str) -> str:
    """The same for a word of a command line, where $ would name a variable."""
    return _value(text).replace("$", "$$")


def _plain(text: str) -> str:
    return text.replace("%", "%%")
