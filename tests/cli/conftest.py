"""The command line in a home of its own: in this process, or as a person starts it."""

import io
import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest
from attrs import frozen

from hermes_core import modes
from hermes_core.cli.main import _status

OFFLINE = "model: {provider: offline}\n"


@frozen
class Done:
    """What a command came to."""

    status: int
    out: str
    err: str

    @property
    def rows(self) -> list:
        """The JSON objects on stdout, one a line."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def row(self):
        """The only JSON object on stdout."""
        (row,) = self.rows
        return row


class Person(io.StringIO):
    """A terminal at which somebody types."""

    def isatty(self) -> bool:
        return True


class Line:
    """``cli("sessions", "list")`` runs a command and says what came out."""

    def __init__(self, root: Path, standby: Path, monkeypatch, capsys) -> None:
        self.home, self.work = root / "home", root / "work"
        self._standby, self._patch, self._capsys = standby, monkeypatch, capsys
        self.home.mkdir()
        self.work.mkdir()
        self.configure(OFFLINE)

    def configure(self, text: str) -> None:
        (self.home / "config.yaml").write_text(text, encoding="utf-8")

    def plugin(self, label: str, code: str, **tables: dict) -> Path:
        """Put a single-file plugin into the home; it is not enabled."""
        kind, name = label.split("/")
        lines = ["api = 1", f'name = "{name}"', f'kind = "{kind}"', 'summary = "For a test."']
        for table, values in tables.items():
            lines += [f"[{table}]", *(f"{key} = {json.dumps(value)}" for key, value in values.items())]
        path = self.home / "plugins" / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text("# /// hermes\n" + "".join(f"# {line}\n" for line in lines) + f"# ///\n{code}", "utf-8")
        return path

    def __call__(self, *words: str, stdin: str = "", typed: str | None = None, distribution=None) -> Done:
        """``stdin`` is piped in; ``typed`` is typed by a person at a terminal."""
        self._patch.setattr(sys, "stdin", io.StringIO(stdin) if typed is None else Person(typed))
        self._capsys.readouterr()
        status = _status(distribution, list(words))
        said = self._capsys.readouterr()
        return Done(status, said.out, said.err)

    def process(self, *words: str, fresh: bool = False, **options) -> Done:
        """The same as a process of its own; a ``fresh`` one starts Python, too."""
        command = [*([sys.executable, "-m", "hermes_core"] if fresh else [str(self._standby / "hermes")]), *words]
        options = {"stdin": subprocess.DEVNULL} | options if "input" not in options else options
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, **options)
        return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def cli(tmp_path, standby, monkeypatch, capsys):
    for name in os.environ:
        if name.startswith("HERMES_") or name.endswith(("_API_KEY", "_TOKEN", "_BASE_URL")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HERMES_TRUST", "1")  # the folder of these tests is known
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("hermes_core.plugins.fence.BLOCKING", 60)  # a machine that halts us is no row of the log
    monkeypatch.setitem(modes.DEADLINES, "contribute", 60)
    line = Line(tmp_path, standby, monkeypatch, capsys)
    monkeypatch.chdir(line.work)
    loggers = [logging.getLogger(name) for name in ("hermes_core", "hermes")]
    before = [(log.level, log.propagate, list(log.handlers)) for log in loggers]
    yield line
    for log, (level, propagate, handlers) in zip(loggers, before, strict=True):
        log.setLevel(level)
        log.propagate, log.handlers[:] = propagate, handlers
