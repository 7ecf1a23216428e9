"""What a container keeps, in words."""

from hermes_backend_kit.walls import FILTER, LOOSE, NETWORK, NO_SKILLS
from hermes_core.types import Wall

__all__ = ["wall_of"]


def wall_of(*, network: bool, mount: bool) -> Wall:
    """The wall of a container with this machine's network, or with a folder of this machine mounted."""
    open_ = (*((NETWORK,) if network else ()), *((LOOSE,) if mount else ()))
    return Wall(name="container", missing=(*open_, FILTER, NO_SKILLS))
