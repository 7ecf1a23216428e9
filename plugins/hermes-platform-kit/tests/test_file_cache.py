"""Files of chats: whole or not there, private, bounded, the oldest first."""

import os
import time
from pathlib import Path

import pytest

from hermes_platform_kit.files import FileCache


def kept(folder: Path) -> list[str]:
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())


def put(cache: FileCache, name: str, size: int = 10) -> None:
    with cache.writing(name) as file:
        file.write(b"x" * size)


def aged(path: Path, days: float) -> None:
    os.utime(path, (time.time() - days * 86_400,) * 2)


def test_a_file_is_there_as_a_whole_and_for_nobody_else(tmp_path: Path) -> None:
    cache = FileCache(tmp_path / "media", most=100)
    assert cache.find("1/a.ogg") is None
    put(cache, "1/a.ogg")
    place = cache.find("1/a.ogg")
    assert place
    assert place.read_bytes() == b"x" * 10
    assert place.stat().st_mode & 0o077 == 0
    with pytest.raises(TypeError):
        put(cache, "1/b.ogg", "many")  # type: ignore[arg-type]
    assert kept(tmp_path / "media") == ["1/a.ogg"]


def test_the_oldest_go_where_there_is_too_much_and_the_newest_stays(tmp_path: Path) -> None:
    cache = FileCache(tmp_path, most=25)
    for days, name in ((3, "old"), (2, "asked"), (1, "later")):
        put(cache, name)
        if (tmp_path / name).exists():
            aged(tmp_path / name, days)
    assert kept(tmp_path) == ["asked", "later"]
    assert cache.find("asked")  # now it is the newest
    put(cache, "new")
    assert kept(tmp_path) == ["asked", "new"]
    put(cache, "huge", 1000)
    assert kept(tmp_path) == ["huge"]


@pytest.mark.parametrize(("days", "left"), [(7, ["new"]), (0, ["new", "old"])])
def test_what_nobody_asks_for_goes_after_its_days(tmp_path: Path, days: float, left: list[str]) -> None:
    put(FileCache(tmp_path, most=1000), "old")
    aged(tmp_path / "old", 8)
    put(FileCache(tmp_path, most=1000, days=days), "new")
    assert kept(tmp_path) == left
