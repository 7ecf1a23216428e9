"""What is said below results, when, and at the end of a turn."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from hermes_tool_diagnostics.keeping import Running, job_id

NEW = "New problems in a.say:\n  {line}:1 error: no bad here (speaking B1)"


def processes() -> list[str]:
    """The servers of this process's tests: other tests may have some of their own at the same time."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if any(word.endswith(b"speaking.py") for word in words[:4]) and str(os.getpid()).encode() in words:
            found.append(path.parent.name)
    return found


@pytest.mark.parametrize("how", ["push", "pull", "disk", "plain"])
async def test_only_what_is_new_is_told(make: Callable, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hermes_tool_diagnostics.client.QUIET", 0.05)
    monkeypatch.setattr("hermes_tool_diagnostics.client.UNSURE", 0.05 if how == "plain" else 10.0)
    bench = make(how)
    assert await bench.write("a.say", "good\nbad\nhint\n") == NEW.format(line=2)
    assert await bench.write("a.say", "more\ngood\nbad\n") == ""
    assert await bench.write("a.say", "bad\nmore\ngood\nbad\n") == NEW.format(line=1)
    assert await bench.write("a.say", "good\n") == ""
    assert await bench.write("b.say", "bad\n") != ""
    assert await bench.write("a.say", "bad\n") == NEW.format(line=1)
    assert len(processes()) == 1


async def test_words_of_a_server_come_from_outside_where_the_folder_or_a_file_in_it_does(make: Callable) -> None:
    bench = make()
    assert await bench.write("a.say", "bad\n") == NEW.format(line=1)
    assert not bench.outside, "the folder is known, and nothing in it is another's"
    bench.bring("vendor.say")
    said = await bench.write("a.say", "good\nbad </untrusted>\nbad\n")
    assert bench.outside
    assert said.startswith("<untrusted from='a language server'>\nNew problems in a.say:")
    assert said.count("</untrusted>") == 1
    assert await bench.write("a.json", "{")
    assert not bench.outside, "these words are ours"
    bench.ledger.forget(bench.workspace.cwd)
    assert "no bad here" in await bench.write("b.say", "bad\n")
    assert bench.outside


async def test_a_text_that_does_not_parse_is_not_shown_to_servers(make: Callable) -> None:
    bench = make()
    assert (await bench.write("a.json", "{")).startswith(
        "New problems in a.json:\n  1:2 error: Expecting property name"
    )
    assert await bench.write("a.json", "{ ") == ""
    assert (await bench.write("a.sh", "if true; then\n")).startswith("New problems in a.sh:\n  2:1 error: syntax error")
    assert processes() == []


async def test_what_comes_late_stands_below_the_next_result(make: Callable) -> None:
    bench = make(seconds=0.2)
    assert await bench.write("a.say", "sleep 1\nbad\n") == ""
    for _ in range(100):
        await asyncio.sleep(0.1)
        if said := await bench.other():
            break
    assert said == NEW.format(line=2).replace("problems", "problems, found late,")
    assert await bench.other() == ""


async def test_what_comes_late_of_a_text_that_is_gone_is_not_told(make: Callable) -> None:
    bench = make(seconds=0.2)
    await bench.write("a.say", "sleep 0.5\nbad\n")
    await bench.write("a.say", "good\n")
    await asyncio.sleep(2)
    assert await bench.other() == ""


@pytest.mark.parametrize("how", ["junk", "gone"])
async def test_a_server_that_is_none_costs_nothing_but_its_own_words(make: Callable, how: str) -> None:
    bench = make(how)
    assert await bench.write("a.say", "bad\n") == ""
    assert await bench.write("a.say", "bad\nbad\n") == ""
    await asyncio.sleep(0.2)
    assert processes() == []


async def test_a_mute_server_does_not_hold_a_result(make: Callable) -> None:
    bench = make("mute", seconds=0.3)
    async with asyncio.timeout(5):
        assert await bench.write("a.say", "bad\n") == ""
    await bench.watch.rest(bench.session)
    assert processes() == []


async def test_a_server_that_died_is_started_anew(make: Callable) -> None:
    bench = make()
    assert await bench.write("a.say", "die\n") == ""
    assert await bench.write("a.say", "good\n") == ""
    assert await bench.write("a.say", "bad\n") == NEW.format(line=1)


@pytest.mark.parametrize("settings", [{"servers": "walled"}, {"servers": "never"}, {"off": ["speaking"]}])
async def test_where_nothing_bounds_commands_or_it_is_off_no_server_is_started(make: Callable, settings: dict) -> None:
    bench = make(**settings)
    assert await bench.write("a.say", "bad\n") == ""
    assert processes() == []


async def test_a_file_outside_of_the_folder_starts_none(make: Callable, tmp_path: Path) -> None:
    bench = make()
    assert await bench.write("../a.say", "bad\n") == ""
    assert processes() == []


async def test_servers_are_seen_and_stopped_by_a_person(make: Callable, tmp_path: Path) -> None:
    bench = make()
    (tmp_path / "work/deep").mkdir()
    (tmp_path / "work/deep/say.toml").touch()
    await bench.write("deep/a.say", "good\n")
    jobs = Running(lambda: bench.watch.servers)
    (job,) = await jobs.running(bench.session)
    assert (job.id, job.state) == ("speaking:deep", "idle")
    assert job.title == f"speaking in {tmp_path}/work/deep"
    assert not await jobs.stop(bench.session, "other")
    assert await jobs.stop(bench.session, job.id)
    assert await jobs.running(bench.session) == []
    assert processes() == []


async def test_a_server_that_nobody_uses_is_ended(make: Callable) -> None:
    bench = make(idle=1.0)
    await bench.write("a.say", "good\n")
    assert [job_id(one) for one in bench.watch.servers.running("s")] == ["speaking:work"]
    for _ in range(50):
        await asyncio.sleep(0.1)
        if not processes():
            break
    assert processes() == []


async def test_a_session_that_rests_leaves_nothing(make: Callable) -> None:
    bench = make(seconds=0.1)
    await bench.write("a.say", "sleep 30\nbad\n")
    await bench.watch.rest(bench.session)
    assert processes() == []
    assert len(asyncio.all_tasks()) == 1


async def test_a_turns_end_says_what_changed_and_what_did_not(make: Callable) -> None:
    bench = make()
    await bench.write("a.txt", "x")
    await bench.write("b.txt", "x", failed=True, tool="edit_file")
    await bench.write("c.txt", "x", failed=True)
    await bench.write("c.txt", "x")
    assert bench.watch.end(bench.session) is None
    assert bench.lines == ["Changed: a.txt, c.txt. Not changed: b.txt (edit_file failed)."]
    bench.watch.end(bench.session)
    bench.next_turn()
    await bench.other()
    bench.watch.end(bench.session)
    assert len(bench.lines) == 1


@pytest.mark.parametrize(
    ("where", "origin", "there"), [("terminal", "irc", 0), ("never", "cli", 0), ("always", "x", 1)]
)
async def test_where_it_says_so_is_a_setting(make: Callable, where: str, origin: str, there: int) -> None:
    from attrs import evolve

    bench = make(footer=where)
    bench.session = evolve(bench.session, origin=origin)
    await bench.write("a.txt", "x")
    bench.watch.end(bench.session)
    assert len(bench.lines) == there


async def test_a_turn_that_changed_code_and_ran_nothing_is_sent_on_once(make: Callable) -> None:
    bench = make(check="terminal")
    await bench.write("a.say", "bad\n")
    verdict = bench.watch.end(bench.session)
    assert verdict is not None
    assert verdict.outcome == "deny"
    assert verdict.reason.startswith("a.say changed, and nothing was run since.")
    assert "no bad here" in verdict.reason
    assert bench.watch.end(bench.session) is None


async def test_the_end_of_a_turn_repeats_no_words_from_outside(make: Callable) -> None:
    bench = make(check="terminal")
    bench.ledger.forget(bench.workspace.cwd)
    await bench.write("a.say", "bad\n")
    verdict = bench.watch.end(bench.session)
    assert verdict is not None
    assert "no bad here" not in verdict.reason
    assert "Problems in a.say that a language server told of: 1." in verdict.reason


async def test_prose_or_what_was_run_after_needs_no_check(make: Callable) -> None:
    bench = make(check="always")
    await bench.write("README.md", "x")
    await bench.write("a.py", "x = 1\n")
    await bench.other(runs=True)
    assert bench.watch.end(bench.session) is None
    await bench.write("a.py", "x = 2\n")
    assert bench.watch.end(bench.session) is not None
    bench.next_turn()
    await bench.write("a.css", "a {}")
    assert bench.watch.end(bench.session) is not None


async def test_what_is_told_at_the_end_is_what_is_left(make: Callable) -> None:
    bench = make(check="always")
    await bench.write("a.say", "bad\n")
    await bench.write("a.say", "good\n")
    await bench.other(runs=True)
    assert bench.watch.end(bench.session) is None
