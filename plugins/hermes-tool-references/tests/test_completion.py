"""What follows an ``@`` while somebody types."""

import asyncio
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.control import SessionsBroker
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import FakePlatform, plugin_context
from hermes_core.testing.contract_base import manifest_path
from hermes_core.types import Choice, HistoryEntry, Hit, Message, Principal, Session
from hermes_tool_references import completion
from hermes_tool_references.completion import References
from hermes_tool_references.config import Config
from hermes_tool_references.ranking import Entries, ranked


class FakeHistory(SessionsBroker):
    def __init__(self, *sessions: Session) -> None:
        self.sessions = sessions

    async def search(self, owner: Principal, words: str, **_: Any) -> Sequence[Hit]:
        return ()

    async def recent(self, owner: Principal, *, limit: int = 20) -> Sequence[Session]:
        return self.sessions[:limit]

    async def read(self, owner: Principal, session_id: str, **_: Any) -> Sequence[tuple[int, Message]]:
        return ()

    async def tool_history(self, owner: Principal, session_id: str, **_: Any) -> Sequence[HistoryEntry]:
        return ()


class Rig:
    def __init__(self, home: Path, folder: Path, *sessions: Session, **config: Any) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.session = Session(id="now", origin="cli", cwd=str(folder))
        manifest = read_manifest(manifest_path("hermes_tool_references"))
        history = FakeHistory(self.session, *sessions)
        self.completer = References(plugin_context(manifest, home, config=Config(**config), sessions=history))

    def lay(self, *names: str) -> "Rig":
        for name in names:
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("")
        return self

    def git(self, *words: str) -> None:
        who = ["-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *who, *words], cwd=self.folder, check=True)

    async def choices(self, word: str, session: Session | None = None) -> list[Choice]:
        return list(await self.completer.complete(session or self.session, word))

    async def __call__(self, word: str) -> list[str]:
        return [choice.text for choice in await self.choices(word)]


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path / "home", tmp_path / "work")


async def test_an_at_offers_the_kinds_then_what_lies_here(rig: Rig) -> None:
    rig.lay("b.py", "src/x.py")
    kinds = ["@file:", "@folder:", "@diff", "@staged", "@git:", "@url:", "@session:"]
    assert await rig("@") == [*kinds, "@src/", "@b.py"]
    assert {c.text for c in await rig.choices("@") if c.final} == {"@diff", "@staged", "@b.py"}


async def test_a_few_letters_are_enough(rig: Rig) -> None:
    rig.lay("src/exchange.py", "src/reply.py", "tests/test_exchange.py", "docs/fix.md", "ex/a.txt")
    assert await rig("@exch") == ["@src/exchange.py", "@tests/test_exchange.py"]
    assert (await rig("@file:sexc"))[0] == "@file:src/exchange.py"
    assert await rig("@fi") == ["@file:", "@docs/fix.md"]
    assert await rig("@folder:s") == ["@folder:src/", "@folder:docs/", "@folder:tests/"]
    assert await rig("@src/") == ["@src/exchange.py", "@src/reply.py"]


async def test_blanks_need_quotes_and_what_cannot_be_typed_is_left_out(rig: Rig) -> None:
    rig.lay("my notes.txt", "a b/c.txt", 'qu"ote', "new\nline")
    assert await rig("@my") == ['@file:"my notes.txt"']
    assert await rig('@file:"my no') == ['@file:"my notes.txt"']
    assert await rig("@folder:a") == ['@folder:"a b/']
    assert await rig("@qu") == await rig("@new") == []


async def test_ignored_files_are_not_offered(rig: Rig) -> None:
    rig.lay("keep.py", "drop.log", "new.py")
    (rig.folder / ".gitignore").write_text("*.log\n")
    rig.git("init", "-q")
    assert await rig("@drop") == []
    assert await rig("@keep") == ["@keep.py"]


async def test_a_folder_is_looked_at_once_for_a_while(rig: Rig, monkeypatch: Any) -> None:
    looked = []
    look = completion.names_below
    monkeypatch.setattr(completion, "names_below", lambda cwd: looked.append(cwd) or look(cwd))
    rig.lay("a.py")
    await asyncio.gather(*(rig("@a") for _ in range(5)))
    assert len(looked) == 1
    monkeypatch.setattr(completion, "_FRESH", 0.0)
    rig.lay("ab.py")
    assert await rig("@a") == ["@a.py", "@ab.py"]


async def test_only_so_many_folders_are_remembered(tmp_path: Path) -> None:
    rig = Rig(tmp_path / "home", tmp_path / "work")
    for number in range(12):
        rig.session = Session(id="now", origin="cli", cwd=str(tmp_path / f"work{number}"))
        Path(rig.session.cwd).mkdir()
        await rig("@x")
    assert len(rig.completer._entries) <= 8


async def test_sessions_by_title_or_id(tmp_path: Path) -> None:
    history = (
        Session(id="s1", origin="cli", title="The trip"),
        Session(id="s2", origin="tui"),
        Session(id="s3", origin="cli", title="Twice"),
        Session(id="s4", origin="cli", title="Twice"),
        Session(id="c1", origin="child", title="The errand"),
    )
    rig = Rig(tmp_path / "home", tmp_path / "work", *history)
    assert await rig("@session:") == ['@session:"The trip"', "@session:s3", "@session:s4", "@session:s2"]
    assert await rig('@session:"the tr') == ['@session:"The trip"']
    assert await rig("@session:s2") == ["@session:s2"]


async def test_numbers_of_commits_with_their_subjects(rig: Rig) -> None:
    assert await rig("@git:") == []
    rig.git("init", "-q")
    for n in range(11):
        rig.git("commit", "-q", "--allow-empty", "-m", f"Change {n}")
    assert [(c.text, c.summary) for c in await rig.choices("@git:1")] == [
        ("@git:1", "to Change 10"),
        ("@git:10", "to Change 1"),
    ]


async def test_others_and_other_places_are_told_nothing(tmp_path: Path) -> None:
    rig = Rig(tmp_path / "home", tmp_path / "work").lay("a.py")
    assert (
        await rig.choices("@a", Session(id="x", origin="cli", cwd=rig.session.cwd, owner=Principal(person="anna")))
        == []
    )
    assert await rig.choices("@a", Session(id="x", origin="cli", cwd="/nowhere/at/all")) == []
    assert await rig("@url:https://x") == await rig("@nothing:x") == []
    off = Rig(tmp_path / "home", tmp_path / "work", enabled=False)
    assert await off("@a") == []


names = st.lists(st.text(alphabet="abAB/._- ", min_size=1, max_size=12), max_size=30)


@given(names, st.text(alphabet="abAB/._-*[(\\ ", max_size=6))
def test_what_is_offered_is_there_and_holds_the_letters_in_their_order(names: list[str], value: str) -> None:
    names = [name.strip("/") or "x" for name in names]
    entries = Entries(names)
    found = ranked(entries, value)
    assert len(found) == len(set(found)) <= 50
    assert set(found) <= {*entries.files, *entries.folders}
    wanted = value.removeprefix("./").casefold()
    for path in found:
        letters = iter(path.casefold())
        assert all(letter in letters for letter in wanted)


def test_a_hundred_thousand_files_are_ranked_without_comparing_them_all() -> None:
    entries = Entries([f"package{n // 100}/module{n}.py" for n in range(100_000)])
    assert ranked(entries, "module99999")[0] == "package999/module99999.py"
    assert ranked(entries, "p9m99999") == ["package999/module99999.py"]
    assert len(ranked(entries, "")) == 50


async def test_the_line_of_a_composer_goes_on(hermes: Any, scripted: Any) -> None:
    hermes.tmp_plugin(scripted())
    hermes.tmp_plugin("hermes_tool_references")
    folder = hermes.workspace.folder
    hermes.configure({"terminal.cwd": str(folder)})
    (folder / "my notes.txt").write_text("")
    (folder / "reply.py").write_text("")

    platform = FakePlatform()
    await platform.service.leave()
    await hermes.serve(platform)  # its console can still be asked
    found = await platform.console.complete("c", "look at @rep")
    assert [(c.text, c.replaces) for c in found] == [("@reply.py", 4)]
    found = await platform.console.complete("c", 'look at @file:"my no')
    assert [(c.text, c.replaces) for c in found] == [('@file:"my notes.txt"', 12)]
