"""``hermes redact`` as a filter: whole texts, endless ones, bytes that are no text, records, people."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TOKEN = "ghp" + "_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def run(given: bytes, *words: str, home: Path, **environ: str) -> subprocess.CompletedProcess[bytes]:
    plain = {k: v for k, v in os.environ.items() if not k.startswith("HERMES")}
    return subprocess.run(
        [sys.executable, "-m", "hermes_core", "redact", *words],
        input=given,
        capture_output=True,
        check=False,
        env={**plain, "HERMES_HOME": str(home), **environ},
    )


def test_a_text_goes_through_and_no_home_is_made(tmp_path: Path) -> None:
    done = run(f"before\npassword=swordfish77\nkey {TOKEN} end".encode(), home=tmp_path / "home")
    assert done.stdout.decode() == "before\npassword=***\nkey ghp_a1…q7R8 end"
    assert (done.returncode, done.stderr) == (0, b"")
    assert not (tmp_path / "home").exists()


def test_bytes_that_are_no_text_stay(tmp_path: Path) -> None:
    noise = bytes(range(256)) * 40 + b"\xff\xfe\n\xc3"
    done = run(noise + b"\npassword=swordfish77\n" + noise, home=tmp_path)
    assert done.stdout == noise + b"\npassword=***\n" + noise


def test_known_values_of_the_home(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("ACME=quiet-old-lighthouse\n")
    done = run(
        b"it said quiet-old-lighthouse today, and env-told-value-9 too", home=tmp_path, ACME_TOKEN="env-told-value-9"
    )
    assert done.stdout == b"it said *** today, and *** too"


def test_a_line_is_shown_as_soon_as_it_ends(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "hermes_core", "redact"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "HERMES_HOME": str(tmp_path)},
    )
    assert process.stdin
    assert process.stdout
    with process:
        for number in range(3):
            process.stdin.write(f"line {number} token={TOKEN}\n".encode())
            process.stdin.flush()
            assert process.stdout.readline().decode() == f"line {number} token=ghp_a1…q7R8\n"
        process.stdin.close()
        assert process.stdout.read() == b""
    assert process.returncode == 0


def test_records_keep_every_other_byte(tmp_path: Path) -> None:
    lines = [
        '{"id": 1.50e3,  "text":"password=swordfish77", "more":{"text":"password=swordfish77"}}',
        '{"text": "plain", "é": "\\u00e9"}',
        '{"text": "half \\ud800 and password=swordfish77"}',
        "",
    ]
    done = run("\n".join(lines).encode(), "--jsonl", home=tmp_path)
    assert done.stdout.decode().split("\n") == [
        '{"id": 1.50e3,  "text":"password=***", "more":{"text":"password=swordfish77"}}',
        '{"text": "plain", "é": "\\u00e9"}',
        '{"text": "half \\ud800 and password=***"}',
        "",
    ]
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{not json", "it is not JSON"),
        ("[1]", "it is no JSON object"),
        ('{"a": 1}', "it has no `text`"),
        ('{"text": 5}', "it has no `text`"),
        ('{"text": "password=hunter2secret", "text": "b"}', "it has `text` twice"),
        ("\udcff", "it is not UTF-8"),
    ],
)
@pytest.mark.few(2)
def test_a_broken_line_is_said_and_the_good_ones_are_written(line: str, why: str, tmp_path: Path) -> None:
    text = f'{{"text": "one"}}\n{line}\n{{"text": "password=swordfish77"}}\n'
    done = run(text.encode("utf-8", "surrogateescape"), "--jsonl", home=tmp_path)
    assert [json.loads(row)["text"] for row in done.stdout.splitlines()] == ["one", "password=***"]
    assert done.returncode == 2
    assert f"Line 2: {why}" in done.stderr.decode()
    assert "Traceback" not in done.stderr.decode()


@pytest.mark.long
def test_people_have_the_same_name_in_a_home(tmp_path: Path) -> None:
    text = (
        b"from Bob@example.org to bob@example.org, +14155552671 or +1 (415) 555-2671, chat_id=-10012345 user_id: 77777"
    )
    first = run(text, "--pii", home=tmp_path).stdout.decode()
    again = run(text, "--pii", home=tmp_path).stdout.decode()
    assert first == again
    # Told whole: what stands for a person is hexadecimal, and by chance may hold any digits of the person.
    person, phone, number = r"(email-[0-9a-f]{12})", r"(phone-[0-9a-f]{12})", r"id-[0-9a-f]{12}"
    assert re.fullmatch(rf"from {person} to \1, {phone} or \2, chat_id={number} user_id: {number}", first)
    assert (tmp_path / "data" / "pseudonyms.key").stat().st_mode & 0o077 == 0
    other = tmp_path / "other"
    other.mkdir()
    assert run(text, "--pii", home=other).stdout.decode() != first


def test_a_broken_home_does_not_keep_a_person_from_cleaning_a_log(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("no: such: thing: [")
    done = run(b"password=swordfish77", home=tmp_path)
    assert (done.stdout, done.returncode) == (b"password=***", 0)


def test_no_kernel_is_made_and_no_store_is_opened(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom hermes_core.cli.main import run\nimport os\n"
        "os._exit = lambda status: print(sorted(m for m in sys.modules if m.startswith(('hermes_', 'sqlalchemy'))),"
        " file=sys.stderr)\nrun(arguments=['redact'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=b"x",
        capture_output=True,
        check=True,
        env={**os.environ, "HERMES_HOME": str(tmp_path / "no")},
    )
    said = done.stderr.decode()
    assert "hermes_tool_redaction.command" in said
    assert not any(word in said for word in ("sqlalchemy", "hermes_core.agent.runtime", "hermes_core.store.journal"))


def test_ids_of_conversations_stay_readable(tmp_path: Path) -> None:
    told = b'session=20261120_215128_28fc44a1 {"session_id": "20261120_215128_ab12cd"}'
    assert run(told, home=tmp_path).stdout == told
