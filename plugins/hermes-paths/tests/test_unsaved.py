"""What snapshots leave out, and what of that nobody misses."""

import os
import time
from pathlib import Path

import pytest

from hermes_paths.unsaved import born, forget, is_rebuilt, is_secret, note_unsaved, unsaved


@pytest.mark.parametrize(
    "name", [".env", ".env.local", "site.pem", "id_rsa", "ID_ED25519", ".npmrc", "credentials.json"]
)
def test_names_of_keys_are_known(name: str) -> None:
    assert is_secret(name)


@pytest.mark.parametrize("name", [".env.example", ".env.dist", "env", "keys.md", "monkey", "id_rsa.pub"])
def test_other_names_are_not_keys(name: str) -> None:
    assert not is_secret(name)


@pytest.mark.parametrize(
    "path",
    [
        "node_modules/x/y.js", "build/a.bin", "dist/x", "target/debug/app", "src/__pycache__/a.pyc", ".venv/bin/python",
        "a/b/x.o", "app.log", "pkg.egg-info/PKG-INFO", ".coverage", "cmake-build-debug/x", "web/.next/x", "x.pyc",
    ],
)  # fmt: skip
def test_what_is_made_again_is_known(path: str) -> None:
    assert is_rebuilt(path)


@pytest.mark.parametrize(
    "path", ["data.db", "src/a.py", "data/big.csv", "secret.txt", "builder/x", "notes/build.md", "distance", "catalog"]
)
def test_what_nothing_makes_again_is_known(path: str) -> None:
    assert not is_rebuilt(path)


def test_no_touch_changes_when_a_file_came_to_be(tmp_path: Path) -> None:
    path = tmp_path / "a"
    before = time.time()
    path.touch()
    made = born(str(path))
    assert made is not None
    assert before - 1 <= made <= time.time() + 1
    os.utime(path, (1, 1))
    path.write_text("more")
    assert born(str(path)) == made
    assert born(str(tmp_path / "none")) is None


def test_a_turn_without_a_snapshot_is_known_until_it_is_over(tmp_path: Path) -> None:
    note_unsaved(tmp_path, "turn/1", "it is too large")
    assert unsaved(tmp_path, "turn/1") == "it is too large"
    assert unsaved(tmp_path, "turn/2") == unsaved(tmp_path, "") == ""
    forget(tmp_path, "turn/1")
    forget(tmp_path, "turn/1")
    assert unsaved(tmp_path, "turn/1") == ""
