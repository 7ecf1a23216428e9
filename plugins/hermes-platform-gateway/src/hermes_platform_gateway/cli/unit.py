"""The unit that keeps the gateway running: what systemd is told of it."""

import re
from collections.abc import Mapping, Sequence

from hermes_core.errors import UserError
from hermes_core.values import frozen

__all__ = ["DEFAULT", "Service", "unit"]

DEFAULT = "default"  # the profile of a home that nobody divided


@frozen(kw_only=True)
class Service:
    """What the unit says. ``run_as`` makes it one of the machine; without it is one of the person who installs it."""

    name: str
    brand: str
    program: Sequence[str]
    environment: Mapping[str, str]
    profile: str = DEFAULT
    run_as: str = ""


def unit(service: Service) -> str:
    """Write the unit file. Raises UserError for what cannot stand in one.

    Ready is said by the gateway itself (``Type=notify``), and it is started again when it gives no sign of life. 2 and
    3 say that only a person can mend it. Only the gateway is told to stop: it drains, says for how long, and takes its
    tools' processes with it. Secrets stay in the home, so there is no EnvironmentFile.
    """
    program, *rest = service.program
    if re.search(r"""["'\\]""", program):
        raise UserError(
            f"systemd starts no program at a place with quotes or backslashes in its name: {program}",
            hint="Install it elsewhere.",
        )
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
        "RestartPreventExitStatus=2 3",
        "WatchdogSec=60",
        "TimeoutStartSec=120",
        "# It asks for more when it stops, if its turns are given more.",
        "TimeoutStopSec=30",
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


def _value(text: str) -> str:
    """A value as systemd reads it back: quoted, with nothing of it taken for a specifier or an escape."""
    if re.search(r"[\x00-\x1f\x7f]", text):
        raise UserError(f"{text!r} holds a control character, and cannot stand in a unit.", hint="Take it out.")
    if re.fullmatch(r"[A-Za-z0-9@./:=+,_-]+", text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%") + '"'


def _word(text: str) -> str:
    """The same for a word of a command line, where $ would name a variable."""
    return _value(text).replace("$", "$$")


def _plain(text: str) -> str:
    return text.replace("%", "%%")
