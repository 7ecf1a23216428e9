"""Background work of a plugin."""

from abc import ABC, abstractmethod

__all__ = ["Service"]


class Service(ABC):
    """Work that is kept up as long as a host serves: a gateway, or a worker beside it.

    One that is ``alone`` runs in one process at a time, of all machines that share the store; the others stand by. One
    that is ``local`` looks after this machine: it is alone on each, and no reason to begin a host.
    """

    name: str
    alone: bool = False
    local: bool = False

    @abstractmethod
    async def run(self) -> None:
        """Work until cancelled; to return is to be done.

        After an error it is run again, after pauses that grow; after a UserError only when a person says so
        (``/platforms resume NAME``) or at the next start. When the host stops it is cancelled, and has two seconds.
        """

    def health(self) -> str:
        """Say what is wrong although it runs, in a line; empty if all is well. Asked every few seconds; never waits."""
        return ""

    async def status(self) -> str:
        """Say what it did last, in a line, from what it keeps: also asked in a process that does not run it."""
        return ""
