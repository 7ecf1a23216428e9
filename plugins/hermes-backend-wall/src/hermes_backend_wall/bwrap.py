"""Which bwrap there is, and what its complaints mean here."""

import re
import shutil
import subprocess
from pathlib import Path

from hermes_core.errors import UserError
from hermes_core.values import frozen

OLDEST = (0, 8, 0)  # --disable-userns came with it
INSTALL = "Install it: apt install bubblewrap, dnf install bubblewrap, pacman -S bubblewrap or apk add bubblewrap."
_SYSCTL = "/proc/sys/"
_SWITCHES = (  # what a system sets where it forbids namespaces
    ("user/max_user_namespaces", "0"),
    ("kernel/unprivileged_userns_clone", "0"),
)


@frozen
class Problem:
    """Why no sandbox can be made, and how to mend it."""

    text: str
    hint: str


def installed() -> bool:
    """Whether there is a bwrap."""
    return shutil.which("bwrap") is not None


def likely() -> bool:
    """Whether this machine has bwrap and forbids it nothing that is known; making a sandbox shows whether it works."""
    return installed() and not any(setting(name) == value for name, value in _SWITCHES)


def program() -> str:
    """The path of bwrap. Raises UserError when it is missing."""
    found = shutil.which("bwrap")
    if not found:
        raise UserError("The sandbox needs the program bwrap, which is not installed.", hint=INSTALL)
    return found


def version(path: str) -> tuple[int, ...]:
    """Its version; empty when it does not say."""
    try:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False, timeout=10).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ()
    match = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", said)
    return tuple(int(part or 0) for part in match.groups()) if match else ()


def explain(path: str, said: str, more: str) -> Problem:
    """The reason why a sandbox could not be made, from what bwrap wrote and from what the system forbids.

    ``more`` is the hint where that is not known.
    """
    line = next((part.strip() for part in reversed(said.splitlines()) if part.strip()), "it gave no reason")[:300]
    known = version(path)
    if known and known < OLDEST:
        text = f"bwrap {'.'.join(map(str, known))} is too old; the sandbox needs {'.'.join(map(str, OLDEST))} or newer."
        return Problem(text, "Update bubblewrap with your system, or use the backend docker.")
    if re.search(
        r"user.?namespace|uid map|gid map|new namespace|RTM_NEWADDR|disable-userns|clone", line, re.IGNORECASE
    ):
        return _forbidden(path, line)
    return Problem(f"The sandbox could not be made: {line}", more)


def _forbidden(path: str, line: str) -> Problem:
    if setting("kernel/apparmor_restrict_unprivileged_userns") == "1":
        return Problem(
            f"AppArmor forbids user namespaces to {path}, so no sandbox can be made ({line}).",
            f"Allow them to this one program, as root: {profile(path)}",
        )
    for name, value in (("user/max_user_namespaces", "0"), ("kernel/unprivileged_userns_clone", "0")):
        if setting(name) == value:
            dotted = name.replace("/", ".")
            new = "15000" if name.startswith("user") else "1"
            return Problem(
                f"This system forbids user namespaces ({dotted} = {value}), so no sandbox can be made.",
                f"Allow them, as root: echo '{dotted} = {new}' > /etc/sysctl.d/60-userns.conf && sysctl --system",
            )
    return Problem(
        f"This system does not let bwrap make namespaces: {line}",
        "In a container, it needs --security-opt seccomp=unconfined --security-opt apparmor=unconfined, or use another "
        "backend there.",
    )


def profile(path: str) -> str:
    """The line of a shell by which root allows user namespaces to this one program."""
    rule = f"profile bwrap {path} flags=(unconfined) {{ userns, }}"
    text = f"abi <abi/4.0>,\\ninclude <tunables/global>\\n{rule}\\n"
    return f"printf '{text}' > /etc/apparmor.d/bwrap && apparmor_parser -r /etc/apparmor.d/bwrap"


def setting(name: str) -> str:
    """What the system says under ``/proc/sys``; empty where it says nothing."""
    try:
        return Path(_SYSCTL + name).read_text().strip()
    except OSError:
        return ""
