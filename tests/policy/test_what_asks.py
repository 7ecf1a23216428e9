"""The table of what asks, cell by cell: wall, what the conversation holds, what is run, mode, and who is there.

``runs`` unasked; ``person``: asked, and never done without one; ``model``: in mode smart a second model may say yes or
no, and what it does not say clearly a person decides; ``never``: whatever the mode, and whoever says yes.
"""

import re
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from hermes_core.agent.policy.judge import Policy
from hermes_core.agent.policy.taint import Seen
from hermes_core.kinds import Tool
from hermes_core.options import option, settings
from hermes_core.plugins.dispatch import Dispatch
from hermes_core.testing import FakeWorkspace
from hermes_core.types import Effect, Feature, Limits, Outcome, Question, Session, ToolCall, Verdict, Wall
from hermes_tool_guard.gate import judge, look

TABLE = """
wall    | text    | what                | ask    | smart  | off
--------+---------+---------------------+--------+--------+-------
walled  | clean   | inside              | runs   | runs   | runs
walled  | outside | inside              | runs   | runs   | runs
walled  | clean   | inside, sends       | runs   | runs   | runs
walled  | outside | inside, sends       | person | person | person
walled  | clean   | inside, loses work  | person | model  | runs
walled  | outside | inside, loses work  | person | person | person
walled  | clean   | crossing, looks     | runs   | runs   | runs
walled  | outside | crossing, looks     | person | person | person
walled  | clean   | crossing            | person | model  | runs
walled  | outside | crossing            | person | person | person
none    | clean   | looks               | runs   | runs   | runs
none    | outside | looks               | runs   | runs   | runs
none    | clean   | writes inside       | runs   | runs   | runs
none    | outside | writes inside       | person | person | person
none    | clean   | builds              | runs   | runs   | runs
none    | outside | builds              | person | person | person
none    | clean   | reaches further     | person | model  | runs
none    | outside | reaches further     | person | person | person
none    | clean   | unknown option      | person | model  | runs
none    | outside | unknown option      | person | person | person
walled  | clean   | never               | never  | never  | never
walled  | outside | never               | never  | never  | never
walled  | clean   | crossing, never     | never  | never  | never
walled  | outside | crossing, never     | never  | never  | never
none    | clean   | never               | never  | never  | never
none    | outside | never               | never  | never  | never
"""
COMMANDS = {
    "inside": (
        "npm test", "npm ci && npm run build", "make clean", "rm -rf build dist node_modules", "git clean -fd",
        "sudo ls", "cat ~/notes", "echo x >.git/hooks/x",
    ),
    "inside, sends": ("git push https://example.org/x", "curl -d @x https://pypi.org"),
    "inside, loses work": (
        "rm .env", "git stash drop", "rm -rf .git", "rm -rf *", "rm kept.db", "truncate -s 0 kept.db",
        "git stash clear", "git branch -D x", "git reset --hard", "git clean -fdx", "git reflog expire --all",
        "git update-ref -d refs/x",
    ),
    "looks": ("ls", "git status", "grep -r x .", "cat a.txt | head -1", "git log -1"),
    "writes inside": ("echo hi > a.txt", "rm a.txt", "touch a.txt", "truncate -s 0 a.txt", "mkdir -p d", "git add ."),
    "crossing, looks": ("ls", "git log"),
    "crossing": ("npm test", "touch x", "curl https://example.org"),
    "builds": ("pytest -q", "make test"),
    "reaches further": ("sudo ls", "touch /opt/x", "git push https://example.org/x"),
    "unknown option": ("eslint --such-option x", "mypy --python-executable ./x .", "make --eval x"),
    "never": ("rm -rf ~", "cmake -E rm -rf /", "mkfs.ext4 /dev/sda1", "hermes config set policy.mode off"),
}  # fmt: skip
COMMANDS["crossing, never"] = COMMANDS["never"]
GUARDED = (Path("/home/me/.hermes/.env"),)
WALLS = {"walled": ("bubblewrap", "landlock"), "none": ("none",)}


@settings
class Command:
    """What the model gives."""

    command: str = option("")
    wall: bool = option("", default=True)


async def _run(*_: object) -> str:
    return ""


class Guards(Dispatch):
    """The guard, and no other plugin. What its model would say is put in; what that was asked is kept."""

    def __init__(self) -> None:
        super().__init__()
        self.model: Outcome = "ask"
        self.models: list[str] = []

    async def decide(self, name: str, **told: Any) -> Verdict:  # type: ignore[override]
        if name == "judge_command":
            return await look(told["call"], told["workspace"], told["protected"])
        if name == "second_opinion":
            self.models.append(told["command"])
            return Verdict(outcome=self.model, by="tool/guard")
        call, place, protected = told["call"], told["workspace"], told["protected"]
        found = await judge(call, place, "/home/me/.hermes", protected, walled=told["walled"], session=told["session"])
        return evolve(found, by="tool/guard") if found else Verdict(outcome="allow")


class Cell:
    """One cell of the table: it judges a command, and remembers who was asked."""

    def __init__(self, folder: Path, wall: str, text: str, what: str, mode: str) -> None:
        self._place = FakeWorkspace(folder=folder)
        self._place.features = frozenset({Feature.LOCAL, *(() if wall == "none" else (Feature.WALLED,))})
        self._place.wall = Wall(name=wall)
        self._guards = Guards()
        self._policy = Policy(self._guards, mode=mode, deny=(), allow=(), guarded=GUARDED)
        self._session = Session(id="s", origin="test", untrusted=text == "outside")
        self._crosses = what.startswith("crossing")
        self.persons: list[Question] = []
        self.models = self._guards.models

    async def __call__(self, command: str, *, person: str = "", model: Outcome = "ask") -> Verdict:
        """The verdict; ``person`` is what one says, empty where nobody is there, and ``model`` what the second says."""
        self.persons.clear()
        self.models.clear()

        async def ask(question: Question, offer: object) -> Verdict:
            self.persons.append(question)
            return Verdict(outcome="allow" if person == "yes" else "deny", by="person")

        async def left() -> Limits:
            return Limits()

        self._guards.model = model

        given = {"command": command, **({"wall": False} if self._crosses else {})}
        call = ToolCall(id="1", name="t", arguments=given)
        tool = Tool(name="t", description="x", params=Command, run=_run, effects=frozenset({Effect.EXECUTE}))
        permit = ask if person else None
        judged = (self._session, call, tool, Command(**given), self._place, permit, left, Seen())
        return await self._policy.judge(*judged)


def cells() -> list[Any]:
    _, _, *rows = TABLE.strip().splitlines()
    found = []
    for row in rows:
        wall, text, what, *says = (word.strip() for word in row.split("|"))
        for mode, expected in zip(("ask", "smart", "off"), says, strict=True):
            told = f"{text}, {what}: {mode}"
            found += [pytest.param(name, text, what, mode, expected, id=f"{name}, {told}") for name in WALLS[wall]]
    return found


async def verdict_of(cell: Cell, command: str, expected: str) -> None:
    """Raises AssertionError where a cell is otherwise than the table says."""
    alone, no, yes = await cell(command), await cell(command, person="no"), await cell(command, person="yes")
    asked = bool(cell.persons)
    if expected == "runs":
        assert (alone.outcome, no.outcome, asked, cell.models) == ("allow", "allow", False, [])
    elif expected == "never":
        assert (alone.outcome, no.outcome, yes.outcome, asked) == ("deny", "deny", "deny", False)
        assert "never allowed" in alone.reason
    else:
        assert (alone.outcome, no.outcome, yes.outcome, asked) == ("deny", "deny", "allow", True)
        assert "Nobody is here to ask" in alone.reason
        outside = "holds text from outside" in alone.reason
        assert ("isolated workspace" if outside else "policy.allow") in alone.reason, "it says what would allow it"
        approved = await cell(command, model="allow")
        assert (approved.outcome == "allow") is (expected == "model"), "a model says yes only where the table says so"
        assert bool(cell.models) is (expected == "model")
    if expected == "model":
        refused = await cell(command, person="yes", model="deny")
        assert (refused.outcome, bool(cell.persons)) == ("deny", False), "its no needs nobody"
        unclear = await cell(command, person="yes", model="ask")
        assert (unclear.outcome, bool(cell.persons)) == ("allow", True), "what is unclear a person decides"


@pytest.mark.parametrize(("wall", "text", "what", "mode", "expected"), cells())
async def test_the_table(tmp_path: Path, wall: str, text: str, what: str, mode: str, expected: str) -> None:
    (tmp_path / ".gitignore").write_text("*.db\n")
    for name in (".env", "kept.db", "a.txt"):
        (tmp_path / name).write_text(name)  # was there before the session
    cell = Cell(tmp_path, wall, text, what, mode)
    for command in COMMANDS[what]:
        await verdict_of(cell, command, expected)


DOCS = Path(__file__).parents[2] / "docs" / "explanation" / "permissions.md"


def of_the_docs(header: str) -> list[list[str]]:
    """The rows of the table with a header, in the page on permissions."""
    below = DOCS.read_text("utf-8").partition(header)[2].splitlines()[2:]
    rows = [line.strip("| ").split("|") for line in below[: below.index("")]]
    return [[cell.strip() for cell in row] for row in rows]


def test_the_page_has_the_table_that_is_tested() -> None:
    _, _, *rows = TABLE.strip().splitlines()
    assert of_the_docs("| wall | text | what | ask | smart | off |") == [
        [cell.strip() for cell in row.split("|")] for row in rows
    ]


def test_the_page_says_what_is_meant_with_commands_that_are_tested() -> None:
    told = {what: re.findall(r"`([^`]+)`", such) for what, such in of_the_docs("| what | such as |")}
    assert told == {what: list(commands[:2]) for what, commands in COMMANDS.items()}


README = Path(__file__).parents[2] / "README.md"
HARD = {  # what the README says that no mode lifts, and a command that does it
    "wiping `/`": "rm -rf /",
    "a system folder": "rm -rf /usr",
    "your home": "rm -rf ~",
    "a device": "dd if=/dev/zero of=/dev/sda",
    "making a file system": "mkfs.ext4 x",
    "a fork bomb": ":(){ :|:& };:",
    "ending every process": "kill -9 -1",
    "stopping the machine": "shutdown -h now",
    "settings, keys and store": "cat /home/me/.hermes/.env",
    "running what only a person may": "hermes config set policy.mode off",
}


async def test_the_sentence_on_yolo_says_what_is_so(tmp_path: Path) -> None:
    sentence = README.read_text("utf-8").replace("\n", " ")
    assert [words for words in HARD if words not in sentence] == []
    yolo = Cell(tmp_path, "none", "clean", "", "off")
    done = {words: (await yolo(command, person="yes")).outcome for words, command in HARD.items()}
    assert done == dict.fromkeys(HARD, "deny")


ASKS_ANYWAY = ("a value of the vault", "whoever is not the owner")  # test_guest_rules.py and those of the vault hold it


async def test_the_sentence_on_yolo_names_all_that_still_asks(tmp_path: Path) -> None:
    sentence = README.read_text("utf-8").replace("\n", " ")
    assert [words for words in ASKS_ANYWAY if words not in sentence.partition("`--yolo` or")[2]] == []
    rows = [row.split("|") for row in TABLE.strip().splitlines()[2:]]
    asked = {(text.strip(), off.strip()) for _, text, _, _, _, off in rows if off.strip() != "never"}
    assert asked == {("clean", "runs"), ("outside", "runs"), ("outside", "person")}, "nothing in a clean conversation"


EVERYDAY = sorted((Path(__file__).parents[2] / "plugins/hermes-tool-guard/tests/corpus").glob("everyday*.txt"))


@pytest.mark.parametrize("file", EVERYDAY, ids=lambda path: path.stem)
async def test_behind_the_wall_no_everyday_command_asks(tmp_path: Path, file: Path) -> None:
    cell = Cell(tmp_path, "bubblewrap", "clean", "", "ask")
    commands = [
        line.replace("\N{SYMBOL FOR NEWLINE}", "\n") for line in file.read_text("utf-8").split("\n") if line.strip()
    ]
    stopped = {}
    for command in commands:
        verdict = await cell(command, person="no")
        if verdict.outcome != "allow" or cell.persons:
            stopped[command] = verdict.reason
    assert len(commands) > 200
    assert stopped == {}
