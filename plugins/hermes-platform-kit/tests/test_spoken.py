"""What a host and a console say to each other comes out as it went in, however long, and nothing else is believed."""

import asyncio
import json

import pytest
from attrs import asdict
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.types import (
    Asked,
    Blob,
    Called,
    Ended,
    Event,
    Failed,
    Job,
    Noticed,
    Progress,
    Question,
    Returned,
    Said,
    Started,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    Used,
    Verdict,
)
from hermes_platform_kit.spoken import (
    event_of_json,
    event_to_json,
    heard,
    job_of_json,
    pieces,
    question_of_json,
    verdict_of_json,
    verdict_to_json,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
USAGE = st.builds(Usage, input=st.integers(0, 9), cost=st.floats(0, 9), priced=st.sampled_from(["", "actual"]))
CALL = st.builds(ToolCall, id=TEXT, name=TEXT, arguments=st.dictionaries(TEXT, TEXT | st.integers(0, 9)))
RESULT = st.builds(
    ToolResult, call_id=TEXT, name=TEXT, parts=st.lists(st.builds(Text, text=TEXT)).map(tuple), failed=st.booleans()
)
QUESTION = st.builds(
    Question,
    id=TEXT,
    kind=st.sampled_from(["approval", "choice", "text"]),
    subject=TEXT,
    choices=st.lists(TEXT).map(tuple),
    to=st.just("person"),
)
VERDICT = st.builds(
    Verdict, outcome=st.sampled_from(["allow", "deny"]), reason=TEXT, by=TEXT, choice=TEXT, effects=st.none()
).filter(lambda one: not one.hard)
EVENTS = st.one_of(
    st.builds(Started, session_id=TEXT, turn_id=TEXT, provider=TEXT, model=TEXT),
    st.builds(Said, text=TEXT),
    st.builds(Thinking, text=TEXT),
    st.builds(Progress, call_id=TEXT, text=TEXT),
    st.builds(Noticed, text=TEXT),
    st.builds(Failed, kind=TEXT, text=TEXT, hint=TEXT),
    st.builds(Used, usage=USAGE, context=st.integers(0, 9), window=st.integers(0, 9)),
    st.builds(Called, call=CALL),
    st.builds(Returned, call=CALL, result=RESULT, seconds=st.floats(0, 9)),
    st.builds(Asked, question=QUESTION, verdict=st.builds(Verdict, outcome=st.just("deny"), reason=TEXT)),
    st.builds(Ended, session_id=TEXT, turn_id=TEXT, answer=TEXT, reason=st.just("done"), usage=USAGE, note=TEXT),
)


@given(EVENTS)
def test_events_come_out_as_they_went_in(event: Event) -> None:
    told = event_to_json(event)
    assert told is not None
    assert event_of_json(json.loads(json.dumps(told))) == event


def test_an_event_that_is_not_known_here_is_left_out() -> None:
    assert event_of_json({"type": "Danced", "text": "x"}) is None


@given(QUESTION)
def test_questions_do_too(question: Question) -> None:
    assert question_of_json(json.loads(json.dumps(asdict(question)))) == question


def test_of_an_answer_no_more_is_believed_than_a_person_says() -> None:
    told = {**verdict_to_json(Verdict(outcome="allow", choice="once", by="owner")), "hard": True, "lasting": True}
    assert verdict_of_json(told) == Verdict(outcome="allow", choice="once", by="owner")
    assert verdict_of_json({"outcome": "whatever"}).outcome == "deny"


def test_a_picture_that_is_too_large_is_left_out_of_what_is_shown() -> None:
    large = Blob(media_type="image/png", data=b"x" * (3 << 20))
    call = ToolCall(id="1", name="look", arguments={})
    told = event_to_json(Returned(call=call, result=ToolResult(call_id="1", name="look", parts=(large,)), seconds=1.0))
    assert len(json.dumps(told)) < 1000


def test_a_job_comes_out_as_it_went_in() -> None:
    job = Job(id="1", kind="agent", title="looks", since=1.5, usage=Usage(input=3))
    assert job_of_json(json.loads(json.dumps(asdict(job)))) == job


async def _read(data: bytes, limit: int = 1 << 20) -> list[object]:
    reader = asyncio.StreamReader(limit=limit)
    reader.feed_data(data)
    reader.feed_eof()
    return [one async for one in heard(reader)]


@pytest.mark.parametrize("many", [0, 10, 199_990, 200_000, 700_000])
async def test_frames_are_whole_however_long(many: int) -> None:
    told = {"said": "ä" * many, "chat": "main"}
    sent = pieces(told)
    assert all(len(line) < 1 << 20 for line in sent.split(b"\n")), "a frame has at most a mebibyte"
    assert await _read(sent + b'{"leave":1}\n') == [told, {"leave": 1}]


@given(st.binary(max_size=60))
def test_what_is_no_frame_ends_it(data: bytes) -> None:
    for one in asyncio.run(_read(data + b"\n")):
        assert isinstance(one, dict)
