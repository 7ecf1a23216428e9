"""Past conversations: listed, shown, searched, carried away, renamed, deleted."""

import json

import pytest


@pytest.fixture
def talked(cli):
    """A home with one session that used a tool; its id."""
    (cli.work / "notes.txt").write_text("The train to Oslo leaves at nine.\n")
    cli("-z", "read notes.txt")
    return cli("sessions", "list", "--json").row["id"]


def test_nothing_yet_is_said_on_stderr(cli):
    done = cli("sessions", "list")
    assert (done.status, done.out) == (0, "")
    assert "No session yet" in done.err
    assert cli("sessions", "list", "--json").err == ""


def test_a_list_for_programs_is_one_object_a_line(cli, talked):
    cli("chat", "-q", "hello")
    rows = cli("sessions", "list", "--json").rows
    assert len(rows) == 2
    assert rows[1] == {
        "id": talked,
        "title": "",
        "source": "oneshot",
        "parent": "",
        "state": "idle",
        "messages": 4,
        "tool_calls": 1,
        "model": "rules-1",
        "provider": "offline",
        "created": rows[1]["created"],
        "updated": rows[1]["updated"],
        "tokens": rows[1]["tokens"],
        "cost": 0.0,
        "preview": "read notes.txt",
    }
    assert rows[0]["updated"] > rows[1]["updated"] > rows[1]["created"]
    assert cli("sessions", "list", "--json", "-n", "1").rows == rows[:1]
    assert cli("sessions", "list", "--json", "--source", "nosuch").rows == []
    assert cli("sessions", "list", "--json", "--source", "oneshot").rows == rows


def test_a_list_for_people_has_aligned_columns(cli, talked):
    done = cli("sessions", "list")
    head, row = done.out.splitlines()
    assert head.split() == ["id", "updated", "state", "source", "messages", "model", "title"]
    assert row.startswith(f"{talked}  just now")
    assert row.endswith("read notes.txt")
    assert row.index("oneshot") == head.index("source")


def test_wide_characters_keep_the_columns(cli):
    for title in ("한국어 대화", "notes"):
        cli("-z", "hello")
        cli("sessions", "rename", "latest", title)
    done = cli("sessions", "list")
    assert {"한국어 대화", "notes"} == {line.rpartition("rules-1  ")[2] for line in done.out.splitlines()[1:]}


def test_a_session_is_shown_with_its_calls(cli, talked):
    for which in ([], ["latest"], [talked], [talked[:-2]]):
        done = cli("sessions", "show", *which)
        assert done.status == 0
        assert talked in done.out
        assert 'read_file {"path": "notes.txt"}' in done.out
        assert "✓ 1|The train" in done.out
    assert cli("sessions", "show", "--json").out == cli("sessions", "export").out


def test_nothing_that_was_said_drives_the_terminal_that_shows_it(cli):
    (cli.work / "page.txt").write_text("\x1b]0;owned\x07\x1b[2Jwords of a stranger")
    cli("-z", "read page.txt")
    cli("-z", "\x1b]0;owned\x07hello")
    for which in cli("sessions", "list", "--json").rows:
        done = cli("sessions", "show", which["id"])
        assert ("words of a stranger" in done.out) or ("hello" in done.out)
        assert not {"\x1b", "\x07"} & set(done.out), done.out


def test_an_export_is_shaped_like_the_openai_protocol(cli, talked):
    system, user, call, result, answer = cli("sessions", "export", "latest", "--format", "jsonl").rows
    assert system.keys() == {"role", "content"}
    assert system["role"] == "system"
    assert user == {"role": "user", "content": "read notes.txt"}
    (asked,) = call["tool_calls"]
    assert (call["role"], call["content"]) == ("assistant", None)
    assert (asked["type"], asked["function"]["name"]) == ("function", "read_file")
    assert json.loads(asked["function"]["arguments"]) == {"path": "notes.txt"}
    assert (result["role"], result["tool_call_id"]) == ("tool", asked["id"])
    assert result["content"] == "1|The train to Oslo leaves at nine."
    assert answer["role"] == "assistant"
    assert "Oslo" in answer["content"]


def test_a_compacted_session_is_shown_and_exported_whole(cli, talked):
    import asyncio

    from hermes_core.store.store import open_store
    from hermes_core.types import Principal

    before = cli("sessions", "export").out
    store = open_store(cli.home / "state.db")
    request = asyncio.run(store.history.load(talked))[:1]
    asyncio.run(store.history.replace(Principal(), talked, request, "memory/x"))
    assert asyncio.run(store.history.load(talked)) == request
    store.close()
    assert cli("sessions", "export").out == before
    assert "✓ 1|The train" in cli("sessions", "show").out
    assert cli("sessions", "search", "Oslo", "--json").rows


def test_search_finds_messages_in_the_order_that_is_wanted(cli, talked):
    cli("-z", "search for Oslo in notes.txt")
    rows = cli("sessions", "search", "Oslo", "--json").rows
    assert rows[0].keys() == {"session_id", "message_id", "role", "when", "created", "title", "snippet"}
    newest, oldest = (cli("sessions", "search", "Oslo", "--json", "--sort", by).rows for by in ("newest", "oldest"))
    assert [r["created"] for r in newest] == sorted((r["created"] for r in rows), reverse=True)
    assert [r["created"] for r in oldest] == sorted(r["created"] for r in rows)
    assert ">>>Oslo<<<" in rows[0]["snippet"]
    assert len(cli("sessions", "search", "Oslo", "--json", "-n", "1").rows) == 1
    both = cli("sessions", "search", "train", "nine", "--json").rows
    assert both
    assert "train" in both[0]["snippet"]
    assert "nine" in both[0]["snippet"]
    assert "session_id" in cli("sessions", "search", "Oslo").out


def test_search_that_finds_nothing_says_so_on_stderr(cli, talked):
    done = cli("sessions", "search", "nosuchword")
    assert (done.status, done.out) == (0, "")
    assert "nosuchword" in done.err


def test_search_finds_a_short_korean_word_inside_a_longer_one(cli):
    cli("-z", "안녕하세요 대한민국만세")
    (row, *_) = cli("sessions", "search", "민국", "--json").rows
    assert ">>>민국<<<" in row["snippet"]


def test_a_title_is_given_and_found(cli, talked):
    assert cli("sessions", "rename", talked[:-1], "travel", "notes").status == 0
    assert cli("sessions", "list", "--json").row["title"] == "travel notes"
    assert talked in cli("sessions", "show", "Travel Notes").out
    assert cli("sessions", "rename", "nosuch", "x").status == 2


def test_deleting_needs_a_person_or_yes(cli, talked):
    done = cli("sessions", "delete", talked)
    assert done.status == 2
    assert "--yes" in done.err
    assert cli("sessions", "delete", talked, typed="n\n").status == 130
    assert cli("sessions", "list", "--json").row["id"] == talked
    assert cli("sessions", "delete", talked, typed="y\n").status == 0
    assert cli("sessions", "list", "--json").rows == []
    cli("-z", "hello")
    assert cli("sessions", "delete", "latest", "-y").status == 0
    assert cli("sessions", "list", "--json").rows == []
    assert cli("sessions", "delete", talked, "--yes").status == 2


def test_old_sessions_are_cleared(cli, talked):
    assert cli("sessions", "prune", "--older-than", "1h", "--yes").out == ""
    done = cli("sessions", "prune", "--older-than", "0d", "--dry-run")
    assert (done.status, done.out) == (0, f"{talked}\n")
    assert cli("sessions", "prune", "--older-than", "0d").status == 2
    assert cli("sessions", "list", "--json").row["id"] == talked
    assert cli("sessions", "prune", "--older-than", "0w", "--yes").out == f"{talked}\n"
    assert cli("sessions", "list", "--json").rows == []


@pytest.mark.parametrize("age", ["", "soon", "90", "d90", "-1d"])
def test_an_age_that_is_none_is_refused(cli, age):
    done = cli("sessions", "prune", f"--older-than={age}")
    assert done.status == 2
    assert "90d" in done.err


def test_an_archived_one_is_in_no_list_unless_it_is_asked_for(cli, talked):
    cli("chat", "-q", "hello")
    done = cli("sessions", "archive", talked[:-2])
    assert done.status == 0
    assert f"sessions unarchive {talked}" in done.err
    (other,) = [row["id"] for row in cli("sessions", "list", "--json").rows]
    assert other != talked
    assert [row["id"] for row in cli("sessions", "list", "--archived", "--json").rows] == [talked]
    assert {row["id"] for row in cli("sessions", "list", "--all", "--json").rows} == {talked, other}
    assert [row["id"] for row in cli("sessions", "list", "--source", "oneshot", "--json").rows] == [other]


def test_an_archived_one_is_found_and_goes_on(cli, talked):
    cli("sessions", "rename", talked, "Trains")
    cli("sessions", "archive", "trains")
    assert {row["session_id"] for row in cli("sessions", "search", "Oslo", "--json").rows} == {talked}
    assert cli("-r", "trains", "-z", "hello").status == 0
    assert cli("sessions", "list", "--archived", "--json").row["messages"] == 6  # and it stays where it was put
    assert "There is no session to go on with" in cli("-c", "-z", "hello").err


def test_it_comes_back(cli, talked):
    assert "No session is archived" in cli("sessions", "list", "--archived").err
    cli("sessions", "archive", talked)
    assert cli("sessions", "unarchive", talked).status == 0
    assert [row["id"] for row in cli("sessions", "list", "--json").rows] == [talked]
