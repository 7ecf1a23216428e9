"""A closed file by other names, without a kernel around it."""

from pathlib import Path

import pytest

from hermes_closed.closed import closed, closed_but, guarded_by, opened, vital_place, wide


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    (tmp_path / "work").mkdir()
    made = tmp_path / "home" / ".env"
    made.write_text("x")
    (tmp_path / "link").symlink_to(made)
    (tmp_path / "twin").hardlink_to(made)
    return made


@pytest.mark.parametrize("word", ["home/.env", "./work/../home/.env", "link", "twin"])
def test_it_is_found_by_its_names(secret: Path, word: str, tmp_path: Path) -> None:
    assert "closed to tools" in closed((secret,)).why(word, str(tmp_path))
    assert closed((secret,)).why("work/.env", str(tmp_path)) == ""


def test_it_is_guarded_in_any_spelling(secret: Path) -> None:
    for name in (".env", ".ENV", ".env.", ".env::$DATA"):
        assert guarded_by(str(secret.with_name(name)), [secret]) == str(secret)
    assert guarded_by(str(secret.with_name("other")), [secret]) == ""


def test_what_is_opened_for_a_call_is_not_closed(secret: Path) -> None:
    assert closed_but((secret,), (str(secret.parent),)) == (secret,)
    assert closed_but((secret.parent,), (str(secret.parent),)) == ()
    assert opened((str(secret.parent),)).holds(str(secret))


def test_places_that_all_depends_on_are_known() -> None:
    assert vital_place("/*", "/work") == "the root folder"
    assert vital_place("x", "/work") == ""
    assert [wide("/tmp"), wide("/work/x")] == [True, False]
