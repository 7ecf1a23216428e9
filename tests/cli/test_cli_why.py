"""``hermes why`` at a terminal, and the log of one message."""

import json
import re


def test_the_path_of_the_last_message_is_printed(cli, snapshot) -> None:
    cli("-z", "Hello.")
    cli("-z", "What time is it?")
    done = cli("why")
    assert done.status == 0
    steady = re.sub(r"\d\d:\d\d:\d\d\.\d{3}", "TIME", re.sub(r"[0-9a-f]{16}, \d{4}-\d\d-\d\d", "TRACE, DAY", done.out))
    steady = re.sub(r"[0-9a-f]{8} in \d{8}_\d{6}_[0-9a-f]{8}", "TURN in SESSION", steady)
    steady = re.sub(r"\d+\.\d\d s +|[\d,]+ in, \d+ out", "…  ", steady)
    assert [" ".join(line.split()) for line in steady.splitlines()] == snapshot


def test_programs_get_all_of_it_and_the_log_has_the_same_trace(cli) -> None:
    cli("-z", "Hello.")
    cli("-z", "Hello again.")
    path = json.loads(cli("why", "--json").out)
    assert (path["arrived"], len(path["turns"]), path["received"][0]["trace"]) == (True, 1, path["trace"])
    assert json.loads(cli("why", path["turns"][0]["id"], "--json").out)["trace"] == path["trace"]
    lines = [json.loads(line) for line in cli("logs", "--trace", path["trace"], "--json").out.splitlines()]
    assert {(line["trace"], line["turn"]) for line in lines} == {(path["trace"], path["turns"][0]["id"])}


def test_a_new_home_has_no_message_yet(cli) -> None:
    for words in (["why"], ["why", "latest"]):
        done = cli(*words)
        assert (done.status, done.out) == (2, "")
        assert "No message yet." in done.err


def test_a_message_that_is_not_there_is_said_so(cli) -> None:
    done = cli("why", "nonsense")
    assert (done.status, done.out) == (2, "")
    assert "no message named 'nonsense'" in done.err
