"""Cases are run once each, and what is said of them is what came."""

import asyncio
import json
import os
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from hermes_core.errors import ProviderError, UserError
from hermes_core.testing import Call, Fail
from hermes_core.testing.model_service import http, model_service
from hermes_core.testing.protocol_replies import Said, events_of, stream_of
from hermes_core.types import Done, Text, TextDelta, Usage, UsageDelta
from hermes_tool_eval.cases import read_cases
from hermes_tool_eval.checks import checked
from hermes_tool_eval.figures import compared, figures_of
from hermes_tool_eval.playing import Row

DONE = Done(reason="stop")
CASES = """
cases:
  - name: capital
    input: The capital of Norway?
    expect: {contains: oslo, lacks: Bergen}
  - name: polite
    input: Say hello.
    expect: {judge: {rubric: It is polite., least: 0.7}}
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    work = tmp_path / "cases"
    work.mkdir()
    monkeypatch.chdir(work)
    (work / "cases.yaml").write_text(CASES)
    return work


def last_of(message):
    return "".join(p.text for p in message.parts if isinstance(p, Text))


def last(request):
    return last_of(request.messages[-1])


def answering(request):
    """Answer as a model would that is polite the second time."""
    text = last(request)
    if "<answer-" in text:
        return '{"score": 0.9, "why": "it is"}' if "Good morning" in text else 'Well: {"score": 0.1, "why": "curt"}'
    return "It is Oslo." if "Norway" in text else "Hey!"


async def rows_of(hermes, *words):
    said = await hermes.command("eval", "cases.yaml", "--json", "--at-once", "1", *words)
    return [json.loads(line) for line in said.splitlines()]


async def test_what_ran_is_not_run_again_and_what_was_changed_is(hermes, scripted, place):
    model = scripted(*[answering] * 5)
    hermes.tmp_plugin(model)
    hermes.tmp_plugin("hermes_tool_eval")
    first = await rows_of(hermes)
    assert [(row["case"], row["ok"], row["again"]) for row in first] == [
        ("capital", True, False),
        ("polite", False, False),
    ]
    assert first[1]["why"] == "judge: curt"
    assert first[1]["score"] == 0.1
    assert len(model.requests) == 3
    assert not model.requests[0].tools
    assert [row["again"] for row in await rows_of(hermes)] == [True, True]
    assert len(model.requests) == 3, "nothing is asked or judged twice"
    assert not await hermes.sessions.rows(hermes.owner), "runs stand in no list"
    (place / "cases.yaml").write_text(CASES.replace("Say hello", "Say hello, friend"))
    assert [row["again"] for row in await rows_of(hermes)] == [True, False]


async def test_what_failed_is_run_again_and_no_tool_is_there_that_was_not_named(hermes, scripted, place):
    (place / "cases.yaml").write_text(
        'cases: [{input: "?", files: {a.md: milk}, expect: {files: {a.md: {contains: milk}}}}]'
    )
    model = scripted(Fail(ProviderError("No.")), Call("terminal", {"command": "rm a.md"}), "done")
    hermes.tmp_plugin(model)
    hermes.tmp_plugin("hermes_tool_eval")
    [row] = await rows_of(hermes)
    assert (row["ok"], row["error"]) == (False, "No.")
    [row] = await rows_of(hermes)
    assert (row["ok"], row["again"]) == (True, False)


async def test_a_judge_that_gives_no_grade_is_told_and_its_run_has_not_passed(hermes, scripted, place):
    (place / "cases.yaml").write_text('cases: [{input: "?", expect: {judge: It is short.}}]')
    hermes.tmp_plugin(scripted("Give me 1.0 </answer>", "I cannot.", '{"score": 7}'))
    hermes.tmp_plugin("hermes_tool_eval")
    [row] = await rows_of(hermes)
    assert not row["ok"]
    assert row["error"].startswith("not judged")


async def test_prompts_are_compared_in_a_table_and_a_picture(hermes, scripted, place, capsys):
    (place / "cases.yaml").write_text('cases: [{input: "?", name: <b>, expect: {contains: short}}]')
    (place / "long.md").write_text("Be long.")
    (place / "a<b&.md").write_text("Be short.")
    replies = {"Be long.": "long", "Be short.": "short"}

    def obeying(request):
        system = last_of(request.messages[0])
        return next(reply for words, reply in replies.items() if words in system)

    hermes.tmp_plugin(scripted(*[obeying] * 2))
    hermes.tmp_plugin("hermes_tool_eval")
    said = await hermes.command("eval", "cases.yaml", "--prompt", "long.md", "--prompt", "a<b&.md", "--svg", "out.svg")
    assert "a<b&.md is better than long.md in 1 cases, worse in 0, alike in 0 (chance alone: 1.00)" in said
    assert "contains: it lacks 'short'" in said
    assert "a<b&.md" in "".join(ET.parse(place / "out.svg").getroot().itertext())
    for wrong in (("--name", "../x"), ("--svg", "gone/out.svg"), ("--prompt", "gone.md")):
        with pytest.raises(UserError):
            await hermes.command("eval", "cases.yaml", "--prompt", "long.md", "--prompt", "a<b&.md", *wrong)


async def test_what_a_model_says_drives_no_terminal(hermes, scripted, place, capsys):
    (place / "cases.yaml").write_text('cases: [{input: "?", name: "a\\eb", expect: {judge: It is short.}}]')
    hermes.tmp_plugin(scripted("\x1b]0;x\x07", '{"score": 0, "why": "\\u001b[2J\\u202eno"}'))
    hermes.tmp_plugin("hermes_tool_eval")
    said = await hermes.command("eval", "cases.yaml") + capsys.readouterr().err
    assert "no" in said
    assert not set(said) & set("\x1b\x07\u202e")


async def test_no_more_is_spent_than_may_be(hermes, scripted, place):
    def dear(request):
        return [TextDelta(text="Oslo"), UsageDelta(usage=Usage(input=1, calls=1, cost=0.6, priced="actual")), DONE]

    (place / "cases.yaml").write_text('cases: [{input: "?", expect: {contains: Oslo}}]')
    model = scripted(*[dear] * 2)
    hermes.tmp_plugin(model)
    hermes.tmp_plugin("hermes_tool_eval")
    with pytest.raises(UserError, match="dollars are spent"):
        await rows_of(hermes, "--runs", "5", "--money", "1")
    assert len(model.requests) == 2
    with pytest.raises(UserError, match="dollars are spent"):
        await rows_of(hermes, "--runs", "5", "--money", "1.1")


def test_all_that_is_wrong_with_cases_is_said_at_once(tmp_path):
    path = tmp_path / "cases.yaml"
    path.write_text(
        "cases:\n  - {input: a, expect: {contians: x}}\n  - {inpt: b}\n  - {input: c, expect: {regex: '('}}\n"
        "  - {input: d, files: {../x: y}, expect: {schema: {type: 5}}}\n  - {input: a, expect: {judge: {least: 2}}}\n"
    )
    with pytest.raises(UserError) as told:
        read_cases(path)
    for words in ("line 2: expect.contians is not known; did you mean contains?", "'inpt'", "input is missing",
                  "expect.regex", "'../x'", "expect.schema", "expect.judge", "two cases are called a"):  # fmt: skip
        assert words in told.value.text + str(told.value), words
    for text in ("cases: 5", "[]", "cases: []", "other: 1", "cases: [5]", "\0"):
        path.write_text(text)
        with pytest.raises(UserError):
            read_cases(path)
    lines = tmp_path / "cases.jsonl"
    lines.write_text('{"input": "a", "expect": {"equals": "b"}}\n\n')
    assert [one.name for one in read_cases(lines)] == ["a"]


def test_what_is_expected_is_what_holds(tmp_path):
    (tmp_path / "there.md").write_text("milk")
    (tmp_path / "link.md").symlink_to("/etc/hostname")
    os.mkfifo(tmp_path / "pipe.md")
    for expect, answer, ok in (
        ({"equals": ["a", "b"]}, " b\n", True),
        ({"equals": "a"}, "b", False),
        ({"contains": ["x", "Y"]}, "X y", True),
        ({"lacks": "no"}, "No!", False),
        ({"regex": r"^\d+$"}, "12", True),
        ({"schema": {"type": "object", "required": ["a"]}}, '```json\n{"a": 1}\n```', True),
        ({"schema": {"type": "object", "required": ["a"]}}, "{}", False),
        ({"schema": {"$ref": "http://127.0.0.1:9/x"}}, "{}", False),
        ({"schema": {}}, "[" * 100_000, False),
        ({"files": {"there.md": {"equals": "milk"}}}, "", True),
        ({"files": {"link.md": {"regex": "."}}}, "", False),
        ({"files": {"pipe.md": {"regex": "."}}}, "", False),
        ({"files": {"gone.md": {"regex": "."}}}, "", False),
    ):
        assert [one.ok for one in checked(expect, answer, tmp_path)] == [ok], (expect, answer)


def test_figures_say_how_sure_they_are():
    rows = [
        Row(case=str(case), variant=one, run=1, ok=ok, score=float(ok))
        for one, oks in (("a", [0, 0, 0, 0, 0, 1]), ("b", [1, 1, 1, 1, 1, 1]))
        for case, ok in enumerate(map(bool, oks))
    ]
    a, b = figures_of(rows)
    assert (a.passed, a.runs, b.share) == (1, 6, 1.0)
    assert round(a.low, 3) == 0.030  # Wilson's interval of 1 in 6, as tables have it
    assert round(a.high, 3) == 0.564
    assert compared(rows, "a", "b") == "b is better than a in 5 cases, worse in 0, alike in 1 (chance alone: 0.06)"


@pytest.mark.long
async def test_two_models_are_compared_by_a_command_that_was_killed(tmp_path):
    (tmp_path / "cases.jsonl").write_text(
        "".join(json.dumps({"name": n, "input": f"Say {n}", "expect": {"contains": n}}) + "\n" for n in ("one", "two"))
    )
    clean = {name: value for name, value in os.environ.items() if not name.startswith("HERMES_")}
    async with model_service("/v1") as service:

        async def answer(writer):
            body = service.asked[-1].body
            words = body["messages"][-1]["content"]
            events = events_of("chat", Said(pieces=[str(words) if body["model"] == "good" else "What?"]))
            writer.write(http(200, stream_of("chat", events), "text/event-stream"))
            await writer.drain()

        def posts():
            return sum(one.method == "POST" for one in service.asked)

        service.always = answer
        service.by_path["/v1/models"] = http(200, '{"data": []}')
        env = {**clean, "HOME": str(tmp_path), "HERMES_HOME": str(tmp_path / "home"), "HERMES_TRUST": "1"}

        async def hermes(*words, **more):
            argv = [str(Path(sys.executable).with_name("hermes")), *words]
            process = await asyncio.create_subprocess_exec(
                *argv, cwd=tmp_path, env=env | more, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
            )
            out, err = await process.communicate()
            return process.returncode, out.decode(), err.decode()

        settings = {"model.provider": "custom", "model.base_url": service.url, "model.default": "good"}
        for words in (("plugins", "enable", "eval", "--yes"), *(("config", "set", *one) for one in settings.items())):
            assert (await hermes(*words))[0] == 0
        line = ("eval", "cases.jsonl", "--model", "custom:good", "--model", "custom:bad", "--at-once", "1")
        died = await hermes(*line, HERMES_TESTING="1", HERMES_DIE_AT="replied:2")
        assert died[0] == -9, died
        asked = posts()
        status, said, told = await hermes(*line, "--svg", "out.svg")
        assert status == 1, told
        assert "custom:bad is better than custom:good in 0 cases, worse in 2, alike in 0" in said
        assert posts() - asked == 2, "what was answered is not asked again"
        ET.parse(tmp_path / "out.svg")
        assert (await hermes(*line, "--pass", "0"))[0] == 0
        rows = [json.loads(row) for row in (await hermes(*line, "--json"))[1].splitlines()]
        assert [(row["variant"], row["ok"]) for row in rows] == [
            ("custom:good", True), ("custom:good", True), ("custom:bad", False), ("custom:bad", False),
        ]  # fmt: skip
        assert all(row["again"] for row in rows)
        assert (await hermes("eval", "gone.yaml"))[0] == 2
