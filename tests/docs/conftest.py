"""Playing the transcripts of the documentation: every ``console`` block of a page, in order, in a home of its own.

``$ `` starts a command. What follows is its output, where ``…`` stands for anything, and a line of ``…`` for any lines.
How long something took or how long ago it was stands for any such time: nobody can promise it.
What a person types after a question (``[y/N]: y``) is typed. A comment ``% $ command`` prepares something unseen.
"""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS / "_ext"))
STATE = 'declare -px >"$STATE/env"; pwd >"$STATE/cwd"'

LOCAL = ("OLLAMA_BASE_URL", "LM_BASE_URL", "LLAMACPP_BASE_URL", "VLLM_BASE_URL", "SGLANG_BASE_URL")
# Plugins of pytest that whoever reads a page need not have; they take longer to import than the tests to run.
OTHERS = ("schemathesis", "hypothesispytest", "syrupy", "textual-snapshot", "xdist", "xdist.looponfail", "anyio")


class Stage:
    """A shell whose folder and variables last from one command to the next."""

    def __init__(self, folder: Path, variables: dict[str, str]) -> None:
        home, self._state = folder / "home", folder / "state"
        work = home / "work"
        for made in (work, self._state):
            made.mkdir(parents=True)
        known = {"HOME": str(home), "DOCS": str(DOCS), "HERMES_TRUST": "1"}  # a reader works in a folder of their own
        self._bash("cd && cd work", {**_clean(), **known, **variables}, cwd=work)

    def run(self, command: str, answers: str = "") -> str:
        """The output of a command, both streams as they came."""
        return self._bash(f'. "$STATE/env" 2>/dev/null; cd "$(cat "$STATE/cwd")"; {command}', _clean(), answers=answers)

    def _bash(self, script: str, env: dict[str, str], *, answers: str = "", cwd: Path | None = None) -> str:
        person, terminal = pty.openpty()
        os.write(person, answers.encode())
        done = subprocess.run(
            ["bash", "-c", f"{script}\n{STATE}"],
            stdin=terminal if answers else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**env, "STATE": str(self._state)},
            cwd=cwd,
            check=False,
            text=True,
            timeout=120,
        )
        os.close(person)
        os.close(terminal)
        return done.stdout


def _clean() -> dict[str, str]:
    """The environment of a person who has just installed Hermes, and runs no model on this machine."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    nowhere = dict.fromkeys(LOCAL, "http://127.0.0.1:9/v1")
    return {
        "PATH": path,
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "COLUMNS": "100",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_ADDOPTS": " ".join(f"-p no:{name}" for name in OTHERS),
        **nowhere,
    }


@pytest.fixture
def newcomer(tmp_path):
    """The environment of such a person, with a home of its own."""
    return {**_clean(), "HOME": str(tmp_path), "HERMES_HOME": str(tmp_path / "state")}


def blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of a language on a page."""
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"))


def steps(page: Path) -> list[tuple[str, str | None]]:
    """Commands with the output they promise; None where a comment prepares something."""
    found: list[tuple[str, str | None]] = []
    text = page.read_text(encoding="utf-8")
    for part in re.finditer(r"(?ms)^% \$ (?P<hidden>[^\n]*)$|^```console\n(?P<block>.*?)^```$", text):
        if part["hidden"]:
            found.append((part["hidden"], None))
            continue
        for one in re.split(r"(?m)^\$ ", part["block"])[1:]:
            command, _, output = one.partition("\n")
            found.append((command, output))
    return found


TIMES = {
    r"just now|\d+ (?:min|h|d) ago": r"(?:just now|\d+ (?:min|h|d) ago)",
    r"\d+\.\d+ ?m?s\b": r"\d+(?:\.\d+)? ?m?s\b",
}
COLUMN = {r"(?<=  )\d+\.\d+ *(?= |$)": r"\d+\.\d+ *"}  # of seconds; a longer figure leaves less room behind it


def pattern(output: str) -> str:
    """What a promised output matches."""
    text = re.sub(r"(?m)(\[[yY]/[nN]\]: )\w+\n", r"\1", output).strip("\n")
    varies = {"…": ".*?", **TIMES, **(COLUMN if re.search(r"(?m)^.* seconds +\w", text) else {})}
    return "".join(r"(?:.*\n)*?" if line.strip() == "…" else _line(line, varies) for line in text.split("\n"))


def _line(text: str, varies: dict[str, str]) -> str:
    parts = re.split("|".join(f"({shown})" for shown in varies), text.rstrip())
    width, likes = len(varies) + 1, list(varies.values())
    made = ""
    for at, part in enumerate(parts):
        if at % width == 0:
            made += re.escape(part)
        elif part is not None:
            made += likes[at % width - 1]
    return made + r"[ ]*\n"


@pytest.fixture
def play(tmp_path, standby):
    """Play a page; the differences, one text for each command that said something else."""

    def play_page(page: Path, **variables: str) -> list[str]:
        path = f"{standby}{os.pathsep}{_clean()['PATH']}"
        stage, wrong = Stage(tmp_path, {**variables, "PATH": path}), []
        for command, promised in steps(page):
            answers = "".join(f"{a}\n" for a in re.findall(r"\[[yY]/[nN]\]: (\w+)", promised or ""))
            said = re.sub(r"\x1b\[[0-9;]*m", "", stage.run(command, answers)).strip("\n") + "\n"
            if promised is not None and not re.fullmatch(pattern(promised), said):
                wrong.append(f"$ {command}\n--- promised\n{promised}--- said\n{said}")
        return wrong

    return play_page


@pytest.fixture(scope="session")
def model_server():
    """The address of a server on this machine that speaks the OpenAI protocol: the one of the benchmarks."""
    script = DOCS.parent / "benchmarks" / "model_server.py"
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as server:
        yield f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
        server.terminate()
