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
