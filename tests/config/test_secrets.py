"""Secrets are kept for their owner's eyes only, and what else is in the file stays."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hermes_core.config.secrets import Secrets
from hermes_core.errors import UserError

FOREIGN = """\
# keys
export OPENAI_API_KEY="sk-\\"1\\"" # mine
EMPTY=
NAKED=a b#c   # d
SINGLE='it\\'s \\n'
not a setting
LONG="first
FAKE=inside
last"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / ".env"


def test_usual_spellings_are_read(file: Path) -> None:
    file.write_text(FOREIGN)
    kept = Secrets(file, {})
    assert kept.names() == ["EMPTY", "LONG", "NAKED", "OPENAI_API_KEY", "SINGLE"]
    assert kept.get("OPENAI_API_KEY") == 'sk-"1"'
    assert kept.get("NAKED") == "a b#c"
    assert kept.get("SINGLE") == "it's \\n"
    assert kept.get("LONG") == "first\nFAKE=inside\nlast"
    assert kept.get("FAKE") == ""


def test_the_process_comes_before_the_file(file: Path) -> None:
    file.write_text("KEY=file\n")
    assert Secrets(file, {"KEY": "process"}).get("KEY") == "process"
    assert Secrets(file, {"KEY": ""}).get("KEY") == "file"
    assert Secrets(file, {}).get("OTHER") == ""


def test_setting_keeps_every_other_line(file: Path) -> None:
    file.write_text(FOREIGN)
    kept = Secrets(file, {})
    kept.set("NAKED", "new")
    assert file.read_text() == FOREIGN.replace("NAKED=a b#c   # d\n", "NAKED=new\n")
    kept.set("ADDED", "a'b")
    assert file.read_text().endswith('last"\nADDED="a\'b"\n')
    assert kept.unset("LONG")
    assert kept.get("FAKE") == ""
    assert "inside" not in file.read_text()
    assert not kept.unset("LONG")


def test_a_name_given_twice_is_set_once(file: Path) -> None:
    file.write_text("A=1\nB=2\nA=3")
    kept = Secrets(file, {})
    assert kept.get("A") == "3"
    kept.set("A", "4")
    assert file.read_text() == "A=4\nB=2\n"


def test_the_file_is_made_for_its_owner_and_mended_when_wider(file: Path) -> None:
    kept = Secrets(file, {})
    kept.set("KEY", "v")
    assert file.stat().st_mode & 0o777 == 0o600
    file.chmod(0o644)
    again = Secrets(file, {})
    assert again.get("KEY") == "v"
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "name",
    [
        *(
            "PATH",
            "LD_PRELOAD",
            "PYTHONPATH",
            "NODE_OPTIONS",
            "EDITOR",
            "HERMES_HOME",
            "HERMES_PROFILE",
            "path",
            "BASH_ENV",
        ),
        *("DYLD_INSERT_LIBRARIES", "GIT_SSH_COMMAND", "a-b", "1A", "", "A B", "A\nB"),
    ],
)
def test_what_steers_programs_is_never_kept(file: Path, name: str) -> None:
    with pytest.raises(UserError):
        Secrets(file, {}).set(name, "x")
    assert not file.exists()


@pytest.mark.parametrize(
    "name", ["GITHUB_TOKEN", "GIT_TOKEN", "OPENAI_API_KEY", "NODE_AUTH_TOKEN", "TELEGRAM_BOT_TOKEN"]
)
def test_real_secrets_are_kept(file: Path, name: str) -> None:
    Secrets(file, {}).set(name, "x")
    assert Secrets(file, {}).get(name) == "x"


def test_no_value_is_shown_when_an_object_or_an_error_is_printed(file: Path) -> None:
    kept = Secrets(file, {})
    kept.set("KEY", "hush-hush")
    assert "hush" not in repr(kept)
    with pytest.raises(UserError) as caught:
        kept.set("KEY", "hush\0hush")
    assert "hush" not in str(caught.value)


def test_bytes_that_are_not_utf8_stay(file: Path) -> None:
    file.write_bytes(b"# caf\xe9\nA=1\n")
    Secrets(file, {}).set("A", "2")
    assert file.read_bytes() == b"# caf\xe9\nA=2\n"


def test_a_folder_in_the_place_of_the_file_is_said_so(file: Path) -> None:
    file.mkdir()
    with pytest.raises(UserError, match="it is a folder"):
        Secrets(file, {}).get("KEY")


@hypothesis_settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), min_size=1, max_size=3))
def test_any_value_comes_back_as_it_was(file: Path, values: list[str]) -> None:
    file.unlink(missing_ok=True)
    kept = Secrets(file, {})
    for number, value in enumerate(values):
        kept.set(f"S{number}", value)
    again = Secrets(file, {})
    assert [again.get(f"S{number}") for number in range(len(values))] == values


def test_what_a_text_holds_of_the_secrets_is_known(file: Path) -> None:
    file.write_text("ACME=long-enough-value\nSHORT_KEY=abc\nBASE=https://llm.example.org/v1\nPLACE=/srv/models/here\n")
    secrets = Secrets(file, {"X_TOKEN": "from-the-process", "EDITOR": "an-editor-of-mine"})
    assert secrets.held_in("?a=long-enough-value&b")
    assert secrets.held_in("from-the-process")
    for text in (
        "abc",
        "an-editor-of-mine",
        "https://llm.example.org/v1/models",
        "/srv/models/here",
        "long-enough",
        "",
    ):
        assert not secrets.held_in(text)
