"""Structured logs: one JSON object a line in ``logs/hermes.log``, put aside by size, without secrets."""

import json
import logging
import os
import threading
import time

from hermes_core import trace
from hermes_core.errors import HermesError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.config.paths import Home
    from hermes_core.config.settings import Settings

__all__ = ["start_logging"]


def start_logging(home: "Home", settings: "Settings") -> None:
    """Send the kernel's and plugins' records to the log file. It is made by the first record."""
    logging.raiseExceptions = False  # a log on a full disk must not print tracebacks at a person
    handler = _LogFile(home, settings)
    for name in ("hermes_core", "hermes"):
        logger = logging.getLogger(name)
        logger.setLevel(settings.config.logging.level)
        logger.propagate, logger.handlers[:] = False, [handler]


class _LogFile(logging.Handler):
    """A record as JSON: time, level, logger, event, trace, what ``extra={"fields": {…}}`` gives, and a traceback."""

    def __init__(self, home: "Home", settings: "Settings") -> None:
        super().__init__()
        self._home, self._config = home, settings.config.logging
        self._masks, self._pii = settings.masks, settings.config.privacy.redact_pii
        self._path, self._alone = home.logs / "hermes.log", threading.Lock()

    def handle(self, record: logging.LogRecord) -> bool:
        try:
            line = f"{self.format(record)}\n".encode("utf-8", "backslashreplace")  # loads maskers, which may log
            with self._alone:
                self._append(line)
        except (OSError, HermesError):
            pass  # a log that cannot be written must not stop the work
        return True

    def _append(self, line: bytes) -> None:
        if self._size() > self._config.max_size_mb << 20:
            self._put_aside()
        with open(self._path, "ab", buffering=0) as file:  # noqa: PTH123 - pathlib costs more than the rest
            file.write(line)

    def _size(self) -> int:
        """Return the bytes of the file; where there is none, make its folder."""
        try:
            return os.stat(self._path).st_size  # noqa: PTH116 - as above
        except FileNotFoundError:
            self._home.logs.mkdir(mode=0o700, exist_ok=True)
            return 0

    def format(self, record: logging.LogRecord) -> str:
        ours = {  # known to hold nothing, where nobody could judge it too
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(record.created)) + f".{int(record.msecs):03d}",
            "level": record.levelname,
            "logger": record.name,
        }
        entry = {
            "event": record.getMessage(),
            **({"trace": known} if (known := trace.current()) else {}),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            entry["traceback"] = logging.Formatter().formatException(record.exc_info)
        whole = {**ours, **self._clean(entry)}
        return json.dumps(whole, ensure_ascii=False, default=lambda other: self._masks.text(str(other)))

    def _clean(self, entry: dict[str, object]) -> dict[str, object]:
        """Return the entry without secrets, and without people where that is wished."""
        cleaned: dict[str, object] = self._masks.data(entry)
        if not self._pii:
            return cleaned
        return {key: self._masks.people(value) if isinstance(value, str) else value for key, value in cleaned.items()}

    def _put_aside(self) -> None:
        """Rename a full file to ``hermes.log.1``, and that one to ``.2``; the oldest goes."""
        if kept := self._config.backup_count:
            names = [self._path, *(self._path.with_name(f"hermes.log.{n}") for n in range(1, kept + 1))]
            for older, newer in zip(names[:0:-1], names[-2::-1], strict=True):
                if newer.exists():
                    newer.replace(older)
