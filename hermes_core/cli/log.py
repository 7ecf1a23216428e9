"""Structured logs: one JSON object a line in ``logs/hermes.log``, put aside by size, without secrets."""

import json
import logging
import time
from collections.abc import Callable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.config.paths import Home
    from hermes_core.config.settings import Settings

__all__ = ["start_logging"]


def start_logging(home: "Home", settings: "Settings") -> None:
    """Send the kernel's and plugins' records to the log file. The file is opened by the first record."""
    logging.raiseExceptions = False  # a log on a full disk must not print tracebacks at a person
    root = logging.getLogger("hermes_core")
    root.setLevel(settings.config.logging.level)
    root.propagate = False
    root.handlers[:] = [_LateFile(home, settings)]
    plugins = logging.getLogger("hermes")
    plugins.setLevel(settings.config.logging.level)
    plugins.propagate, plugins.handlers[:] = False, root.handlers


class _LateFile(logging.Handler):
    """Opens the rotating file when there is something to write: many commands have nothing to say."""

    def __init__(self, home: "Home", settings: "Settings") -> None:
        super().__init__()
        self._home, self._settings = home, settings
        self._file: logging.Handler | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if self._file is None:
            self._file = self._open()
        self._file.handle(record)

    def _open(self) -> logging.Handler:
        from logging.handlers import RotatingFileHandler

        config = self._settings.config.logging
        try:
            self._home.logs.mkdir(mode=0o700, exist_ok=True)
            path = self._home.logs / "hermes.log"
            file = RotatingFileHandler(
                path, maxBytes=config.max_size_mb << 20, backupCount=config.backup_count, encoding="utf-8", delay=True
            )
        except OSError:
            return logging.NullHandler()  # a log that cannot be written must not stop the work
        file.setFormatter(_Json(_redactor(self._home)))
        return file

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        super().close()


def _redactor(home: "Home") -> Callable[[str], str]:
    import os

    from hermes_core.config.secrets import Secrets

    secrets = Secrets(home.env_file, os.environ)
    hidden = sorted({v for n in secrets.names() if len(v := secrets.get(n)) >= 6}, key=len, reverse=True)

    def redact(text: str) -> str:
        for value in hidden:
            text = text.replace(value, "[secret]")
        return text

    return redact


class _Json(logging.Formatter):
    """A record as JSON: time, level, logger, event, the fields given as ``extra={"fields": {…}}``, and a traceback."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        super().__init__()
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(record.created)) + f".{int(record.msecs):03d}",
            "level": record.levelname,
            "logger": record.name,
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            entry["traceback"] = self.formatException(record.exc_info)
        return self._redact(json.dumps(entry, ensure_ascii=False, default=str))
