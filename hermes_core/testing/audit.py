"""What plugins really reach for while Hermes runs, beside what they disclosed.

A witness, not a wall. What happens is laid at the door of the plugin whose code is on the stack; what its threads do by
themselves is nobody's.
"""

import logging
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Any

from hermes_core.plugins.index import Index, Installed
from hermes_core.testing.witness import Witness, watchers

__all__ = ["Audit"]

log = logging.getLogger(__name__)


class Audit:
    """Watches from when it is made until ``close``."""

    def __init__(self, index: Index) -> None:
        self._plugins = {plugin.module: plugin for plugin in index.plugins if plugin.manifest}
        self._witnesses: dict[str, Witness] = {}
        watchers().append(self)

    def see(self, event: str, arguments: Sequence[Any], /) -> None:
        """Take note of one audit event."""
        if plugin := self._behind(sys._getframe(2)):
            if plugin.label not in self._witnesses:
                self._witnesses[plugin.label] = _witness(plugin)
            self._witnesses[plugin.label].see(event, arguments)

    def close(self) -> list[tuple[str, str]]:
        """Stop watching. Pairs of a plugin's label and what it did not disclose; they are logged too."""
        watchers().remove(self)
        found = [(label, text) for label, witness in sorted(self._witnesses.items()) for text in witness.findings]
        for label, text in found:
            log.warning("%s: %s", label, text, extra={"fields": {"plugin": label, "finding": text}})
        return found

    def _behind(self, frame: FrameType | None) -> Installed | None:
        """The plugin whose code runs: the first on the stack that is neither a library's nor the kernel's."""
        while frame is not None:
            name = str(frame.f_globals.get("__name__", ""))
            if plugin := self._plugins.get(name) or self._plugins.get(name.partition(".")[0]):
                return plugin
            if name.startswith("hermes_core.") and name != "hermes_core.kinds":
                return None
            frame = frame.f_back
        return None


def _witness(plugin: Installed) -> Witness:
    manifest = plugin.manifest
    assert manifest
    return Witness(hosts=manifest.network, programs=manifest.processes, paths=manifest.files)
