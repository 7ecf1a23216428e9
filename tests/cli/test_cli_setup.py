"""The first minutes: what is asked, what is written, and that nothing is written before the end."""

import contextlib
import json
import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hermes_core.config.edit import Edits
from hermes_core.config.paths import Home
from hermes_core.errors import ConfigError, UserError

# A terminal of its own: hidden input is read from there and nowhere else.
TERMINAL = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
NOWHERE = ("OLLAMA_BASE_URL", "LM_BASE_URL", "LLAMACPP_BASE_URL", "VLLM_BASE_URL", "SGLANG_BASE_URL")
ISOLATING = """
from hermes_core import hookimpl
from hermes_core.kinds import Backend, Workspace
from hermes_core.types import Feature

class Cage(Backend):
    name = "aviary"
    features = frozenset({Feature.ISOLATED, Feature.LOCAL})

    async def ready(self):
        return READY

    async def open(self, key):
        return Inside()

class Inside(Workspace):
    async def run(self, request):
        raise NotImplementedError

@hookimpl
def register_backends():
    return [Cage()]
"""


@pytest.fixture
def first(cli, monkeypatch):
    """A home in which nothing is set, on a machine where no model runs."""
    (cli.home / "config.yaml").unlink()
    for name in NOWHERE:
        monkeypatch.setenv(name, "http://127.0.0.1:9/v1")
    return cli


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """All the programs that setup finds: none, until a test makes some, so that nothing of this machine is run."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))

    def make(**scripts):
        for name, script in scripts.items():
            (folder / name.replace("_", "-")).write_text(f"#!/bin/sh\n{script}\n")
            (folder / name.replace("_", "-")).chmod(0o755)

    return make


@pytest.fixture
def talk(first, programs):
    """Answers questions at a terminal: pairs of what must be asked and what is typed then."""

    def talk(*steps, command=("setup",)):
        person, terminal = pty.openpty()
        command = [sys.executable, "-c", TERMINAL, sys.executable, "-m", "hermes_core", *command]
        process = subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True)
        os.close(terminal)
        shown = seen = ""

        def until(text):
            nonlocal shown, seen
            end = time.monotonic() + 60
            while text not in seen:
                assert time.monotonic() < end, f"{text!r} was not asked:\n{shown}"
                if select.select([person], [], [], 0.1)[0]:
                    try:
                        data = os.read(person, 65536).decode(errors="replace").replace("\r\n", "\n")
                    except OSError:
                        pytest.fail(f"it ended before {text!r}:\n{shown}")
                    shown, seen = shown + data, seen + data
            seen = seen.partition(text)[2]

        try:
            for asked, typed in steps:
                until(asked)
                os.write(person, typed.encode())
            with contextlib.suppress(OSError):
                for _ in range(60):
                    if not select.select([person], [], [], 1)[0]:
                        if typed == "\x03":  # it may come just before Python listens to it; a person presses again
                            os.write(person, b"\x03")
                    elif data := os.read(person, 65536):
                        shown += data.decode(errors="replace").replace("\r\n", "\n")
                    else:
                        break
            return process.wait(30), shown
        finally:
            process.kill()
            process.wait()
            os.close(person)

    return talk


def config(cli):
    path = cli.home / "config.yaml"
    return path.read_text() if path.exists() else ""


def test_a_first_conversation_writes_what_was_said(talk, first):
    status, shown = talk(
        ("Who answers", "openrouterr\n"),
        ("Did you mean 'openrouter'?", ""),
        ("Who answers", "openrouter\n"),
        ("Log in with a browser", "n\n"),
        ("Key of openrouter", "sk-or-very-secret\n"),
        ("Model (Enter", "some/model\n"),
        ("Where do commands run", "local\n"),
        ("Folder to work in", f"{first.work}\n"),
        ("What opens [auto]", "\n"),
        ("Try it now", "n\n"),
        ("Write this?", "y\n"),
    )
    assert status == 0, shown
    assert "sk-or-very-secret" not in shown
    assert (first.home / ".env").read_text() == "OPENROUTER_API_KEY=sk-or-very-secret\n"
    assert (first.home / ".env").stat().st_mode & 0o077 == 0
    assert config(first) == (
        "model:\n  provider: openrouter\n  default: some/model\n"  # the provider knows the name of its own key
        f"terminal:\n  backend: local\n  cwd: {first.work}\n"
    )
    assert "Start a conversation with: hermes" in shown
    assert first("model", "show", "--json").row == {"provider": "openrouter", "model": "some/model"}


STEPS = (
    ("Who answers", "openrouter\n"),
    ("Log in with a browser", "n\n"),
    ("Key of openrouter", "sk-or-secret\n"),
    ("Model (Enter", "\n"),
    ("Where do commands run", "local\n"),
    ("Folder to work in", "\n"),
    ("What opens", "\n"),
    ("Try it now", "n\n"),
    ("Write this?", "y\n"),
)


@pytest.mark.long
@pytest.mark.parametrize(("answer", "done"), [("n", False), ("", False), ("y", True)])
def test_what_makes_a_better_wall_is_shown_and_run_only_with_a_yes(talk, first, programs, answer, done):
    programs(sudo='exec "$@"', apt_get=f'echo "$@" >{first.work}/installed')
    at = next(place for place, (asked, _) in enumerate(STEPS) if asked == "Folder to work in")
    line = "apt-get install -y bubblewrap\n"
    status, shown = talk(*STEPS[:at], (line, ""), ("Run it?", f"{answer}\n"), *STEPS[at:])
    assert status == 0, shown
    installed = first.work / "installed"
    assert (installed.read_text() if installed.exists() else "") == ("install -y bubblewrap\n" if done else "")
    assert first("status", "--json").row["better"]


@pytest.mark.long
@pytest.mark.parametrize("number", range(len(STEPS)), ids=[asked for asked, _ in STEPS])
def test_to_interrupt_at_any_question_changes_nothing(talk, first, number):
    (first.home / "config.yaml").write_text("model: {provider: offline}  # mine\n")
    status, shown = talk(*STEPS[:number], (STEPS[number][0], "\x03"))
    assert status == 130, shown
    assert config(first) == "model: {provider: offline}  # mine\n"
    assert not (first.home / ".env").exists()
    assert not list(first.home.glob(".draft*"))


def test_a_no_in_the_end_changes_nothing(talk, first):
    status, _ = talk(*STEPS[:-1], ("Write this?", "n\n"))
    assert (status, config(first), (first.home / ".env").exists()) == (130, "", False)


def test_run_again_it_shows_what_is_set_and_keeps_it(talk, first):
    text = f"# mine\nmodel: {{provider: offline, default: rules-1}}\nterminal: {{backend: local, cwd: {first.work}}}\n"
    (first.home / "config.yaml").write_text(text)
    status, shown = talk(
        ("Who answers [offline]", "\n"),
        ("[rules-1]", "\n"),
        ("Where do commands run [local]", "\n"),
        (f"[{first.work}]", "\n"),
        ("What opens", "\n"),
        ("Try it now", "y\n"),
    )
    assert status == 0, shown
    assert "rules-1 from offline answers." in shown
    assert "Nothing is to be changed." in shown
    assert config(first) == text


@pytest.mark.long
def test_a_key_that_is_refused_is_told_before_anything_is_written(talk, first):
    (first.home / "config.yaml").write_text(
        "providers: {openai: {base_url: 'http://127.0.0.1:9/v1'}}\nagent: {model_tries: 1}\n"
    )
    status, shown = talk(
        ("Who answers", "openai\n"),
        ("Key of openai", "sk-wrong\n"),
        ("Model (Enter", "gpt-5\n"),
        ("Where do commands run", "local\n"),
        ("Folder to work in", "\n"),
        ("What opens", "cli\n"),
        ("Try it now", "y\n"),
        ("Keep it all the same?", "n\n"),
        ("Who answers", "\x03"),
    )
    assert status == 130, shown
    assert "It does not answer" in shown
    assert not (first.home / ".env").exists()


@pytest.mark.long
def test_a_key_that_is_refused_can_be_said_anew_or_kept(talk, first):
    (first.home / "config.yaml").write_text(
        "providers: {openai: {base_url: 'http://127.0.0.1:9/v1'}}\nagent: {model_tries: 1}\n"
    )
    for last, provider, secret in (("offline\n", "offline", False), ("openai\n", "openai", True)):
        again = (
            (("Key of openai", "sk-second\n"), ("Model (Enter", "gpt-5\n"), ("Keep it all", "y\n")) if secret else ()
        )
        status, shown = talk(
            ("Who answers", "openai\n"),
            ("Key of openai", "sk-wrong\n"),
            ("Model (Enter", "gpt-5\n"),
            ("It does not answer", ""),
            ("Keep it all the same?", "n\n"),
            ("Who answers", last),
            *(again or (("Model (Enter", "\n"), ("offline answers", ""))),
            ("Write this?", "y\n"),
            command=("model",),
        )
        assert status == 0, shown
        assert first("config", "get", "model.provider").out == f"{provider}\n"
        env = first.home / ".env"
        assert (env.read_text() if env.exists() else "") == ("OPENAI_API_KEY=sk-second\n" if secret else "")


@pytest.mark.long
def test_an_isolated_place_is_offered_first_if_it_is_ready(talk, first):
    for ready, offered in (("True", "aviary"), ("False", "")):
        first.plugin("backend/aviary", ISOLATING.replace("READY", ready), contributes={"backends": ["aviary"]})
        assert first("plugins", "enable", "aviary", "--yes").status == 0
        question = f"Where do commands run [{offered}" if offered else "Where do commands run ["
        _, shown = talk(("Who answers", "offline\n"), ("Model (Enter", "\n"), (question, "\x03"))
        assert ("commands see only this folder" in shown.partition("aviary")[2].splitlines()[0]) is bool(offered)


def test_without_a_person_only_what_is_said_is_set(first, monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-or-1")
    words = ("setup", "--non-interactive", "--json")
    row = first(*words, "--provider", "openrouter", "--key-env", "MY_KEY").row
    assert (row["provider"], row["backend"], row["next"]) == ("openrouter", "local", "hermes")
    assert config(first) == "model:\n  provider: openrouter\nproviders:\n  openrouter:\n    key_env: MY_KEY\n"
    assert not (first.home / ".env").exists()
    row = first(*words, "--backend", "local", "--workspace", str(first.work)).row
    assert row["changed"] == ['config.yaml: terminal.backend = "local"', f'config.yaml: terminal.cwd = "{first.work}"']
    assert (row["provider"], row["workspace"]) == ("openrouter", str(first.work))
    again = first(*words, "--backend", "local", "--workspace", str(first.work)).row
    assert again["changed"] == []


def test_the_environment_says_what_no_option_says(first, monkeypatch):
    for name, value in {
        "PROVIDER": "custom",
        "MODEL": "m",
        "BASE_URL": "http://127.0.0.1:9/v1",
        "INTERFACE": "cli",
    }.items():
        monkeypatch.setenv(f"HERMES_{name}", value)
    row = first("setup", "--non-interactive", "--json", "--model", "other").row
    assert (row["provider"], row["model"]) == ("custom", "other")
    assert first("config", "get", "providers.custom.base_url").out == "http://127.0.0.1:9/v1\n"
    assert first("config", "get", "display.interface").out == "cli\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--interface", "nosuch"), "no interface named"),
        (("--provider", "nosuch"), "no provider named"),
        (("--backend", "nosuch"), "no backend named"),
        (("--backend", "ssh"), "not ready"),
        (("--provider", "openai", "--key-env", "NOT_SET"), "NOT_SET is set neither"),
        (("--backend", "local", "--workspace", "/no/such/folder"), "does not exist"),
        (("--provider", "custom", "--base-url", "http://127.0.0.1:9/v1", "--model", "m", "--try"), ""),
    ],
)
def test_what_cannot_be_set_changes_nothing(first, words, said):
    done = first("setup", "--non-interactive", *words)
    assert done.status in (1, 2)
    assert said in done.err
    assert config(first) == ""


def test_with_nobody_at_the_terminal_it_says_what_to_do(first):
    done = first("setup")
    assert done.status == 2
    assert "setup --non-interactive --provider" in done.err
    assert "setup openrouter --non-interactive" in first("setup", "openrouter").err


def test_another_provider_leaves_the_old_ones_address_behind(first):
    (first.home / "config.yaml").write_text(
        "model: {provider: custom, base_url: 'http://127.0.0.1:9/v1', default: m}\n"
    )
    assert first("setup", "--non-interactive", "--provider", "offline").status == 0
    shown = json.loads(first("config", "get", "model").out)
    assert (shown["provider"], shown["base_url"], shown["default"]) == ("offline", "", "")
    assert json.loads(first("config", "get", "providers.custom").out)["base_url"] == "http://127.0.0.1:9/v1"


def test_several_settings_are_written_together_or_not_at_all(tmp_path):
    home = Home(tmp_path / "home")
    edits = Edits(home)
    edits.set("model.provider", "offline")
    edits.set("terminal.backend", "local")
    assert not home.config_file.exists()
    edits.write()
    assert home.config_file.read_text() == "model:\n  provider: offline\nterminal:\n  backend: local\n"
    before = home.config_file.read_bytes()
    wrong = Edits(home)
    wrong.set("model.provider", "other")
    with pytest.raises(ConfigError):
        wrong.set("agent.max_calls", 0)
    assert home.config_file.read_bytes() == before
    home.config_file.write_bytes(before + b"# somebody else\n")
    with pytest.raises(UserError, match="changed meanwhile"):
        wrong.write()
    assert home.config_file.read_bytes() == before + b"# somebody else\n"
    assert [path.name for path in home.root.iterdir()] == ["config.yaml"]


# --- steps of plugins -----------------------------------------------------------------------------------------------

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "station.py"
SECTION = "tools:\n  station:\n    place: Oslo\n"


@pytest.fixture
def station(first):
    """A plugin with a setup step of its own."""
    (first.home / "plugins").mkdir(exist_ok=True)
    (first.home / "plugins" / "station.py").write_text(EXAMPLE.read_text())
    return first


def test_a_plugins_step_asks_tests_and_writes(talk, station):
    assert station("plugins", "enable", "station", "--yes").status == 0
    status, shown = talk(
        ("Log in with the code on its display?", "n\n"),
        ("Where it stands", "Oslo\n"),
        ("Units (celsius, kelvin) [celsius]", "miles\n"),
        ("One of: celsius, kelvin.", ""),
        ("Units", "\n"),
        ("Key (not shown)", "abc\n"),
        ("Digits only.", ""),
        ("Key", "999111\n"),
        ("Test it now?", "\n"),
        ("It does not work: The station does not know this key.", ""),
        ("Keep it all the same?", "n\n"),
        ("Log in", "y\n"),
        ("Open: https://station.example/login", ""),
        ("Code: AB-12", ""),
        ("Paste it here", "12345\n"),
        ("Where it stands", "Oslo\n"),
        ("Units", "\n"),
        ("Test it now?", "\n"),
        ("The station in Oslo answers.", ""),
        ("Write this?", "y\n"),
        command=("setup", "station"),
    )
    assert status == 0, shown
    assert "12345" not in shown
    assert "999111" not in shown
    assert (config(station), (station.home / ".env").read_text()) == (SECTION, "STATION_KEY=12345\n")


def test_what_a_test_says_shows_no_secret_that_was_set_before(station, monkeypatch):
    key = "9081726354"
    talkative = EXAMPLE.read_text().replace("12345", key).replace("answers.", "knows {values['key']}.")
    (station.home / "plugins" / "station.py").write_text(talkative)
    monkeypatch.setenv("STATION_KEY", key)
    assert station("plugins", "enable", "station", "--yes").status == 0
    shown = station("setup", "station", "--non-interactive", "--set", "place=Oslo", "--try")
    assert shown.status == 0
    assert "The station in Oslo knows ***." in shown.err
    assert key not in shown.out + shown.err


def with_port(station):
    """The station again, with a setting that is a number."""
    text = (
        EXAMPLE.read_text()
        .replace("import hookimpl, option", "import hookimpl, option")
        .replace("from hermes_core.errors", "from hermes_core.options import le\nfrom hermes_core.errors")
    )
    text = text.replace(
        "    units: str", '    port: int = option("Its port.", default=1, validator=le(9))\n    units: str'
    )
    text = text.replace(
        '        SetupField("units"',
        '        SetupField("port", "Port", "tools.station.port"),\n        SetupField("units"',
    )
    (station.home / "plugins" / "station.py").write_text(text)
    assert station("plugins", "enable", "station", "--yes").status == 0


def test_what_cannot_be_set_is_neither_tested_nor_shown(station, monkeypatch):
    with_port(station)
    monkeypatch.setenv("STATION_KEY", "12345")
    words = ("setup", "station", "--non-interactive", "--set", "place=Oslo", "--set")
    for port, said in (("x", "port: A number is needed."), ("12", "tools.station.port")):
        done = station(*words, f"port={port}", "--try")
        assert (done.status, said in done.err, config(station)) == (2, True, ""), done.err
        assert "config.yaml: tools.station.place" not in done.err, "nothing is shown as if it were written"
        assert "answers" not in done.err
    assert station(*words, "port=5", "--try").status == 0
    assert "port: 5" in config(station)


@pytest.mark.long
def test_what_cannot_be_set_is_asked_again(talk, station):
    with_port(station)
    status, shown = talk(
        ("Log in", "n\n"),
        ("Where it stands", "Oslo\n"),
        ("Port", "many\n"),
        ("A number is needed.", ""),
        ("Port", "12\n"),
        ("Units", "\n"),
        ("Key (not shown)", "12345\n"),
        ("It does not work", ""),
        ("Log in", "n\n"),
        ("Where it stands", "Oslo\n"),
        ("Port", "3\n"),
        ("Units", "\n"),
        ("Key (not shown)", "12345\n"),
        ("Test it now?", "n\n"),
        ("Write this?", "y\n"),
        command=("setup", "station"),
    )
    assert status == 0, shown
    assert "port: 3" in config(station)


@pytest.mark.long
def test_a_step_that_is_broken_off_changes_nothing(talk, station):
    assert station("plugins", "enable", "station", "--yes").status == 0
    said = (("Log in", "n\n"), ("Where it stands", "Oslo\n"), ("Units", "\n"), ("Key", "12345\n"), ("Test it", "y\n"))
    for number in (1, 3, 5):
        last = ("Write this?" if number == 5 else said[number][0], "\x03")
        status, shown = talk(*said[:number], last, command=("setup", "station"))
        assert (status, config(station), (station.home / ".env").exists()) == (130, "", False), shown


def test_a_step_without_a_person_takes_what_is_said(station, monkeypatch):
    words = ("setup", "station", "--non-interactive", "--json")
    done = station(*words)
    assert (done.status, "plugins enable tool/station" in done.err) == (3, True)
    assert station("plugins", "enable", "station", "--yes").status == 0
    for more, said in (
        ((), "needs its place"),
        (("--set", "place=Oslo"), "export STATION_KEY"),
        (("--set", "key=12345"), "key is a secret"),  # it is seen by everybody who lists processes
        (("--set", "place"), "says no value"),
        (("--set", "place=Oslo", "--set", "units=miles"), "One of: celsius, kelvin."),
    ):
        done = station(*words, *more)
        assert (done.status, said in done.err) == (2, True), done.err
    monkeypatch.setenv("STATION_KEY", "1")
    done = station(*words, "--set", "place=Oslo", "--try")
    assert (done.status, "does not know this key" in done.err, config(station)) == (2, True, "")
    monkeypatch.setenv("STATION_KEY", "12345")
    assert station(*words, "--set", "place=Oslo", "--try").row == {
        "changed": ['config.yaml: tools.station.place = "Oslo"']
    }
    assert config(station) == SECTION
    assert station(*words, "--try").row == {"changed": []}  # what is set is tested, and kept
    assert station("setup", "--non-interactive", "--set", "a=b").status == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("tools.station.place", "policy.mode"), "would write policy.mode, which is no setting of its own"),
        (('"STATION_KEY", secret', '"OPENAI_API_KEY", secret'), "asks for the secret OPENAI_API_KEY"),
        (("raise UserError", "raise ValueError"), "its test of station failed"),
        (('    name = "station"\n', '    name = "other"\n'), "it adds no setup step station"),
    ],
)
@pytest.mark.few(1)
def test_a_step_keeps_to_what_is_its_own(station, monkeypatch, change, said):
    (station.home / "plugins" / "station.py").write_text(EXAMPLE.read_text().replace(*change))
    assert station("plugins", "enable", "station", "--yes").status in (0, 3)
    for name in ("STATION_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "1")
    done = station("setup", "station", "--non-interactive", "--set", "place=Oslo", "--try")
    assert (done.status, said in done.err, config(station)) == (3, True, ""), done.err


def test_a_service_is_set_up_by_its_name(first, monkeypatch):
    (first.home / "config.yaml").write_text("platforms: {telegram: {base_url: 'http://127.0.0.1:9', seconds: 2}}\n")
    done = first("setup", "telegram", "--non-interactive", "--try")
    assert (done.status, "export TELEGRAM_BOT_TOKEN" in done.err) == (2, True)
    monkeypatch.setenv("TELEGRAM_BOT_TOKEN", "123456789:AAF_a_token_that_is_none")
    done = first("setup", "telegram", "--non-interactive", "--try")
    assert (done.status, "AAF_a_token" in done.err) == (1, False)
    assert first("setup", "matrx", "--non-interactive").err.startswith("There is no setup step named 'matrx'.")
    row = first("setup", "vllm", "--non-interactive", "--set", "base_url=http://127.0.0.1:9/v1", "--json").row
    assert row["changed"] == ['config.yaml: providers.vllm.base_url = "http://127.0.0.1:9/v1"']
    assert first("setup", "vllm", "--non-interactive", "--try").status == 1


def test_a_key_that_the_person_keeps_elsewhere_stays_there(talk, first):
    (first.home / "config.yaml").write_text("providers: {openrouter: {key_env: MY_KEY}}\n")
    status, shown = talk(
        ("Who answers", "openrouter\n"),
        ("Log in with a browser", "n\n"),
        ("Key of openrouter", "sk-or-1\n"),
        ("Model (Enter", "m\n"),
        ("Where do", "local\n"),
        ("Folder", "\n"),
        ("What opens", "\n"),
        ("Try it now", "n\n"),
        ("Write this?", "y\n"),
    )
    assert status == 0, shown
    assert (first.home / ".env").read_text() == "MY_KEY=sk-or-1\n"


def test_a_login_that_fails_is_the_fault_of_its_plugin(talk, station):
    (station.home / "plugins" / "station.py").write_text(
        EXAMPLE.read_text().replace("code = await show(", "code = 1 / 0 * (")
    )
    assert station("plugins", "enable", "station", "--yes").status == 0
    status, shown = talk(("Log in", "y\n"), command=("setup", "station"))
    assert (status, config(station)) == (2, ""), shown
    assert "The login of station failed: ZeroDivisionError" in shown
    assert "platform/cli" not in shown


def test_an_answer_that_a_step_cannot_check_is_not_kept(talk, station):
    (station.home / "plugins" / "station.py").write_text(EXAMPLE.read_text().replace("text.isdigit()", "text / 0"))
    assert station("plugins", "enable", "station", "--yes").status == 0
    said = (("Log in", "n\n"), ("Where it stands", "Oslo\n"), ("Units", "\n"), ("Key", "12345\n"))
    status, shown = talk(*said, command=("setup", "station"))
    assert (status, config(station)) == (2, ""), shown
    assert "key: It cannot be checked: TypeError" in shown
    assert "platform/cli" not in shown
