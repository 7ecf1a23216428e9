"""Which folders of this machine may be put into a container."""

import os
from collections.abc import Iterator
from pathlib import Path

from hermes_core.errors import UserError

__all__ = ["inside", "mountable"]

WORKSPACE = "/workspace"  # where a folder is that cannot have its own path in a container

SYSTEM = ("/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr", "/var/run")
# Below the home folder: what authenticates a person to somebody else.
_CREDENTIALS = (
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/gh",
    ".docker",
    ".gnupg",
    ".kube",
    ".local/share/keyrings",
    ".password-store",
    ".ssh",
)


def inside(place: str) -> str:
    """Where a folder's empty counterpart is in the container: under the same path, so that what the model was told of
    its working folder is right, unless the container needs that path for itself."""
    path = Path(place)
    taken = len(path.parts) < 3 or any(Path(name) in path.parents for name in SYSTEM)
    return WORKSPACE if taken else place


def mountable(key: str, home: Path, socket: str) -> str:
    """The session's folder as it can be mounted, links followed.

    Raises UserError for a folder that is not there, belongs to the system, or has credentials or the daemon's own
    socket in it or above it.
    """
    folder = Path(key).expanduser().resolve() if key else Path.cwd().resolve()
    if not folder.is_dir():
        raise UserError(f"The folder {folder} does not exist.", hint="Name another one, or make it first.")
    for place, what in _closed(home, socket):
        if place == folder or folder in place.parents:
            raise UserError(
                f"docker: {folder} is not put into a container, because {what} would be in it.",
                hint="Start Hermes in the folder of a project, or set backends.docker.mount to false.",
            )
        theirs = place == home.resolve() and place / "people" in folder.parents  # of somebody who is not the owner
        if place in folder.parents and place != Path.home().resolve() and not theirs:
            raise UserError(
                f"docker: {folder} is not put into a container, because it is inside of {place}.",
                hint="Start Hermes in the folder of a project, or set backends.docker.mount to false.",
            )
    return str(folder)


def _closed(home: Path, socket: str) -> Iterator[tuple[Path, str]]:
    person = Path.home().resolve()
    yield person, "your home folder with all its credentials"
    yield home.resolve(), "the home of Hermes with its secrets"
    if socket:
        # Inside of the socket's folder is fine: for rootless Docker that is the person's runtime folder.
        yield Path(os.path.realpath(socket)), "the daemon's socket"
    for name in SYSTEM:
        yield Path(name).resolve(), "a folder of the system"
    for name in _CREDENTIALS:
        yield person / name, f"~/{name}"
