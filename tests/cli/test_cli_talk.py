"""One message and its answer: what goes where, which session goes on, what is refused."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest


@pytest.fixture
def refusing_server():
    """A model server that refuses every key."""

    class Refusing(BaseHTTPRequestHandler):
        def do_POST(self):
            body = b'{"error": {"message": "no such key"}}'
            self.send_response(401)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Refusing)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()
    thread.join()


def titles(cli):
    return {row["id"]: row["title"] for row in cli("sessions", "list", "--json").rows}


def test_a_one_shot_prints_only_the_answer(cli):
    (cli.work / "a.txt").write_text("hello\n")
    done = cli("-z", "list the files here")
    assert (done.status, done.out, done.err) == (0, "`.` holds 1 file:\n- a.txt\n", "")


def test_a_one_shot_reads_its_message_from_stdin(cli):
    (cli.work / "a.txt").write_text("hello\n")
    assert "a.txt" in cli("-z", "-", stdin="list the files here").out


@pytest.mark.parametrize("text", ["", "  \n"])
def test_nothing_to_answer_can_be_mended_by_the_person(cli, text):
    done = cli("-z", text)
    assert (done.status, done.out) == (2, "")
    assert "nothing to answer" in done.err
    assert cli("chat", "-q", text).status == 2


def test_chat_tells_its_tools_and_session_on_stderr(cli):
    (cli.work / "a.txt").write_text("hello\n")
    done = cli("chat", "-q", "list the files here")
    assert done.status == 0
    assert done.out == "`.` holds 1 file:\n- a.txt\n"
    session = cli("sessions", "list", "--json").row["id"]
    assert "list_files {}" in done.err
    assert "list_files ✓" in done.err
    assert done.err.endswith(f"session {session}\n")


@pytest.mark.parametrize("words", [("--json", "-z"), ("--json", "chat", "-q"), ("chat", "--json", "-q")])
def test_json_is_one_event_a_line(cli, words):
    done = cli(*words, "list the files here")
    kinds = [row["type"] for row in done.rows]
    assert (kinds[0], kinds[-1]) == ("started", "ended")
    assert set(kinds) >= {"called", "returned", "said"}
    ended = done.rows[-1]
    assert ended.keys() == {"type", "session_id", "turn_id", "answer", "reason", "usage", "note"}
    assert ended["answer"] == "".join(row["text"] for row in done.rows if row["type"] == "said")
    assert ended["session_id"] == done.rows[0]["session_id"] in titles(cli)
    assert done.err == ""


def test_without_a_model_it_answers_and_says_how_to_connect_one(cli):
    cli.configure("")
    done = cli("-z", "list the files here")
    assert done.status == 0
    assert done.out.strip()
    assert "hermes model" in done.err
    assert len(done.err.splitlines()) == 1


# --- nobody to ask ----------------------------------------------------------------------------------------------------


def outcome(cli):
    return cli("tools", "history", "--json", "-n", "1").row["outcome"]


@pytest.fixture
def open_machine(cli):
    """No wall is around commands, so that what they do asks."""
    cli.configure("model: {provider: offline}\nbackends: {local: {wall: none}}\n")


@pytest.mark.usefixtures("open_machine")
def test_without_a_person_what_would_ask_is_refused_with_a_hint(cli):
    done = cli("-z", 'run `eval "$NOTHING" echo ready`')
    assert done.status == 0
    assert "--yolo" in done.out
    assert outcome(cli) == "refused"


@pytest.mark.usefixtures("open_machine")
@pytest.mark.parametrize("words", [("--yolo", "-z"), ("--yolo", "chat", "-q"), ("chat", "--yolo", "-q")])
def test_yolo_allows_it(cli, words):
    assert "ready" in cli(*words, 'run `eval "$NOTHING" echo ready`').out
    assert outcome(cli) == "ok"


SAID = {**dict.fromkeys(("1", "yes"), "ok"), **dict.fromkeys(("", " ", "0", "n", "no", "Off", "FALSE"), "refused")}


@pytest.mark.usefixtures("open_machine")
@pytest.mark.parametrize(("value", "expected"), SAID.items())
@pytest.mark.few(3)
def test_the_environment_may_say_yolo(cli, monkeypatch, value, expected):
    monkeypatch.setenv("HERMES_YOLO", value)
    cli("-z", 'run `eval "$NOTHING" echo ready`')
    assert outcome(cli) == expected


def test_yolo_does_not_lift_the_hard_blocks(cli):
    (cli.home / ".env").write_text("SOME_KEY=very-secret\n")
    done = cli("--yolo", "-z", f"run `cat {cli.home}/.env`")
    assert outcome(cli) == "refused"
    assert "very-secret" not in done.out


# --- which session ----------------------------------------------------------------------------------------------------


def test_continue_goes_on_with_the_last_session(cli):
    cli("-z", "hello")
    cli("-c", "-z", "hello again")
    cli("chat", "-c", "-q", "and again")
    cli("--continue", "chat", "-q", "and again")
    assert cli("sessions", "list", "--json").row["messages"] == 8


def test_continue_without_a_session_says_so(cli):
    done = cli("-c", "-z", "hello")
    assert (done.status, done.out) == (2, "")
    assert "no session to go on with" in done.err


@pytest.mark.parametrize("flag", ["-r", "--resume"])
@pytest.mark.parametrize("by", ["id", "prefix", "title", "TITLE"])
@pytest.mark.few(3)
def test_resume_by_id_prefix_or_title(cli, flag, by):
    cli("-z", "hello")
    (first,) = titles(cli)
    cli("sessions", "rename", first, "travel", "notes")
    cli("-z", "something else")
    words = {"id": first, "prefix": first[:-1], "title": "travel notes", "TITLE": "TRAVEL notes"}[by]
    assert cli(flag, words, "-z", "hello again").status == 0
    assert cli("chat", flag, words, "-q", "hello again").status == 0
    counts = {row["id"]: row["messages"] for row in cli("sessions", "list", "--json").rows}
    assert counts.pop(first) == 6
    assert list(counts.values()) == [2]


def test_a_prefix_of_several_sessions_is_refused(cli):
    cli("-z", "hello")
    cli("-z", "hello")
    done = cli("-r", next(iter(titles(cli)))[:4], "-z", "hello")
    assert (done.status, done.out) == (2, "")
    assert len(titles(cli)) == 2


def test_a_session_that_is_not_there_is_refused(cli):
    done = cli("-r", "nosuch", "-z", "hello")
    assert (done.status, done.out) == (2, "")
    assert "'nosuch'" in done.err
    assert "hermes sessions list" in done.err


# --- who answers, with what -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ("-m", "offline:rules-1"),
        ("--model", "rules-1", "--provider", "offline"),
        ("--provider", "offline"),
    ],
)
def test_model_and_provider_are_chosen_for_one_run(cli, words):
    cli.configure("model: {provider: custom, base_url: 'http://127.0.0.1:9/v1', default: m}\n")
    for line in ((*words, "--json", "-z", "hello"), ("chat", *words, "--json", "-q", "hello")):
        started = cli(*line).rows[0]
        assert (started["provider"], started["model"]) == ("offline", "rules-1")


@pytest.mark.parametrize("words", [("--provider", "ofline"), ("-m", "ofline:rules-1"), ("-m", "nosuch")])
def test_a_wrong_provider_or_model_can_be_mended_by_the_person(cli, words):
    done = cli(*words, "-z", "hello")
    assert done.status in (1, 2)  # the second is for the provider to find out
    assert done.out == ""
    assert words[1].partition(":")[0] in done.err
    assert "Traceback" not in done.err


def test_a_provider_that_refuses_the_key_is_a_failure(cli, refusing_server):
    cli.configure(f"model: {{provider: custom, base_url: '{refusing_server}', api_key: wrong, default: m}}\n")
    done = cli("-z", "hello")
    assert (done.status, done.out) == (1, "")
    assert "no such key" in done.err
    done = cli("--json", "-z", "hello")
    assert done.status == 1
    assert [row["type"] for row in done.rows][-2:] == ["failed", "ended"]
    assert done.rows[-1]["reason"] == "failed"
    assert cli("-c", "--provider", "offline", "-z", "hello").status == 0  # the session stays usable


def test_only_the_asked_toolsets_are_offered(cli):
    offered = [r["part"] for r in cli("-t", "files, recall", "prompt-size", "--json").rows]
    assert "tool/read_file" in offered
    assert "tool/recall" in offered
    assert "tool/terminal" not in offered
    cli("--toolsets", "files", "--yolo", "-z", "run `echo ready`")
    assert cli("tools", "history", "--json").rows == []
    cli("chat", "--toolsets", "terminal", "--yolo", "-q", "run `echo ready`")
    assert outcome(cli) == "ok"


# --- as a process -----------------------------------------------------------------------------------------------------


def test_hermes_converses_until_its_input_ends(cli):
    (cli.work / "a.txt").write_text("hello\n")
    for words in ((), ("chat",)):
        done = cli.process(*words, input="list the files here\n", fresh=not words)
        assert done.status == 0
        assert "a.txt" in done.out
    assert {row["source"] for row in cli("sessions", "list", "--json").rows} == {"cli"}


def test_a_conversation_goes_on_with_a_session(cli):
    cli("-z", "hello")
    assert cli.process("-c", input="hello again\n").status == 0
    assert cli("sessions", "list", "--json").row["messages"] == 4


def test_an_interface_that_is_not_installed_is_refused(cli):
    done = cli("--interface", "nosuch")
    assert done.status == 2
    assert "'nosuch'" in done.err
    assert "cli" in done.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda one: one.name)
def test_an_interrupt_leaves_a_session_that_goes_on(cli, number):
    command = [sys.executable, "-m", "hermes_core", "--yolo", "--json", "-z", "run `sleep 5`"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as work:
        for line in work.stdout:
            if json.loads(line)["type"] == "called":
                break
        work.send_signal(number)
        _, err = work.communicate(timeout=20)
    assert work.returncode == 130
    assert "Traceback" not in err
    assert cli("-c", "-z", "hello").status == 0


def test_a_reader_that_leaves_is_no_error_to_talk_about(cli):
    reader, writer = os.pipe()
    os.close(reader)
    with contextlib.closing(os.fdopen(writer, "w")) as closed:
        command = [sys.executable, "-m", "hermes_core", "-z", "hello"]
        done = subprocess.run(command, stdout=closed, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


NOISY = """
import os, subprocess
from hermes_core import hookimpl
from hermes_core.kinds import tool
print("imported")

@tool
async def list_files() -> str:
    "List files."
    print("called")
    os.write(1, b"written\\n")
    subprocess.run(["echo", "started"])
    return "none"

@hookimpl
def register_tools():
    print("registered")
    return [list_files]
"""


@pytest.mark.parametrize("words", [["-z"], ["--json", "-z"], ["chat", "-q"]], ids=" ".join)
def test_what_a_plugin_prints_is_no_part_of_the_answer(cli, words):
    cli.plugin("tool/noisy", NOISY, contributes={"tools": ["list_files"]}, permissions={"kernel": ["tools.override"]})
    assert cli("plugins", "enable", "noisy", "--yes").status == 0
    done = cli.process(*words, "list the files here")
    assert done.status == 0, done.err
    noise = {"imported", "registered", "called", "written", "started"}
    assert noise <= set(done.err.split())
    assert not noise & set(done.out.split())
    if "--json" in words:
        assert [row["type"] for row in done.rows][-1] == "ended"
