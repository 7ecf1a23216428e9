"""One kernel at work: its parts, the sessions that it has taken up, the turns that it runs."""

import os
import socket
from typing import Any

from hermes_core.agent.running_turns import RunningTurns
from hermes_core.agent.runtime import Runtime
from hermes_core.agent.session_state import OpenSessions
from hermes_core.config.settings import Settings
from hermes_core.plugins.consent import Consent
from hermes_core.plugins.index import Index

__all__ = ["Kernel"]


class Kernel(Runtime):
    """What every way in talks to."""

    def __init__(self, settings: Settings, index: Index, consent: Consent, **options: Any) -> None:
        """``options`` are those of Runtime."""
        super().__init__(settings, index, consent, **options)
        self.sessions = OpenSessions(self, f"{socket.gethostname()}:{os.getpid()}:{os.urandom(4).hex()}")
        self.routes.count = self.sessions.count
        self.turns = RunningTurns(self, self.sessions)

    async def close(self) -> None:
        """End sessions, let go of workspaces, providers and the store."""
        await self.turns.close()
        await self.sessions.close()
        await super().close()
