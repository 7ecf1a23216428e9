"""What was said is found: by its owner, in any writing, whatever is typed."""

import asyncio
import itertools
import time
import unicodedata

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes_core.codec import clean
from hermes_core.errors import UnknownName, UserError
from hermes_core.store.store import Store
from hermes_core.types import Message, Principal, Reasoning, Session, Text, ToolCall, ToolResult

ME, OTHER = Principal(), Principal(person="other")
ID = "20260101_000000_aaaaaa"
LONG = ["x " * 4000, "가" * 5000, " ".join(f"w{n}" for n in range(900))]


@pytest.fixture(autouse=True)
async def session(store: Store) -> None:
    await store.sessions.create(Session(id=ID, origin="cli", owner=ME, title="Notes"))


async def add(store: Store, text: str, role: str = "user", session_id: str = ID, owner: Principal = ME) -> int:
    """Add a message; its number in the session."""
    await store.history.add(session_id, Message(role=role, parts=(Text(text=text),)))  # type: ignore[arg-type]
    return (await store.history.messages(owner, session_id, window=1))[-1][0]


async def found(store: Store, words: str, **options: object) -> list[int]:
    return [hit.message_id for hit in await store.history.search(ME, words, **options)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("우리나라 대한민국만세", "민국"),
        ("우리나라 대한민국만세", "대한민국"),
        ("우리나라 대한민국만세", "만세"),
        ("우리나라 대한민국만세", "나라 만세"),
        ("我喜欢吃苹果和香蕉", "苹果"),
        ("我喜欢吃苹果和香蕉", "香"),
        ("今日は東京タワーに行きました", "東京タワー"),
        ("今日は東京タワーに行きました", "行き"),
        ("ﾊﾝｶｸ", "ハンカク"),
        ("ｆｕｌｌ width", "full"),
        ("한글", "한글"),
        ("x한글y", "한글"),
        ("버그 bug고쳤다 v2", "bug 고쳤"),
        ("Crème BRÛLÉE", "creme brulee"),
        ("creme", "CRÈME"),
        ("call foo.bar_baz(qux-7)", "foo.bar_baz"),
        ("call foo.bar_baz(qux-7)", "qux-7"),
        ("one two three", '"two three"'),
        ("one two three", "three one"),
    ],
)
async def test_words_are_found_in_any_writing(store: Store, text: str, words: str) -> None:
    row = await add(store, text)
    await add(store, "something else entirely")
    assert await found(store, words) == [row]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("대한민국", "한국"),
        ("苹果", "果苹"),
        ("one two three", '"three two"'),
        ("party", "art"),
    ],
)
async def test_what_was_not_said_is_not_found(store: Store, text: str, words: str) -> None:
    await add(store, text)
    assert await found(store, words) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("They met in a support group", "support groups"),
        ("I went to Oslo by train", "when did I go to Oslo"),
        ("the studies are finished", "study"),
        ("He paid for the children's tickets", "who pays for a child"),
        ("my favourite colour is teal", "what is my favorite color?"),
        ("우리 회의는 금요일로 옮겼어", "회의가 언제였지?"),
        ("치과 예약은 목요일 세 시", "지난번에 말한 치과 예약을 알려줘"),
        ("会議は金曜日に延期されました", "会議はいつでしたか"),
        ("会议改到星期五了", "我们的会议是什么时候"),
    ],
)
async def test_what_was_said_in_other_forms_of_the_words_is_found(store: Store, text: str, words: str) -> None:
    row = await add(store, text)
    await add(store, "we drank tea and the weather was fine; 오늘 날씨가 좋네; 今日は天気がいい; 天气很好")
    assert (await found(store, words))[0] == row


async def test_what_holds_all_the_words_comes_before_what_holds_some(store: Store) -> None:
    rows = [await add(store, text) for text in ("one red kite", "a red and blue kite", "a blue one", "a kite", "none")]
    assert await found(store, "red blue kite") == [rows[1], rows[0], rows[2], rows[3]]
    for sort in ("newest", "oldest"):
        assert await found(store, "red blue kite", sort=sort) == [rows[1]]
    assert await found(store, "red zebra kite", sort="oldest") == [rows[0], rows[1]]


async def test_quoted_words_must_stand_as_they_are(store: Store) -> None:
    rows = [await add(store, text) for text in ("the support group met", "group support for all", "support groups")]
    assert await found(store, '"support group"') == [rows[0]]
    assert await found(store, 'met "support group" elsewhere') == [rows[0]]


async def test_an_answer_is_found_by_its_question(store: Store) -> None:
    await add(store, "Which budget do you have for the bathroom?", role="assistant")
    row = await add(store, "About nine thousand.")
    for number in range(5):
        await add(store, f"the weather on day {number}")
    assert row in (await found(store, "bathroom budget"))[:2]


async def test_an_answer_is_found_past_the_tools_that_were_asked_for_it(store: Store) -> None:
    await add(store, "Where is the blue teapot?")
    await store.history.add(ID, Message(role="assistant", parts=(ToolCall(id="c", name="look", arguments={}),)))
    result = ToolResult(call_id="c", name="look", parts=(Text(text="shelf"),))
    await store.history.add(ID, Message(role="tool", parts=(result,)))
    row = await add(store, "On the upper shelf.", role="assistant")
    assert row in await found(store, "where was the blue teapot")
    assert await found(store, "teapot") == [1], "who looks for one word wants what holds it"


async def test_what_was_said_at_a_named_time_comes_first(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    now, day = time.time(), 86_400.0
    rows = []
    for back in (70, 8, 1, 0):
        monkeypatch.setattr(time, "time", lambda at=now - back * day: at)
        rows.append(await add(store, f"the budget was {back} days old"))
    assert (await found(store, "budget yesterday"))[0] == rows[2]
    assert (await found(store, "what was the budget 10 weeks ago?"))[0] == rows[0]
    assert await found(store, "what did we say yesterday") == [rows[2]]
    assert await found(store, "어제") == [rows[2]]


async def test_of_what_was_said_twice_the_newest_comes_first(store: Store) -> None:
    old = await add(store, "my dentist is Dr. Kim")
    await add(store, "and the weather?")
    new = await add(store, "my dentist is Dr. Park now, says the dentist")
    assert (await found(store, "who is my dentist?"))[:2] == [new, old]
    assert await found(store, "my dentist", sort="oldest") == [old, new]


async def test_one_session_is_searched_where_it_is_named(store: Store) -> None:
    await store.sessions.create(Session(id="hidden", origin="child", owner=ME, parent=ID))
    await add(store, "the heron stands")
    row = await add(store, "the heron flies", session_id="hidden")
    await add(store, "the heron stands")
    hits = await store.history.search(ME, "heron", session_id="hidden")
    assert [(hit.session_id, hit.message_id) for hit in hits] == [("hidden", row)]
    assert await store.history.search(OTHER, "heron", session_id="hidden") == []


async def test_what_no_list_shows_hides_nothing(store: Store) -> None:
    row = await add(store, "the heron stands")
    await store.sessions.create(Session(id="child", origin="child", owner=ME, parent=ID))
    for _ in range(400):
        await add(store, "a heron flies", session_id="child")
    assert await found(store, "heron") == [row]


async def test_what_tools_said_comes_after_what_people_said(store: Store) -> None:
    row = await add(store, "the heron stands")
    result = ToolResult(call_id="c", name="grep", parts=(Text(text="the heron stands, heron, heron"),))
    await store.history.add(ID, Message(role="tool", parts=(result,)))
    hits = await store.history.search(ME, "heron")
    assert [(hit.message_id, list(hit.tools)) for hit in hits] == [(row, []), (row + 1, ["grep"])]


@pytest.mark.parametrize(
    "words",
    [*'*"^(', "", '""', "a OR b", "NOT x", "NEAR(a b)", "words:x", "a\x00b", "\ud800", "\ue0001", *LONG],
)
async def test_nothing_a_person_types_is_syntax(store: Store, words: str) -> None:
    await add(store, "plain text")
    assert await found(store, words) == []


async def test_a_word_of_the_query_language_is_a_word(store: Store) -> None:
    row = await add(store, "to be or not to be")
    assert await found(store, "or NOT") == [row]


async def test_calls_and_results_are_found_and_thoughts_are_not(store: Store) -> None:
    call = ToolCall(id="c", name="grep", arguments={"pattern": "needle"})
    asked = await store.history.add(ID, Message(role="assistant", parts=(Reasoning(text="secretly"), call)))
    result = ToolResult(call_id="c", name="grep", parts=(Text(text="haystack.txt"),))
    came = await store.history.add(ID, Message(role="tool", parts=(result,)))
    assert await found(store, "needle") == [asked]
    assert await found(store, "haystack") == [came]
    assert await found(store, "secretly") == []


async def test_newest_come_first_and_oldest_if_asked(store: Store) -> None:
    rows = [await add(store, f"word {n}") for n in range(5)]
    assert await found(store, "word", limit=3) == rows[:1:-1]
    assert await found(store, "word", limit=3, sort="oldest") == rows[:3]


async def test_nobody_finds_what_another_said(store: Store) -> None:
    mine = await add(store, "shared word")
    theirs = "20260101_000001_bbbbbb"
    await store.sessions.create(Session(id=theirs, origin="cli", owner=OTHER))
    for _ in range(30):
        await add(store, "shared word", session_id=theirs, owner=OTHER)
    assert await found(store, "word") == [mine]
    assert len(await store.history.search(OTHER, "word", limit=50)) == 30
    assert await store.history.search(Principal(person="stranger"), "word") == []


async def test_a_hit_says_where_it_is(store: Store) -> None:
    row = await add(store, "the quick brown fox")
    [hit] = await store.history.search(ME, "QUICK")
    assert (hit.session_id, hit.message_id, hit.title, hit.role, hit.origin) == (ID, row, "Notes", "user", "cli")
    assert hit.snippet == "the >>>quick<<< brown fox"


async def test_what_is_deleted_is_gone_and_the_rest_is_not(store: Store) -> None:
    other = "20260101_000001_bbbbbb"
    await store.sessions.create(Session(id=other, origin="cli", owner=ME))
    kept = await add(store, "word 한국어 café")
    for _ in range(3):
        await add(store, "word 한국어 café", session_id=other)
    await store.sessions.delete(other, ME)
    for words in ("word", "한국", "cafe"):
        assert await found(store, words) == [kept]
    again = await add(store, "fresh")  # may get the id of a row that is gone
    assert await found(store, "word") == [kept]
    assert await found(store, "fresh") == [again]


numbers = itertools.count(1)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(max_size=60), min_size=1, max_size=5), st.text(max_size=30))
def test_any_text_can_be_stored_searched_and_forgotten(store: Store, texts: list[str], words: str) -> None:
    async def run(session_id: str) -> None:
        await store.sessions.create(Session(id=session_id, origin="cli", owner=ME))
        rows = [await add(store, f"anchor {text}", session_id=session_id) for text in texts]
        await store.history.search(ME, words)
        assert await found(store, "anchor") == rows[::-1]
        for hit in await store.history.search(ME, texts[0]):
            assert hit.message_id in rows
        await store.sessions.delete(session_id, ME)
        assert await found(store, "anchor") == []

    asyncio.run(run(f"s{next(numbers)}"))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=60), st.integers(0, 60), st.integers(1, 12))
def test_a_part_between_spaces_is_found(store: Store, text: str, start: int, length: int) -> None:
    """Whatever words a text holds, any run of them is found in it."""

    async def run(session_id: str) -> None:
        await store.sessions.create(Session(id=session_id, origin="cli", owner=ME))
        row = await add(store, text, session_id=session_id)
        piece = " ".join(clean(text).split()[start : start + length])
        if any(c.isalnum() and not c.isspace() for c in unicodedata.normalize("NFKC", piece)):
            assert await found(store, piece) == [row]
        await store.sessions.delete(session_id, ME)

    asyncio.run(run(f"s{next(numbers)}"))


async def test_what_is_archived_is_found_but_in_no_list(store: Store) -> None:
    await add(store, "the heron stands")
    await store.sessions.archive(ME, ID)
    assert [hit.session_id for hit in await store.history.search(ME, "heron")] == [ID]
    origin = (await store.sessions.get(ID, ME)).origin
    for listed in ({}, {"origin": origin}):
        assert await store.sessions.list(ME, **listed) == []
        assert [row.session.id for row in await store.sessions.list(ME, children=True, **listed)] == [ID]
    await store.sessions.archive(ME, ID, back=True)
    assert [row.session.id for row in await store.sessions.list(ME)] == [ID]


@pytest.mark.parametrize("kept", [{"origin": "child", "parent": ID}, {"origin": "cron", "parent": "tool/cron"}])
async def test_what_no_list_shows_is_not_archived(store: Store, kept: dict[str, str]) -> None:
    await store.sessions.create(Session(id="other", owner=ME, **kept))
    for back in (False, True):
        with pytest.raises(UserError, match="No list shows other"):
            await store.sessions.archive(ME, "other", back=back)
    assert (await store.sessions.get("other", ME)).parent == kept["parent"]


async def test_nobody_archives_what_is_anothers(store: Store) -> None:
    with pytest.raises(UnknownName):
        await store.sessions.archive(Principal(person="other"), ID)
    assert (await store.sessions.get(ID, ME)).parent == ""


async def test_what_no_list_shows_is_found_only_by_who_asks_for_it(store: Store) -> None:
    await store.sessions.create(Session(id="child", origin="child", owner=ME, parent=ID))
    await store.sessions.create(Session(id="hidden", origin="cron", owner=ME, parent="tool/cron"))
    await add(store, "the heron stands")
    for session_id in ("child", "hidden"):
        await add(store, "the heron flies", session_id=session_id)
    for sort in ("newest", "oldest"):
        assert {hit.session_id for hit in await store.history.search(ME, "heron", sort=sort, limit=1)} == {ID}
    everything = await store.history.search(ME, "heron", children=True)
    assert {hit.session_id for hit in everything} == {ID, "child", "hidden"}
