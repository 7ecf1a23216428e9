"""What a container keeps, in words."""

from hermes_backend_kit.walls import FILTER, LOOSE, NETWORK
from hermes_core.types import Wall

__all__ = ["wall_of"]


def wall_of(*, network: bool, mount: bool) -> Wall:
    """The wall of a container with this machine's network, or with a folder of this machine mounted."""
    return Wall(name="container", missing=(*((NETWORK,) if network else ()), *((LOOSE,) if mount else ()), FILTER))
