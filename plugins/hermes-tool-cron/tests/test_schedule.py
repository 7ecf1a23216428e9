"""What a person writes, and the instants that it means: beside an oracle that looks at every minute."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.errors import UserError
from hermes_tool_cron.schedule import local_zone, parse

from .oracle import instants

NOW = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
# Where the clocks change in 2026, and when: by an hour at night or at midnight, by half an hour, or never.
CHANGES = (
    ("Europe/Berlin", (3, 29)),
    ("Europe/Berlin", (10, 25)),
    ("America/New_York", (3, 8)),
    ("America/New_York", (11, 1)),
    ("America/Santiago", (4, 5)),
    ("America/Santiago", (9, 6)),
    ("Australia/Lord_Howe", (4, 5)),
    ("Australia/Lord_Howe", (10, 4)),
    ("Africa/Cairo", (4, 24)),
    ("America/Havana", (3, 8)),
    ("Asia/Kathmandu", (5, 5)),
    ("UTC", (2, 28)),
)


def field(low, high, few=4):
    """A field of a cron expression."""
    number = st.integers(low, high)
    span = st.tuples(number, number).map(lambda two: f"{min(two)}-{max(two)}")
    step = st.integers(1, max(2, high // 2))
    term = st.one_of(
        number.map(str),
        span,
        st.tuples(span, step).map(lambda two: f"{two[0]}/{two[1]}"),
    )
    some = st.lists(term, min_size=1, max_size=few).map(",".join)
    return st.one_of(st.just("*"), step.map(lambda one: f"*/{one}"), some)


expressions = st.tuples(field(0, 59), field(0, 23), field(1, 31, 2), field(1, 12, 2), field(0, 7, 2)).map(" ".join)
nightly = st.tuples(field(0, 59), field(0, 4), st.just("*"), st.just("*"), st.one_of(st.just("*"), field(0, 7, 2))).map(
    " ".join
)


def two_days_around(change):
    zone, (month, day) = change
    middle = datetime(2026, month, day, tzinfo=UTC).timestamp()
    return zone, middle - 86_400, middle + 2 * 86_400


@given(st.one_of(expressions, nightly), st.sampled_from(CHANGES))
def test_instants_are_those_of_the_oracle(expression, change):
    zone, start, end = two_days_around(change)
    try:
        schedule = parse(expression, zone, start)
    except UserError:
        assert not instants(expression, zone, start, end)
        return
    found, instant = [], start
    while (instant := schedule.after(instant)) and instant <= end:
        found.append(instant)
    assert found == instants(expression, zone, start, end)


@given(st.one_of(expressions, nightly), st.sampled_from(CHANGES), st.integers(0, 3 * 1440))
def test_what_comes_next_does_not_depend_on_where_one_begins(expression, change, minute):
    zone, start, end = two_days_around(change)
    try:
        schedule = parse(expression, zone, start)
    except UserError:
        return
    begin = start + 60 * minute
    expected = [one for one in instants(expression, zone, start, end) if one > begin]
    assert (schedule.after(begin) if expected else 0.0) == (expected[0] if expected else 0.0)


@given(st.integers(60, 10_000_000), st.floats(-1e6, 1e7))
def test_a_period_goes_on_from_where_it_began(seconds, later):
    schedule = parse(f"every {seconds}s", "UTC", NOW)
    found = schedule.after(NOW + later)
    assert found > NOW + later
    assert (found - NOW) % seconds == 0
    assert found == NOW + seconds or found - seconds <= NOW + later


@given(st.text(max_size=40))
def test_any_text_is_a_schedule_or_is_refused_with_words(text):
    try:
        found = parse(text, "UTC", NOW)
    except UserError:
        return
    assert found.after(NOW) > NOW


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("30m", 1800),
        ("in 2 hours", 7200),
        ("1h30m", 5400),
        ("1d", 86_400),
        ("every hour", 3600),
        ("every 90 minutes", 5400),
        ("every day at 9", 9 * 3600),
        ("every thursday at 07:30", 7 * 3600 + 1800),
        ("every weekend at 0:05", 2 * 86_400 + 300),
        ("every monday, friday at 8:00", 86_400 + 8 * 3600),
        ("every Mon and Fri at 8", 86_400 + 8 * 3600),
        ("@daily", 86_400),
        ("@hourly", 3600),
        ("0 8 * * mon-fri", 8 * 3600),
        ("2026-01-01T18:00", 18 * 3600),
        ("2026-01-01 18:00", 18 * 3600),
        ("2026-01-01T18:00+02:00", 16 * 3600),
    ],
)
def test_the_grammar(text, first):
    assert parse(text, "UTC", NOW).after(NOW) == NOW + first


# What is written, in which zone, at which instant, and the instants that it means; all are of 2026, and in UTC.
WRITTEN = (
    ("30m", "Europe/Berlin", "03-28T12:00", ("03-28T12:30",)),
    ("2h", "Europe/Berlin", "03-28T12:00", ("03-28T14:00",)),
    ("1d", "Europe/Berlin", "03-28T12:00", ("03-29T12:00",)),  # a delay is as long as it says, over a change too
    ("every 30m", "Europe/Berlin", "03-28T12:00", ("03-28T12:30", "03-28T13:00", "03-28T13:30")),
    ("0 9 * * *", "Europe/Berlin", "03-27T12:00", ("03-28T08:00", "03-29T07:00", "03-30T07:00")),
    ("30 2 * * *", "Europe/Berlin", "03-28T12:00", ("03-29T01:00", "03-30T00:30")),  # left out: right after
    ("*/30 2 * * *", "Europe/Berlin", "03-28T12:00", ("03-30T00:00", "03-30T00:30")),  # as it is shown: not at all
    ("30 2 * * *", "Europe/Berlin", "10-24T12:00", ("10-25T00:30", "10-26T01:30")),  # comes twice: once
    ("*/30 2 * * *", "Europe/Berlin", "10-24T12:00", ("10-25T00:00", "10-25T00:30", "10-25T01:00", "10-25T01:30")),
    ("0 9-17/4 * * 1-5", "America/New_York", "03-28T12:00", ("03-30T13:00", "03-30T17:00", "03-30T21:00")),
    ("0 8 1,15 * *", "Asia/Kathmandu", "03-28T12:00", ("04-01T02:15", "04-15T02:15")),
    ("30 23 * * *", "America/Santiago", "04-04T12:00", ("04-05T02:30", "04-06T03:30")),
    ("15 2 * * *", "Australia/Lord_Howe", "10-03T12:00", ("10-03T15:30", "10-04T15:15")),  # by half an hour
    ("2026-03-29T02:30", "Europe/Berlin", "03-28T12:00", ("03-29T01:30",)),
    ("2026-10-25T02:30", "Europe/Berlin", "03-28T12:00", ("10-25T00:30",)),
    ("2026-07-01T09:00", "America/Santiago", "03-28T12:00", ("07-01T13:00",)),
    ("2026-07-01T09:00+02:00", "America/Santiago", "03-28T12:00", ("07-01T07:00",)),
)


def test_what_is_written_means_these_instants():
    for text, zone, now, meant in WRITTEN:
        begin = datetime.fromisoformat(f"2026-{now}+00:00").timestamp()
        found = parse(text, zone, begin).following(begin, len(meant))
        shown = tuple(datetime.fromtimestamp(one, UTC).strftime("%m-%dT%H:%M") for one in found)
        assert shown == meant, (text, zone)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no schedule"),
        ("tomorrow", "cannot be read"),
        ("every 10s", "too often"),
        ("every 0m", "no time"),
        ("99999999d", "too far"),
        ("61 * * * *", "bad minute"),
        ("* * * *", "cannot be read"),
        ("0 0 30 2 *", "cannot be read"),
        ("2025-12-31", "is over"),
        ("2026-13-01", "no timestamp"),
        ("every blursday at 9", "no day"),
        ("every day at 25:00", "no such time"),
    ],
)
def test_what_is_no_schedule_is_refused(text, why):
    with pytest.raises(UserError, match=why):
        parse(text, "UTC", NOW)


def test_a_timestamp_without_a_zone_is_in_that_of_the_job():
    assert parse("2026-07-01T12:00", "Europe/Berlin", NOW).at == datetime(2026, 7, 1, 10, tzinfo=UTC).timestamp()


def test_a_zone_that_nobody_knows_is_refused():
    for zone in ("Mars/Olympus", "../etc/passwd", "", "Europe"):
        with pytest.raises(UserError, match="no time zone"):
            parse("30m", zone, NOW)


def test_the_zone_of_the_machine_has_a_name(monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assert local_zone() == "Asia/Tokyo"
    monkeypatch.setenv("TZ", "nonsense")
    parse("30m", local_zone(), NOW)


@pytest.mark.parametrize("said", ["1h\n2h", "every 1h\nevery 2h", "0 8 * *\n1-5", "1h\r2h", "1h\u20282h"])
def test_several_lines_are_no_schedule(said):
    with pytest.raises(UserError, match="one line"):
        parse(said, "UTC", NOW)
    assert parse("1h\n", "UTC", NOW).at == NOW + 3600
