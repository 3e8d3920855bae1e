"""Laws of time spans, clock changes, hostile input, and the one rule for naive values."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindsight_core.errors import InvalidInput
from hindsight_core.text.times import TimeSpan, as_aware, find_times, reading, window_of

NEW_YORK = ZoneInfo("America/New_York")
ZONES = [
    UTC,
    NEW_YORK,
    ZoneInfo("Asia/Shanghai"),
    ZoneInfo("Australia/Lord_Howe"),
    ZoneInfo("America/Havana"),
]

moments = st.builds(
    lambda moment, zone: moment.replace(tzinfo=UTC).astimezone(zone),
    st.datetimes(datetime(1950, 1, 1), datetime(2099, 1, 1)),
    st.sampled_from(ZONES),
)
VOCABULARY = """
    last next this in on at since before after until between and from to the of ago later days
    weeks months years two a few half may march Monday Sunday weekend spring Christmas yesterday
    tonight morning 3pm 15:30 5 29 31 2023 2023-02-29 9999 0 10000 early late end Q3 century , . -
    上 下 这 个 周 三 日 月 年 号 点 半 前 后 内 来 今天 去年 的 从 到 之前 以来 2月 30日 世纪 90年代 国庆 凌晨 最近 十 廿 几 （ ） 12 24点 每
    二〇二三年 9999年
"""
WORDS = VOCABULARY.split()
sentences = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join) | st.lists(
    st.sampled_from(WORDS), max_size=12
).map("".join)


def instants(span: TimeSpan) -> tuple[datetime | None, datetime | None]:
    return (span.start and span.start.astimezone(UTC), span.end and span.end.astimezone(UTC))


@given(sentences | st.text(max_size=60), moments)
@settings(max_examples=300, deadline=None)
def test_spans_are_ordered_disjoint_half_open_and_quote_the_text(text: str, now: datetime) -> None:
    reached = 0
    for span in find_times(text, now):
        begin, end = span.position
        assert reached <= begin < end <= len(text)
        assert span.text == text[begin:end]
        reached = end
        start, stop = instants(span)
        assert start is not None or stop is not None
        assert start is None or stop is None or start < stop
        assert all(bound is None or bound.tzinfo is now.tzinfo for bound in (span.start, span.end))


@given(sentences, moments)
@settings(max_examples=200, deadline=None)
def test_the_window_lies_in_the_text(text: str, now: datetime) -> None:
    window = window_of(text, now)
    if window is not None:
        assert window.text == text[slice(*window.position)]
        assert window.start is None or window.end is None or window.start < window.end


WEEKLY = [
    "yesterday", "last week", "on Monday", "next Friday at 3pm", "3 days ago", "two weeks ago", "in the last 3 days",
    "this weekend", "last night", "recently", "昨天", "上周三下午三点", "这周末", "三天前", "最近三天", "下周", "今晚八点",
]  # fmt: skip


@given(st.sampled_from(WEEKLY), moments, st.integers(-500, 500))
@settings(deadline=None)
def test_relative_windows_move_with_whole_weeks(text: str, now: datetime, weeks: int) -> None:
    utc = now.astimezone(UTC)
    [before], [after] = find_times(text, utc), find_times(text, utc + timedelta(weeks=weeks))
    assert before.start is not None
    assert before.end is not None
    moved = timedelta(weeks=weeks)
    assert (after.start, after.end) == (before.start + moved, before.end + moved)


@given(
    sentences,
    st.sampled_from(ZONES),
    st.lists(st.datetimes(datetime(1990, 1, 1), datetime(2060, 1, 1)), min_size=2, max_size=2),
)
@settings(max_examples=200, deadline=None)
def test_explicit_times_do_not_depend_on_the_reference(
    text: str, zone: ZoneInfo, nows: list[datetime]
) -> None:
    one, other = ({s.position: s for s in find_times(text, now.replace(tzinfo=zone))} for now in nows)
    for position, span in one.items():
        if span.explicit and position in other and other[position].explicit:
            assert instants(span) == instants(other[position])


# The clocks of New York: 10 March 2024 has 23 hours, 3 November 2024 has 25.
@pytest.mark.parametrize(
    ("now", "text", "start", "end"),
    [
        ("2024-03-11T12:00-04:00", "yesterday", "2024-03-10T00:00-05:00", "2024-03-11T00:00-04:00"),
        ("2024-11-04T12:00-05:00", "yesterday", "2024-11-03T00:00-04:00", "2024-11-04T00:00-05:00"),
        ("2024-11-04T12:00-05:00", "昨天", "2024-11-03T00:00-04:00", "2024-11-04T00:00-05:00"),
        ("2024-03-12T12:00-04:00", "last week", "2024-03-04T00:00-05:00", "2024-03-11T00:00-04:00"),
        # Hours are real hours: two hours before 03:30 summer time is 00:30, since 02:xx did not exist.
        ("2024-03-10T03:30-04:00", "2 hours ago", "2024-03-10T00:00-05:00", "2024-03-10T01:00-05:00"),
        ("2024-11-03T01:30-05:00", "1 hour ago", "2024-11-03T01:00-04:00", "2024-11-03T02:00-04:00"),
        # A time the clock skips is the instant of the skip and after.
        ("2024-03-11T12:00-04:00", "yesterday at 2:30 am", "2024-03-10T03:30-04:00", "2024-03-10T03:31-04:00"),
    ],
)  # fmt: skip
def test_days_are_those_of_the_zone(now: str, text: str, start: str, end: str) -> None:
    [span] = find_times(text, datetime.fromisoformat(now).astimezone(NEW_YORK))
    expected = tuple(datetime.fromisoformat(bound).astimezone(UTC) for bound in (start, end))
    assert instants(span) == expected


def test_the_same_words_mean_other_days_in_other_zones() -> None:
    moment = datetime(2024, 5, 15, 23, 0, tzinfo=UTC)
    [in_utc], [in_shanghai] = find_times("today", moment), find_times("today", moment.astimezone(ZONES[2]))
    assert in_utc.start == datetime(2024, 5, 15, tzinfo=UTC)
    assert in_shanghai.start == datetime(2024, 5, 15, 16, tzinfo=UTC)


@pytest.mark.parametrize(
    "text", ["10000年", "9999年底", "in 9999 years", "9999 centuries ago", "0000-01-01", "0001-01-01"]
)
@pytest.mark.parametrize("now", [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)])
def test_what_lies_beyond_the_calendar_is_no_time(text: str, now: datetime) -> None:
    for span in find_times(text, now):
        assert span.start is None or span.end is None or span.start < span.end


def seconds_for(text: str) -> float:
    now = datetime(2024, 5, 15, 10, 0, tzinfo=UTC)
    best = float("inf")
    for _ in range(3):
        started = time.thread_time()
        find_times(text, now)
        best = min(best, time.thread_time() - started)
    return best


@pytest.mark.parametrize(
    "piece",
    ["a", "1", "一", "半", "个", "the ", "2023-", "1:", "in the ", "last ", "from Monday to ", "一年", "上上", "3月", "twenty-", "\n ", "of the last week ", "3点 ", "April ", "Sun two      "],
)  # fmt: skip
def test_cost_grows_in_line_with_length(piece: str) -> None:
    short, long = (seconds_for(piece * (size // len(piece))) for size in (1_000, 8_000))
    # Eight times the text; quadratic cost would be 64 times. The floor keeps noise out of tiny numbers.
    assert long < 24 * max(short, 0.001)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2023-05-01", datetime(2023, 5, 1, tzinfo=UTC)),
        ("2023-5-1", datetime(2023, 5, 1, tzinfo=UTC)),
        ("2023/05/01 09:30", datetime(2023, 5, 1, 9, 30, tzinfo=UTC)),
        (" 2023-05-01T09:30:00Z ", datetime(2023, 5, 1, 9, 30, tzinfo=UTC)),
        ("2023-05-01T09:30+08:00", datetime(2023, 5, 1, 1, 30, tzinfo=UTC)),
        (date(2023, 5, 1), datetime(2023, 5, 1, tzinfo=UTC)),
        (datetime(2023, 5, 1, 9), datetime(2023, 5, 1, 9, tzinfo=UTC)),
    ],
)
def test_a_naive_value_is_read_as_utc(value: datetime | date | str, expected: datetime) -> None:
    assert as_aware(value) == expected
    assert as_aware(value).utcoffset() is not None


def test_an_aware_value_keeps_its_zone_and_a_default_zone_may_be_named() -> None:
    zone = timezone(timedelta(hours=8))
    assert as_aware(datetime(2023, 5, 1, tzinfo=zone)).tzinfo is zone
    assert as_aware("2023-05-01", zone) == datetime(2023, 5, 1, tzinfo=zone)


@pytest.mark.parametrize("value", ["", "soon", "2023-13-01", "2023-02-30", "20:15", 5, None, True])
def test_what_is_no_time_is_refused_with_the_remedy(value: object) -> None:
    with pytest.raises(InvalidInput, match="ISO 8601"):
        as_aware(value)  # type: ignore[arg-type]


def test_a_naive_reference_is_refused() -> None:
    for ask in (find_times, window_of):
        with pytest.raises(InvalidInput, match="as_aware"):
            ask("yesterday", datetime(2024, 5, 15))


_LATIN = [word for word in WORDS if word.isascii()]


@given(st.lists(st.sampled_from(_LATIN), max_size=14), st.sampled_from(["", " "]))
def test_a_text_without_chinese_needs_no_chinese_rule(words, glue):
    text = glue.join(words)
    few, all_ = (
        [(atom.begin, atom.end, atom.grain, atom.cycle, atom.which) for atom in reading._scanner(plain)(text)]
        for plain in (True, False)
    )
    assert few == all_
