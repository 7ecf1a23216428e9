"""Maskers of plugins as the kernel asks them: what goes wrong in one hides a text, and is recorded once."""

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest
from attrs import frozen

from hermes_core.cli.log import start_logging
from hermes_core.environment import is_secret
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Masker, ToolContext, tool
from hermes_core.masking import masked, might_be_secret, watched
from hermes_core.masking.watched import Watched
from hermes_core.testing import Call
from hermes_core.types import Progress, Returned
from hermes_known.known import Known
from hermes_known.stream import MaskingStream, masked_text


class Fish(Masker):
    """Finds one word."""

    name = "fish"

    def spans(self, text):
        at = text.find("swordfish")
        return [(at, at + 9, True)] if at >= 0 else []

    def is_secret(self, value, name=""):
        return name == "fish" or value.startswith("fish_")

    def people(self, text, name):
        return text.replace("bob", name("nick", "bob"))


class Raises(Fish):
    def spans(self, text):
        raise RuntimeError(f"fell over {text}")


class RaisesLater(Fish):
    def follow(self):
        asked = []

        def ask(text):
            asked.append(text)
            if len(asked) == 2:
                raise ValueError("the second piece")
            return []

        return ask


class Outside(Fish):
    def spans(self, text):
        return [(0, len(text) + 1, True)]


class Nonsense(Fish):
    def spans(self, text):
        return "no"


class Nothing(Fish):
    def spans(self, text):
        return None


class Slow(Fish):
    def spans(self, text):
        sum(range(200_000))
        return []


class Unsure(Fish):
    def follow(self):
        raise OSError("no patterns")

    def may_hold(self, text):
        raise OSError("no words")

    def is_secret(self, value, name=""):
        raise OSError("no names")

    def people(self, text, name):
        return 7


@frozen
class Words:
    text: str = ""


@tool(effects=[], touches=lambda _params: ())
async def fishy(context: ToolContext, params: Words) -> str:
    """Say it."""
    context.progress("live swordfish\n")
    return "a swordfish and quiet-harbor-9\nand more"


def told(masker: Masker | None, text: str = "one swordfish\n\ntwo\n") -> tuple[str, list[str]]:
    """What is shown of a text, and what was reported."""
    faults: list[str] = []

    def report(label: str, where: str, error: BaseException) -> None:
        faults.append(f"{label} {where} {type(error).__name__}")

    one = Watched("tool/fish", masker, report)
    shown = masked_text(text, Known(), [one])
    assert masked_text(text, Known(), [one]) == shown
    return shown, faults


def test_what_a_masker_finds_is_masked_and_the_rest_stays() -> None:
    assert told(Fish()) == ("one ***\n\ntwo\n", [])


@pytest.mark.parametrize("masker", [Raises(), Outside(), Nonsense(), Nothing(), Unsure()])
def test_a_masker_that_fails_hides_lines_as_a_whole_and_is_reported_once(masker: Masker) -> None:
    shown, faults = told(masker)
    assert shown == "***\n\n***\n"
    assert len(faults) == 1


def test_a_masker_that_is_too_slow_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched, "SLOW", 0.0)
    assert told(Slow()) == ("***\n\n***\n", ["tool/fish spans TimeoutError"])


def test_one_that_is_not_there_hides_everything() -> None:
    assert told(None) == ("***\n\n***\n", [])
    assert Watched("tool/fish", None).people("bob", str) is None


def test_what_failed_within_a_text_hides_the_rest_of_it_and_no_other_text() -> None:
    one = Watched("tool/fish", RaisesLater())
    stream = MaskingStream(Known(), [one])
    assert [stream.feed(f"{n}\n") for n in "abc"] == ["a\n", "***\n", "***\n"]
    assert masked_text("another", Known(), [one]) == "another"


def test_every_masker_is_asked_and_the_known_values_with_them() -> None:
    both = [Watched("a", Fish()), Watched("b", Outside())]
    assert masked_text("swordfish", Known(), both) == "***"
    assert masked_text("swordfish harbor-9", Known(["harbor-9"]), both[:1]) == "*** ***"
    assert masked_text("swordfish harbor-9", Known(["harbor-9"])) == "swordfish ***"
    assert masked_text("sword\x1b[1mfish har\x1b[0mbor-9", Known(["harbor-9"]), both[:1]) == "*** ***"
    assert masked_text("har\x1b[0mbor-9", Known(["harbor-9"])) == "***"


def test_a_word_that_might_be_a_secret_where_nobody_knows() -> None:
    words = ("a1b2c3d4e5f6g7h8", "/usr/bin/python3.13-x", "abcdefghijklmnopq", "a1b2c3", "two words of 16 1")
    assert [might_be_secret(word) for word in words] == [True, False, False, False, False]


def test_where_nobody_knows_of_a_field_nothing_of_it_is_shown(hermes) -> None:
    masks = hermes.runtime.settings.masks
    for masker in (None, Unsure()):
        masks.use(lambda masker=masker: [Watched("tool/fish", masker)])
        assert masks.data({"event": "a long event with many words", "n": 1}) == {"event": "***", "n": 1}
        assert masks.is_token("a1b2c3d4e5f6g7h8")
        assert not masks.is_token("/usr/bin")
        assert masks.missing == ([] if masker else ["tool/fish"])


async def test_a_turn_is_masked_by_what_is_installed(hermes, scripted, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    (home / ".env").write_text("HARBOR=quiet-harbor-9\n")
    hermes.tmp_plugin(scripted(Call("fishy"), "It was swordfish."))
    hermes.tmp_plugin(fishy)
    hermes.tmp_plugin(Fish())
    events = [event async for event in hermes.turn("go")]
    [result] = [event.result for event in events if isinstance(event, Returned)]
    assert result.parts[0].text == "a ⟦secret⟧ and ⟦secret⟧\nand more"
    assert [event.text for event in events if isinstance(event, Progress)] == ["live ***\n"]
    assert masked("swordfish quiet-harbor-9 sea") == "*** *** sea", "also where no context is at hand"
    assert is_secret("HOMEPAGE", "fish_a1b2c3d4e5f6"), "and no command gets it"


async def test_without_a_masker_known_values_are_masked_still(hermes, scripted, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir(exist_ok=True)
    (tmp_path / "home" / ".env").write_text("HARBOR=quiet-harbor-9\n")
    hermes.tmp_plugin(scripted(Call("fishy"), "done"))
    hermes.tmp_plugin(fishy)
    events = [event async for event in hermes.turn("go")]
    [result] = [event.result for event in events if isinstance(event, Returned)]
    assert result.parts[0].text == "a swordfish and ⟦secret⟧\nand more"


async def test_one_that_cannot_be_asked_hides_results_and_is_recorded(hermes, scripted) -> None:
    catch = "hsif-drows"[::-1]

    @hookimpl
    def register_maskers():
        raise RuntimeError(f"no {catch} today, token=x{catch}: {catch}")

    hermes.tmp_plugin(scripted(Call("fishy"), "done"))
    hermes.tmp_plugin(fishy)
    label = hermes.tmp_plugin(register_maskers, name="broken", manifest={"contributes": {"maskers": ["fish"]}})
    hermes._options["strict"] = False
    events = [event async for event in hermes.turn("go")]
    [result] = [event.result for event in events if isinstance(event, Returned)]
    assert result.parts[0].text == "⟦secret⟧\n⟦secret⟧"
    [fault] = [fault for fault in hermes.runtime.dispatch.faults if fault.plugin == label]
    assert fault.phase == "register"
    assert fault.error == "RuntimeError: no *** today, *** ***", "the words that stand in its code are no secrets"


async def test_one_that_raises_is_recorded_with_its_plugin_and_shows_nothing(hermes, scripted, tmp_path) -> None:
    hermes.tmp_plugin(scripted(Call("fishy"), "done"))
    hermes.tmp_plugin(fishy)
    label = hermes.tmp_plugin(Raises(), name="raises")
    hermes._options["strict"] = False
    runtime = hermes.runtime
    start_logging(runtime.home, runtime.settings)
    events = [event async for event in hermes.turn("go")]
    [result] = [event.result for event in events if isinstance(event, Returned)]
    assert result.parts[0].text == "⟦secret⟧\n⟦secret⟧"
    [fault] = [fault for fault in runtime.dispatch.faults if fault.plugin == label]
    assert fault.where == "spans"
    kept = (runtime.home.logs / "hermes.log").read_text()
    assert "swordfish" not in kept
    assert json.loads(kept.splitlines()[0])["logger"] == "hermes.plugins"


def test_people_need_somebody_who_knows_them(hermes, tmp_path: Path) -> None:
    hermes.configure({"privacy.redact_pii": True})
    runtime = hermes.runtime
    masks = runtime.settings.masks
    start_logging(runtime.home, runtime.settings)
    logging.getLogger("hermes_core.test").warning("bob was here")
    masks.use(lambda: [Watched("tool/fish", Fish())])
    logging.getLogger("hermes_core.test").warning("bob was here")
    rows = [json.loads(line) for line in (runtime.home.logs / "hermes.log").read_text().splitlines()]
    name = masks.name("nick", "bob")
    assert [row["event"] for row in rows] == ["***", f"{name} was here"]
    assert name != masks.name("nick", "ann") != masks.name("nick", "bob")
    assert masks.name("nick", "bob") == name
    assert masks.data({"fish": "abcdef", "n": 1}) == {"fish": "***", "n": 1}
    for _ in range(2):  # what is remembered of a text under one name holds for no other
        assert masks.data({"word": "abcdef", "fish": "abcdef"}) == {"word": "abcdef", "fish": "***"}


def test_maskers_that_cannot_be_found_hide_everything(hermes) -> None:
    def source():
        assert masked("on the way") == "***"
        raise RuntimeError("no index")

    masks = hermes.runtime.settings.masks
    masks.use(source)
    assert masks.always("anything") == "***"
    assert masks.people("anything") == "***"


@pytest.mark.long
def test_a_command_says_why_it_hides_what_it_says(tmp_path: Path) -> None:
    plugins = tmp_path / "plugins"
    plugins.mkdir()
    head = 'api = 1\nname = "fish"\nkind = "tool"\nsummary = "Finds fish."\n\n[contributes]\nmaskers = ["fish"]'
    block = "".join(f"# {line}".rstrip() + "\n" for line in head.splitlines())
    (plugins / "fish.py").write_text(f"# /// hermes\n{block}# ///\nraise RuntimeError('caught ' + 'hsifdrows'[::-1])\n")

    def run(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
        env = {k: v for k, v in os.environ.items() if not k.startswith("HERMES")} | {"HERMES_HOME": str(tmp_path)}
        command = [sys.executable, "-m", "hermes_core", *words]
        return subprocess.run(command, input=given, env=env, capture_output=True, text=True, check=False)

    assert run("plugins", "enable", "fish", "--yes").returncode == 3
    done = run("config", "get", "no.such")
    assert (
        done.stderr == "***\ntool/fish finds secrets and could not be loaded, so this is hidden. See: hermes doctor\n"
    )
    assert run("redact", given="anything\n").stdout == "***\n"
    doctor = run("doctor")
    assert doctor.stdout.count("tool/fish") == 2, "the fault, and its mend"
    assert "import: RuntimeError: caught ***" in doctor.stdout
    assert "swordfish" not in doctor.stdout + (tmp_path / "logs" / "hermes.log").read_text()
    assert run("plugins", "disable", "fish").returncode == 0
    assert "no.such" in run("config", "get", "no.such").stderr
