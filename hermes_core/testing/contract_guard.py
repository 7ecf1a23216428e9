"""What every guard of commands promises: its word of a call is sound, and what is never run is not run."""

import os
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pytest

from hermes_core.testing.contract_base import PluginContract
from hermes_core.testing.fakes import FakeWorkspace
from hermes_core.testing.registered import implementations
from hermes_core.testing.witness import Witness
from hermes_core.types import JSON, Feature, Protected, Session, ToolCall, Verdict
from hermes_shapes.sound import unsound

if TYPE_CHECKING:
    from hermes_core.context import PluginContext

__all__ = ["GuardContract"]

NEVER = (
    "rm -rf /", "rm -rf ~", "rm -rf /*", 'rm -rf "$HOME"', "cd / && rm -rf *", "sudo rm -rf /", "sh -c 'rm -rf /'",
    "true; rm -rf ~", "echo $(rm -rf ~)", "mkfs.ext4 /dev/sda1", "dd if=/dev/zero of=/dev/sda",
    "cat {closed}", "echo x > {closed}", "cat ./link", "rm -rf {folder}", "python3 -c \"open('{closed}', 'w')\"",
    "acme settings change", "acme --quiet settings change", "sh -c 'acme settings change'",
)  # fmt: skip
HARMLESS = ("ls -l", "git status", "cat notes.txt", "acme settings show", "echo rm", "cat {readable}/notes.txt", "")
ODD = (
    "\0",
    "\ud800",
    "'",
    '"',
    "$(",
    "`",
    "a" * 200_000,
    "((" * 2_000,
    "\n" * 5_000,
    "<<X\n",
    "\\",
    "İ" * 40,
    "$" * 999,
)
Ask = Callable[..., object]


class GuardContract(PluginContract):
    """Inherit for a guard; name your ``module``. What is never run and what is left alone are tried as a command.

    ``never`` and ``harmless`` are more commands of these two sorts. In all of them ``{closed}`` is a file that no
    command may touch, ``{folder}`` where it lies, ``{readable}`` a folder in there that may be read. ``./link`` leads
    to the file, the program is ``acme``, and ``acme settings change`` is for a person. ``parts`` are commands, each
    with texts of which some rule has to see every one. A guard that knows no such command gives no word.
    """

    never: ClassVar[Sequence[str]] = ()
    harmless: ClassVar[Sequence[str]] = ()
    parts: ClassVar[Mapping[str, Sequence[str]]] = {}

    @pytest.fixture
    def workspace(self, tmp_path: Path) -> FakeWorkspace:
        """Where the commands would run: a real folder, with a link to the closed file in it."""
        kept = tmp_path / "acme"
        (kept / "open").mkdir(parents=True)
        (kept / "config.yaml").write_text("policy: {mode: ask}\n")
        folder = tmp_path / "work"
        folder.mkdir()
        (folder / "link").symlink_to(kept / "config.yaml")
        return FakeWorkspace(folder=folder)

    @pytest.fixture
    def protected(self, workspace: FakeWorkspace) -> Protected:
        """What the guard is told of the program."""
        kept = Path(workspace.cwd).with_name("acme")

        def reserved(words: Sequence[str]) -> bool:
            return [word for word in words if not word.startswith("-")][:2] == ["settings", "change"]

        return Protected(
            closed=(kept / "config.yaml", kept / "open"), readable=(f"{kept}/open",), program="acme", reserved=reserved
        )

    @pytest.fixture
    def ask(self, context: "PluginContext", workspace: FakeWorkspace, protected: Protected) -> Ask:
        """What asks the guard about a call with these arguments."""
        hook = dict(implementations(self.module)).get("judge_command")
        assert hook is not None, f"{self.module} has no judge_command; it is no guard"
        given = {"ctx": context, "session": Session(id="s", origin="test"), "workspace": workspace}

        def asked(**arguments: JSON) -> object:
            call = ToolCall(id="1", name="terminal", arguments=arguments)
            known = {**given, "call": call, "protected": protected}
            return hook(**{name: known[name] for name in signature(hook).parameters})

        return asked

    def spelled(self, commands: Sequence[str], workspace: FakeWorkspace) -> list[str]:
        """Commands with the names of this test's files in them."""
        kept = Path(workspace.cwd).with_name("acme")
        names = {"closed": kept / "config.yaml", "folder": kept, "readable": kept / "open"}
        return [_filled(command, names) for command in commands]

    async def test_the_worst_is_never_run(self, ask: Ask, workspace: FakeWorkspace) -> None:
        """What wipes a machine, touches a closed file or does what only a person may do is denied, whatever the mode.

        Of what it does not know a guard says nothing; but all of ``never`` it knows.

        If this fails: give ``Verdict(outcome="deny", hard=True, reason=…)``; the reason continues "because". Look at
        every text of the call: at links, and behind ``sudo``, ``sh -c`` and ``$(…)``.
        """
        commands, known = self.spelled(NEVER, workspace), self.spelled(self.never, workspace)
        words = {one: await _word(ask(command=one)) for one in (*commands, *known)}
        words |= {f"{one}, by another name": await _word(ask(other=one)) for one in commands[:2]}
        passed = [one for one, word in words.items() if not _hard(word) and (one in known or _read(word))]
        assert not passed, f"these are not blocked: {passed}"

    async def test_everyday_commands_are_left_to_the_policy(self, ask: Ask, workspace: FakeWorkspace) -> None:
        """What is harmless is not blocked in every mode; whether it is asked about is another matter.

        If this fails: a hard deny is for the worst only, as not even a person can lift it.
        """
        commands = self.spelled((*HARMLESS, *self.harmless), workspace)
        blocked = [one for one in commands if _hard(await _word(ask(command=one)))]
        assert not blocked, f"these are blocked in every mode: {blocked}"

    async def test_what_is_isolated_needs_no_hard_block(self, ask: Ask, workspace: FakeWorkspace) -> None:
        """In an isolated workspace nothing is blocked in every mode: what is lost there is the place.

        If this fails: look at ``Feature.ISOLATED in workspace.features`` before anything is blocked.
        """
        workspace.features |= {Feature.ISOLATED}
        blocked = [one for one in self.spelled(NEVER, workspace) if _hard(await _word(ask(command=one)))]
        assert not blocked, f"these are blocked where nothing can be lost: {blocked}"

    async def test_rules_see_each_part(self, ask: Ask) -> None:
        """A rule sees each command of a line, however it is spelled, and no rule with a star allows a redirection.

        If this fails: give a CommandPart for each command that runs, also for those within others; where you cannot
        tell, give no verdict at all, and a person decides.
        """
        told = {"git push origin": ["git push origin"], "ls; sudo /bin/rm  x": ["rm x"], "echo $(rm x)": ["rm x"]}
        missed = []
        for command, texts in {**told, **self.parts}.items():
            word = await _word(ask(command=command))
            seen = None if word is None or word.commands is None else {part.text for part in word.commands}
            missed += [] if seen is None else [(command, text) for text in texts if text not in seen]
        assert not missed, f"no rule sees these: {missed}"
        for command in ("ls > x", "ls < x", "ls `rm x`", "ls $(rm x)", "ls -l\nrm x"):
            word = await _word(ask(command=command))
            parts = word.commands or () if word else ()
            assert all(p.literal or not p.text.startswith("ls") for p in parts), f"a rule for ls * allows {command!r}"

    async def test_a_grant_reaches_no_further_than_it_says(self, ask: Ask, workspace: FakeWorkspace) -> None:
        """A part for grants says where it runs; one of a family names the places that it means; code never lasts.

        If this fails: give ``words`` only for what the line says plainly, with a whole path as ``folder``, and
        ``lasting`` only where the same line does the same tomorrow.
        """
        for command in ("git push origin main", "git add src", "make", "cd src && git add x"):
            word = await _word(ask(command=command))
            for part in word.commands or () if word else ():
                where = [part.folder, *part.places] if part.words else []
                assert all(os.path.isabs(path) for path in where), f"{command!r} has a part without a folder: {part}"  # noqa: PTH117
                assert not part.family or (part.words and part.covers), f"{command!r} has an odd family: {part}"
        for command in ("sh -c 'git push'", "git push $REMOTE", "./deploy.sh", "sudo git push"):
            word = await _word(ask(command=command))
            assert word is None or not word.lasting, f"a yes to {command!r} may last, and what it does may change"
            assert not any(p.words for p in word.commands or ()) if word else True, f"{command!r} is granted in parts"

    async def test_whatever_it_is_asked_its_word_is_sound(self, ask: Ask) -> None:
        """Odd, long and broken commands get a sound word or none, as do calls without a command; nothing is raised.

        If this fails: the kernel takes a guard that raises or talks nonsense for none, and asks a person each time.
        """
        calls: list[dict[str, JSON]] = [{"command": odd} for odd in ODD]
        calls += [
            {},
            {"n": 5},
            {"command": 5},
            {"command": ["ls", "-l"]},
            {"path": "x"},
            {"command": "ls", "workdir": 7},
        ]
        for arguments in calls:
            word = await _word(ask(**arguments))
            assert word is None or not unsound(word), f"{unsound(word)}, of {str(arguments)[:80]}"

    async def test_asking_it_changes_nothing(self, ask: Ask, workspace: FakeWorkspace) -> None:
        """Asked twice it says the same; it connects to nothing, starts nothing and writes nothing.

        If this fails: a guard reads a command, and never runs any of it to find out.
        """
        with Witness(strict=True) as witness:
            for command in self.spelled((*NEVER, *HARMLESS), workspace):
                assert await _word(ask(command=command)) == await _word(ask(command=command)), command
        done = [f"connects to {h}" for h in witness.hosts] + [f"starts {p}" for p in witness.programs]
        done += [f"changes {f}" for f in witness.written]
        assert not done, f"{self.module} {', '.join(done)}"


def _filled(command: str, names: Mapping[str, Path]) -> str:
    for name, path in names.items():
        command = command.replace(f"{{{name}}}", str(path))
    return command


async def _word(asked: object) -> Verdict | None:
    word = await asked  # type: ignore[misc]
    assert word is None or isinstance(word, Verdict), f"judge_command gave a {type(word).__name__}, not a Verdict"
    return word


def _read(word: Verdict | None) -> bool:
    return word is not None and word.commands is not None


def _hard(word: Verdict | None) -> bool:
    return word is not None and word.hard and word.outcome == "deny"
