"""Which folder is known is a person's word: on the command line, for a run, and never a tool's."""

import pytest

NOT_KNOWN = "is not known"


@pytest.fixture(autouse=True)
def nothing_is_known(cli, monkeypatch):
    monkeypatch.delenv("HERMES_TRUST")
    (cli.work / "own.txt").write_text("An empty folder is not worth a word.")


def test_a_folder_is_not_known_until_a_person_says_so(cli):
    (cli.work / "AGENTS.md").write_text("Notes.")
    done = cli("-z", "hello")
    assert f"{cli.work} is not known. AGENTS.md is not followed" in done.err
    assert cli("trust", "add").status == 0
    assert NOT_KNOWN not in cli("-z", "hello").err
    assert "Notes." in cli("prompt-size", "--text").out or "prompt/project" in cli("prompt-size").out


def test_a_run_may_know_its_folder(cli):
    assert NOT_KNOWN not in cli.process("--trust", "-z", "hello").err
    assert NOT_KNOWN in cli.process("-z", "hello").err


def test_no_tool_says_it(cli, monkeypatch):
    monkeypatch.setenv("HERMES_RUN", "1")
    for words in (("trust", "add"), ("trust", "forget"), ("--trust", "-z", "hello")):
        done = cli(*words)
        assert done.status == 2
        assert "may not change what hermes may do" in done.err
    monkeypatch.setenv("HERMES_TRUST", "1")
    assert NOT_KNOWN in cli("-z", "hello").err
