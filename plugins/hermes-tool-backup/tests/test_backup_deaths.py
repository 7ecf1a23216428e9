"""A restore that is killed between any two of its steps, and completed by the next one."""

import os
import shutil
import signal
from pathlib import Path

import pytest

from hermes_tool_backup import restore
from hermes_tool_backup.archive import copies

from .conftest import tree, words, write

STEPS = (
    (Path, "rename"), (Path, "unlink"), (Path, "mkdir"), (shutil, "rmtree"), (os, "link"), (os, "fsync"),
)  # fmt: skip


def replaced(home, copy, dies_at):
    """Restore in a process of its own that is killed before its N-th step. Whether it died."""
    child = os.fork()
    if not child:
        left = dies_at

        def counted(real):
            def step(*arguments, **named):
                nonlocal left
                left -= 1
                if not left:
                    os.kill(os.getpid(), signal.SIGKILL)
                return real(*arguments, **named)

            return step

        for owner, name in STEPS:
            setattr(owner, name, counted(getattr(owner, name)))
        try:
            restore.replace(copy, home)
        finally:
            os._exit(0)
    return os.waitpid(child, 0)[1] == signal.SIGKILL


@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.long)])
def test_a_death_leaves_the_old_home_or_one_that_is_completed(run, home, tmp_path, every):
    run("create")
    (copy,) = copies(home / "backups")
    write(home, "two")
    (home / "SOUL.md").write_text("later\n")
    (home / "only-now.md").write_text("x")
    kept, now = tmp_path / "kept", tree(home)
    shutil.copytree(home, kept, symlinks=True)
    step, died, replaced_of_them = 1, True, 0
    while died:
        shutil.rmtree(home)
        shutil.copytree(kept, home, symlinks=True)
        died = replaced(home, copy.path, step)
        if restore.unfinished(home):
            restore.finish(home)
        if words(home) == ["one"]:
            assert (home / "SOUL.md").read_text() == "Be kind.\n"
            assert not (home / "only-now.md").exists()
            replaced_of_them += 1
        else:
            assert words(home) == ["one", "two"]
            there = {name: text for name, text in tree(home).items() if not name.startswith(".restore")}
            assert there == now
        assert not restore.unfinished(home)
        step += every
    assert replaced_of_them > 1
