"""hermes guard check: a line in, a line out."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hermes_tool_guard.command import make_check


def checked(text: str | bytes, *options: str, home: Path | str = "/home/me/.hermes") -> list[dict[str, Any]]:
    done = CliRunner().invoke(make_check(str(home)), list(options), input=text)
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_one_verdict_a_line() -> None:
    assert checked("git status\nrm -rf /\nsudo ls\n") == [
        {"verdict": "allow", "reason": "local git"},
        {"verdict": "deny", "reason": "deletes /, a place that everything else depends on"},
        {"verdict": "ask", "reason": "runs with the rights of somebody else, through sudo"},
    ]


def test_a_command_can_be_given_as_an_argument() -> None:
    (row,) = checked("", "git push --force")
    assert row["verdict"] == "ask"
    (row,) = checked("rm -rf /\n", "ls\ncat x", "--json")  # what waits on standard input is not read
    assert (row["verdict"], row["programs"]) == ("allow", ["ls", "cat"])


def test_what_a_person_keeps_of_hermes_is_not_known_here_and_never_free() -> None:
    lines = "hermes config set policy.mode off\nhermes plugins enable x\nhermes --yolo\n"
    assert [row["verdict"] for row in checked(lines)] == ["ask", "ask", "ask"]


def test_blank_lines_keep_the_count() -> None:
    assert [row["verdict"] for row in checked("\nls\n\n  \nrm -rf ~")] == ["allow", "allow", "allow", "allow", "deny"]


def test_json_tells_classes_and_programs() -> None:
    (row,) = checked("cat a | grep b > c", "--json")
    assert row == {
        "verdict": "allow",
        "reason": "writes inside and reads",
        "effects": ["read_files", "write_files"],
        "classes": ["writes inside", "reads"],
        "programs": ["cat", "grep"],
    }


def test_the_folder_can_be_given(tmp_path: Path) -> None:
    inside, outside = checked(f"rm -rf {tmp_path}/build\nrm -rf {tmp_path.parent}/other\n", "--cwd", str(tmp_path))
    assert (inside["verdict"], outside["verdict"]) in (("allow", "ask"), ("allow", "allow"))
    assert checked("rm -rf *\n", "--cwd", "/")[0]["verdict"] == "deny"


def test_its_own_home_is_guarded(tmp_path: Path) -> None:
    assert checked(f"cat {tmp_path}/.env\n", home=tmp_path)[0]["verdict"] == "deny"


@pytest.mark.parametrize("raw", [b"\xff\xfe\n", b"ls \x00\n", "l\u200bs\n".encode(), b"a" * 100_000 + b"\n"])
def test_odd_bytes_are_asked_about(raw: bytes) -> None:
    assert [row["verdict"] for row in checked(raw)] == ["ask"]


def test_every_line_is_answered_before_the_next_is_read() -> None:
    code = "from hermes_tool_guard.command import make_check; make_check('/h')(['--json'], standalone_mode=False)"
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin
    assert process.stdout
    with process:
        for command, verdict in (("ls", "allow"), ("rm -rf /", "deny"), ("", "allow")):
            process.stdin.write(f"{command}\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["verdict"] == verdict
        process.stdin.close()
        assert process.wait() == 0


def test_every_line_gets_one_verdict_whatever_is_in_it() -> None:
    odd = [
        b"ls",
        b"",
        b"\x00",
        b"rm -rf /\x00",
        b"\xff\xfe\xfd",
        b"echo \xed\xa0\x80",  # half of a pair
        b"ls \r",
        b"x" * 1_000_001,
        b"echo " + b"a " * 1_000_000,
        "echo ｒｍ".encode(),
        b"echo '",
        b"\\",
        b"# only a remark",
        b"{" * 5000,
        b"\x1b[31mls",
        b"rm -rf /",
    ]
    rows = checked(b"\n".join(odd) + b"\n", "--json")
    assert len(rows) == len(odd)
    assert (rows[0]["verdict"], rows[1]["verdict"], rows[-1]["verdict"]) == ("allow", "allow", "deny")
    assert all(row["reason"] for row in rows)


def test_a_last_line_without_an_end_counts() -> None:
    assert [row["verdict"] for row in checked("ls\nrm -rf /")] == ["allow", "deny"]
    assert checked("") == []


@pytest.mark.long
def test_ten_thousand_lines() -> None:
    rows = checked("git status\nrm -rf ~\ncurl https://example.com\nmake test\n" * 2500)
    assert [row["verdict"] for row in rows] == ["allow", "deny", "allow", "allow"] * 2500


def test_a_home_can_be_given() -> None:
    assert checked("rm -rf /srv/me\n", "--home", "/srv/me")[0]["verdict"] == "deny"
    assert checked("rm -rf /srv/me\n")[0]["verdict"] == "ask"


def test_effects_are_sorted_names() -> None:
    (row,) = checked("curl -s https://example.com > a && make\n", "--json")
    assert row["effects"] == ["execute", "network", "write_files"]


def test_a_guard_that_breaks_asks_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    from hermes_tool_guard import guard

    def broken(_scene: object, line: str, _folders: object) -> None:
        if "boom" in line:
            raise KeyError(line)

    monkeypatch.setattr(guard, "judge_code", broken)
    rows = checked("ls\nboom\nls\n")
    assert [row["verdict"] for row in rows] == ["allow", "ask", "allow"]
    assert rows[1]["reason"] == "could not be looked at (KeyError)"


def test_help_teaches() -> None:
    shown = CliRunner().invoke(make_check("/h"), ["--help"]).output
    for word in ("allow", "ask", "deny", "--json", "--cwd", "--home", "effects", "Examples"):
        assert word in shown


def test_who_has_heard_enough_may_go() -> None:
    code = "from hermes_tool_guard.command import make_check; make_check('/h')([], standalone_mode=False)"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.write(b"ls\n")
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()
        process.stdin.write(b"ls\n" * 20)
        process.stdin.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0
