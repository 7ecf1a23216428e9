"""A small world of tools over a real folder, and the loop that drives a provider through it."""

import fnmatch
import json
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from hermes_core.types import CallDelta, Delta, Done, Message, Request, Text, TextDelta, ToolCall, ToolResult, ToolSpec
from hermes_provider_offline.provider import Offline


def spec(name: str, required: Sequence[str] = (), **properties: Any) -> ToolSpec:
    described = {key: {"type": kind} if isinstance(kind, str) else kind for key, kind in properties.items()}
    return ToolSpec(
        name=name,
        description=f"The tool {name}.",
        schema={"type": "object", "properties": described, "required": list(required)},
    )


TEXT, COUNT = "string", "integer"
ACTION = {"type": "string", "enum": ["add", "replace", "remove"]}
TARGET = {"type": "string", "enum": ["memory", "user"]}
SCOPE = {"type": "string", "enum": ["content", "files"]}
SPECS = (
    spec("terminal", ["command"], command=TEXT, timeout=COUNT, workdir=TEXT),
    spec("read_file", ["path"], path=TEXT, offset=COUNT, limit=COUNT),
    spec("write_file", ["path", "content"], path=TEXT, content=TEXT),
    spec("edit_file", ["path", "old", "new"], path=TEXT, old=TEXT, new=TEXT, replace_all="boolean"),
    spec("search_files", ["pattern"], pattern=TEXT, path=TEXT, glob=TEXT, target=SCOPE, limit=COUNT),
    spec("list_files", path=TEXT, depth=COUNT),
    spec("recall", query=TEXT, limit=COUNT, session=TEXT),
    spec("memory", action=ACTION, text=TEXT, old=TEXT, target=TARGET),
)
PAGE = 500


class Refusal(Exception):
    """A tool that fails, with its text for the model."""


class World:
    """Tools over a folder. ``calls`` holds what was called; ``refuse`` names tools that the policy refuses."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.calls: list[tuple[str, Mapping[str, Any]]] = []
        self.refuse: set[str] = set()
        self.past: dict[str, str] = {}
        self.specs: Sequence[ToolSpec] = SPECS
        self.history: list[Message] = []

    def run(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, bool]:
        self.calls.append((name, arguments))
        if name in self.refuse:
            return f"{name} was not run: it needs a person's yes.\nRun it in `hermes`.", True
        try:
            return getattr(self, f"_{name}")(**arguments), False
        except Refusal as refusal:
            return str(refusal), True

    def _terminal(self, command: str) -> str:
        done = subprocess.run(["sh", "-c", command], cwd=self.root, capture_output=True, text=True, check=False)
        ending = f"exit {done.returncode}" if done.returncode else ""
        return "\n".join(filter(None, ((done.stdout + done.stderr).rstrip("\n"), ending))) or "(no output)"

    def _read_file(self, path: str, offset: int = 1) -> str:
        if not (self.root / path).is_file():
            raise Refusal(f"There is no file {path}.")
        lines = (self.root / path).read_text().splitlines()
        shown = [f"{n}|{line}" for n, line in enumerate(lines, 1)][offset - 1 : offset - 1 + PAGE]
        last = offset - 1 + len(shown)
        if last < len(lines):
            shown.append(f"[lines {offset}-{last} of {len(lines):,}; go on with offset={last + 1}]")
        return "\n".join(shown) or f"{path} is empty."

    def _write_file(self, path: str, content: str) -> str:
        (self.root / path).write_text(content)
        return f"Wrote {path}: {len(content)} bytes."

    def _edit_file(self, path: str, old: str, new: str) -> str:
        text = (self.root / path).read_text()
        if text.count(old) != 1:
            raise Refusal(f"Not edited: old is in {path} {text.count(old)} times.")
        (self.root / path).write_text(text.replace(old, new))
        return f"Edited {path}"

    def _list_files(self, path: str = ".") -> str:
        folder = self.root / path
        if not folder.is_dir():
            raise Refusal(f"{path} does not exist.")
        return "\n".join(sorted(p.name + "/" * p.is_dir() for p in folder.iterdir())) or "The folder is empty."

    def _search_files(self, pattern: str, path: str = ".", target: str = "content", limit: int = 50) -> str:
        root = self.root / path
        files = sorted(p for p in ([root] if root.is_file() else root.rglob("*")) if p.is_file())
        name = {p: str(p.relative_to(root)) if p != root else p.name for p in files}
        if target == "files":
            return "\n".join(name[p] for p in files if fnmatch.fnmatch(p.name, pattern)) or "No such file."
        told = []
        for file in files:
            rows = enumerate(file.read_text().splitlines(), 1)
            found = [f"  {number}|{line}" for number, line in rows if re.search(pattern, line)]
            told += [name[file], *found] if found else []
        return "\n".join(told[:limit]) or "No match."

    def _recall(self, query: str = "") -> str:
        said = [text for word, text in self.past.items() if not query or word in query.split()]
        return "\n".join(said) or f"Nothing was found for {query!r} in past conversations."

    def _memory(self, action: str, text: str = "", old: str = "", target: str = "memory") -> str:
        if action == "remove" and old == "unknown":
            raise Refusal("No entry holds it.")
        return "Done. USER.md: 1 entry, 2%, 20 of 1,375 characters."

    async def ask(self, text: str, provider: Offline | None = None) -> str:
        """One turn: drive the provider until it answers."""
        provider = provider or Offline()
        self.calls.clear()
        self.history.append(Message(role="user", parts=(Text(text=text),)))
        for _ in range(60):
            deltas = await reply(provider, self.history, self.specs)
            calls = [d for d in deltas if isinstance(d, CallDelta)]
            if not calls:
                answer = "".join(d.text for d in deltas if isinstance(d, TextDelta))
                self.history.append(Message(role="assistant", parts=(Text(text=answer),)))
                return answer
            self._step(calls)
        raise AssertionError(f"no end: {self.calls}")

    def _step(self, deltas: Sequence[CallDelta]) -> None:
        calls = [ToolCall(id=d.id, name=d.name, arguments=json.loads(d.arguments)) for d in deltas]
        self.history.append(Message(role="assistant", parts=tuple(calls)))
        for call in calls:
            output, failed = self.run(call.name, call.arguments)
            result = ToolResult(call_id=call.id, name=call.name, parts=(Text(text=output),), failed=failed)
            self.history.append(Message(role="tool", parts=(result,)))


async def reply(provider: Offline, history: Sequence[Message], specs: Sequence[ToolSpec]) -> list[Delta]:
    """One reply; it ends with its only Done."""
    request = Request(model="rules-1", messages=tuple(history), tools=tuple(specs))
    deltas = [delta async for delta in provider.stream(request)]
    assert [i for i, d in enumerate(deltas) if isinstance(d, Done)] == [len(deltas) - 1]
    return deltas


@pytest.fixture
def world(tmp_path: Path) -> World:
    files = {
        "README.md": "# Hermes\n\nAn agent.\n\n## Install\n\n```\n# not a heading\n```\n\n## Use\n",
        "a.md": "# A\n",
        "src/one.py": "# TODO first\nprint(1)\n# TODO second\n",
        "src/two.py": "# TODO third\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return World(tmp_path)


@pytest.fixture
def make_spec() -> Callable[..., ToolSpec]:
    return spec
