"""What no mode lifts."""

from pathlib import Path

import pytest
from guard_places import blocked

HOME = str(Path.home())
GUARDED = [Path("/srv/hermes/config.yaml"), Path("/srv/hermes/.env"), Path("/srv/hermes/profiles")]


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf /",
        "rm -rf /*",
        "rm -fr -- /",
        "sudo rm -rf /",
        "/bin/rm -r /etc",
        "rm -rf ~",
        "rm -rf ~/",
        "rm -rf $HOME",
        'rm -rf "$HOME"/',
        "rm -rf ~/*",
        "rm -rf $NOT_SET_ANYWHERE/",
        "rm -rf ${NOT_SET_ANYWHERE}/*",
        "cd / && rm -rf /",
        "cd / && rm -rf *",
        "if true; then rm -rf ~; fi",
        "for x in 1; do rm -rf ~; done",
        "bash -lc 'rm -rf ~'",
        "bash -ec 'rm -rf ~'",
        "timeout 5 rm -rf ~",
        "nice -n 5 rm -rf ~",
        "sudo -u root rm -rf ~",
        "setsid rm -rf ~",
        "D=$HOME; rm -rf $D",
        "eval 'rm -rf ~'",
        "bash <<< 'rm -rf ~'",
        "rm -rf \\\n~",
        "! rm -rf ~",
        "pushd ~; rm -rf *",
        "rm -rf /srv/hermes",
        "cd /srv; rm -rf hermes",
        "mv /srv/hermes /srv/x",
        "hermes config set policy.mode off",
        "hermes plugins enable tool/x --yes",
        "cd; rm -rf .",
        "cd /etc/.. && rm -rf ./*",
        "true; rm --recursive /usr",
        "bash -c 'rm -rf /'",
        "sh -c \"sudo bash -c 'rm -rf /'\"",
        "echo $(rm -rf /)",
        "echo `rm -rf ~`",
        "FOO=1 rm -rf /",
        "env X=1 rm -rf /",
        "chmod -R 777 /",
        "chown -R nobody ~",
        "find / -delete",
        "mv ~ /tmp/x",
        "mkfs.ext4 /dev/sda1",
        "dd if=/dev/zero of=/dev/sda",
        "cat x > /dev/nvme0n1",
        "wipefs -a /dev/sdb",
        ":(){ :|:& };:",
        "cat /srv/hermes/.env",
        "echo x >/srv/hermes/config.yaml",
        "sed -i s/a/b/ /srv/hermes/config.yaml",
        "cp -r /srv/hermes/profiles/other .",
        "cat /srv/hermes/../hermes/.env",
    ],
)
def test_it_is_never_run(command: str) -> None:
    assert blocked(command, "/work/project", GUARDED)


@pytest.mark.parametrize(
    "command",
    [
        "ls /",
        "rm -rf build",
        "mv a.txt ~",
        "mv x /opt",
        "find / -name x -exec grep y {} +",
        "hermes config get policy.mode",
        "X=1 make && echo done &",
        "rm -rf *",
        "cd build && rm -rf *",
        "rm -rf ./build/*",
        "rm -rf /work/project/build",
        "rm -rf /tmp/x",
        "rm notes.txt",
        pytest.param(f"rm {HOME}/notes.txt", id="rm HOME/notes.txt"),
        "find . -name '*.pyc' -delete",
        "dd if=/dev/sda of=disk.img count=1",
        "cat /dev/null",
        "echo 'rm -rf /' is dangerous",
        "grep -r TODO /usr/include",
        "chmod 644 file",
        "mv a b",
        "git rm -r old",
        "cat .env.example",
        "cat config.yml",
        "python -c 'print(1)'",
        "echo unclosed 'quote",
    ],
)
def test_everyday_commands_are_left_to_the_policy(command: str) -> None:
    assert not blocked(command, "/work/project", GUARDED)


@pytest.mark.parametrize("word", ["", "\0", "x" * 10_000, "\ud800", "~nobody-here/x"])
def test_odd_words_are_survived(word: str) -> None:
    assert isinstance(blocked(f"rm -rf {word}", "/work", GUARDED), str)


def test_a_command_that_is_too_long_to_be_looked_through_is_blocked() -> None:
    assert "too long" in blocked("echo " + "a" * 128_000, "/srv", GUARDED)
    assert blocked("echo " + "a" * 120_000, "/srv", GUARDED) == ""


def test_many_words_are_looked_at_as_closely_as_few(tmp_path: Path) -> None:
    """After many words the folder is listed once, and what lies in it is still looked at."""
    guarded = tmp_path / "home" / "config.yaml"
    guarded.parent.mkdir()
    guarded.write_text("x")
    work = tmp_path / "work"
    work.mkdir()
    (work / "innocent").symlink_to(guarded)
    many = " ".join(f"word{n}" for n in range(200))
    assert "belongs to Hermes itself" in blocked(f"cat {many} innocent", str(work), [guarded])
    assert "belongs to Hermes itself" in blocked(f"cat {many} ../work/innocent", str(work), [guarded])
    (work / "away").symlink_to(guarded.parent)
    assert "belongs to Hermes itself" in blocked(f"cat {many} away/config.yaml", str(work), [guarded])
    assert blocked(f"cat {many}", str(work), [guarded]) == ""
