"""What doctor may ask: whether every tool in force is the one that was approved, and which are set aside."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from hermes_backend_wall.plan import INSTALL
from hermes_core.errors import HermesError
from hermes_core.types import Check, Finding
from hermes_tool_workshop.store import Damaged, stores
from hermes_tool_workshop.walls import held


def checks(data: Path) -> Sequence[Check]:
    """One check."""

    async def run() -> Sequence[Finding]:
        return await asyncio.to_thread(_findings, data)

    return [Check(name="tools the agent wrote", run=run)]


def _findings(data: Path) -> list[Finding]:
    found, count = [], 0
    for store in stores(data):
        for name in store.names():
            count += 1
            try:
                ledger = store.ledger(name)
                version = store.version(name, ledger.version)
            except (Damaged, HermesError) as error:
                found.append(Finding(level="fault", text=f"{name}: {error}", fix=f"hermes workshop remove {name}"))
                continue
            if not version.intact:
                text = f"{name}: version {version.number} on the disk is not what was approved"
                found.append(Finding(level="fault", text=text, fix=f"hermes workshop accept {name}"))
            elif ledger.state == "aside":
                found.append(Finding(level="warning", text=f"{name}: {ledger.why}", fix=f"hermes workshop show {name}"))
    if count and not held():
        text = "this machine has nothing to make a wall of: what such tools may do is watched there, not held"
        found.append(Finding(level="warning", text=text, fix=INSTALL))
    return found or [Finding(level="ok", text=f"{count} tools, each as it was approved")]
