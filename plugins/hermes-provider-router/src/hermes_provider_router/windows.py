"""What services said of their models' windows, kept between runs."""

import contextlib
import json
from pathlib import Path

__all__ = ["Windows"]


class Windows:
    """How many tokens fit into models; a negative number was guessed. Losing the file costs nothing but asking."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._known: dict[str, int] | None = None

    def get(self, label: str) -> int:
        """The window of a route by its label, else what was guessed of it; 0 when neither is known."""
        return abs(self._read().get(label, 0))

    def learn(self, label: str, tokens: int) -> None:
        """Keep the window of a route. What cannot be written is known until the end of the program."""
        if tokens > 0:
            self._keep(label, tokens)

    def guess(self, label: str, tokens: int) -> None:
        """Keep what most likely fits, where a service refused more and named no number; what it names counts more."""
        if 0 < tokens < (self.get(label) or tokens + 1):
            self._keep(label, -tokens)

    def _keep(self, label: str, tokens: int) -> None:
        if self._read().get(label) == tokens:
            return
        from hermes_atomic.whole import replace

        self._known = {**self._read(), label: tokens}
        with contextlib.suppress(OSError):
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            replace(self._file, json.dumps(self._known).encode(), sync=False)

    def _read(self) -> dict[str, int]:
        if self._known is None:
            self._known = {}
            with contextlib.suppress(OSError, ValueError):
                kept = json.loads(self._file.read_bytes())
                if isinstance(kept, dict):
                    self._known = {k: v for k, v in kept.items() if type(v) is int}
        return self._known
