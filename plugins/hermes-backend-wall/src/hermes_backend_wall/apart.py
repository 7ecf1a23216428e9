"""A command that no other command of its workspace may see: it has a value that is for this one program."""

from hermes_core.types import ExecRequest
from hermes_core.values import frozen

__all__ = ["Apart"]


@frozen(kw_only=True)
class Apart(ExecRequest):
    """A request that runs in a sandbox of its own, with the same files and hosts, where a place can make one.

    Commands of one workspace see each other's processes, and so their variables and what they read.
    """
