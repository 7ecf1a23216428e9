"""Files that are whole or not there, and one process at a time."""

import os
import stat
from pathlib import Path

import pytest

from hermes_atomic import whole


def test_a_file_is_replaced_as_a_whole_and_is_its_owners(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("old")
    path.chmod(0o644)
    whole.replace(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    whole.replace(path, b"for all", mode=0o644)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert [one.name for one in tmp_path.iterdir()] == ["x"]


def test_a_link_in_its_place_goes_and_what_it_led_to_stays(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("theirs")
    (tmp_path / "x").symlink_to(tmp_path / "other")
    whole.replace(tmp_path / "x", b"mine")
    assert (tmp_path / "other").read_text() == "theirs"
    assert not (tmp_path / "x").is_symlink()


def test_who_follows_a_link_replaces_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "real").write_text("old")
    (tmp_path / "x").symlink_to("below/real")
    whole.replace(tmp_path / "x", b"new", sync=False, follow=True)
    assert (tmp_path / "x").is_symlink()
    assert (tmp_path / "below" / "real").read_text() == "new"
    assert [one.name for one in (tmp_path / "below").iterdir()] == ["real"]


def test_what_cannot_be_written_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "x"
    path.write_text("old")

    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        whole.replace(path, b"new")
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("x", "old")]


def test_a_name_of_any_length_can_be_replaced(tmp_path: Path) -> None:
    for name in ("n" * 255, "한" * 85):
        whole.replace(tmp_path / name, b"x")
        assert (tmp_path / name).read_bytes() == b"x"


def test_one_at_a_time_and_whoever_waits_too_long_is_told(tmp_path: Path) -> None:
    lock = tmp_path / "below" / "lock"
    with whole.held(lock, seconds=1), pytest.raises(whole.Busy), whole.held(lock, seconds=0.02):
        pytest.fail("two of them")
    with whole.held(lock, seconds=0):
        pass


def test_what_fails_in_the_block_lets_go(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), whole.held(tmp_path / "lock", seconds=0):
        raise ZeroDivisionError
    with whole.held(tmp_path / "lock", seconds=0):
        pass
