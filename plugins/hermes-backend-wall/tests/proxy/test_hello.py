"""The name in the first message of TLS has one reading, in whatever pieces it comes."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_backend_wall.proxy.hello import HelloReader, NotHello

from .conftest import hello, in_records

REAL = hello("pypi.org")
NAMELESS = hello(None)


def read(data: bytes) -> str | None:
    return HelloReader().feed(data)


def built(*extensions: bytes, session: bytes = b"", suites: bytes = b"\x13\x01", after: bytes = b"") -> bytes:
    listed = b"".join(extensions)
    body = b"\x03\x03" + bytes(32) + bytes([len(session)]) + session + len(suites).to_bytes(2, "big") + suites
    body += b"\x01\x00" + len(listed).to_bytes(2, "big") + listed + after
    return in_records(b"\x01" + len(body).to_bytes(3, "big") + body, 16_384)


def extension(kind: int, content: bytes) -> bytes:
    return kind.to_bytes(2, "big") + len(content).to_bytes(2, "big") + content


def named(*names: bytes, kind: int = 0) -> bytes:
    listed = b"".join(bytes([kind]) + len(name).to_bytes(2, "big") + name for name in names)
    return extension(0, len(listed).to_bytes(2, "big") + listed)


@given(cuts=st.lists(st.integers(0, len(REAL)), max_size=12), longest=st.integers(9, 600))
def test_it_is_read_in_any_pieces_and_any_records(cuts: list[int], longest: int) -> None:
    data = in_records(REAL[5:], max(longest, len(REAL) // 60))
    reader, said, at = HelloReader(), None, 0
    for cut in [*sorted(cuts), len(data)]:
        assert said is None or at == cut
        said = reader.feed(data[at:cut]) if cut > at else said
        at = max(at, cut)
    assert said == "pypi.org"
    assert reader.raw == data


def test_what_follows_its_records_is_left_alone() -> None:
    reader = HelloReader()
    assert reader.feed(REAL + b"\x17\x03\x03\x00\x01x") == "pypi.org"
    assert reader.raw.endswith(b"x")


def test_a_message_without_a_name_says_so() -> None:
    assert read(NAMELESS) == ""
    assert read(built()) == ""


def test_the_case_of_a_name_does_not_matter() -> None:
    assert read(built(named(b"PyPI.org"))) == "pypi.org"


@given(data=st.binary(max_size=600))
def test_any_bytes_are_a_name_or_a_refusal(data: bytes) -> None:
    for bytes_ in (data, b"\x16\x03\x01" + data, REAL[:9] + data, built(data)):
        with suppress(NotHello):
            HelloReader().feed(bytes_)


@settings(max_examples=400)
@given(at=st.integers(0, len(REAL) - 1), value=st.integers(0, 255))
def test_a_changed_byte_never_makes_another_reading_of_the_name(at: int, value: int) -> None:
    changed = REAL[:at] + bytes([value]) + REAL[at + 1 :]
    try:
        name = read(changed)
    except NotHello:
        return
    assert name in (None, "") or name.encode() in changed.lower()


UNREADABLE = {
    "plain HTTP": b"GET / HTTP/1.1\r\n",
    "ssh": b"SSH-2.0-OpenSSH\r\n",
    "SSL 2": b"\x80\x2e\x01\x03\x01",
    "data before a handshake": b"\x17\x03\x03\x00\x05hello",
    "SSL 3.0's predecessor": b"\x16\x02\x00\x00\x05",
    "a version from nowhere": b"\x16\x03\x09\x00\x05",
    "an empty record": b"\x16\x03\x01\x00\x00",
    "a record too long": b"\x16\x03\x01\x41\x00",
    "a ServerHello": b"\x16\x03\x01\x00\x04\x02\x00\x00\x00",
    "a message too long": b"\x16\x03\x01\x00\x04\x01\x01\x00\x00",
    "crumbs of records": in_records(REAL[5:], 2),
    "a second message behind it": in_records(REAL[5:] + b"\x01", 16_384),
    "two lists of names": built(named(b"a.org"), named(b"b.org")),
    "two names": built(named(b"a.org", b"b.org")),
    "a name of another kind": built(named(b"a.org", kind=1)),
    "an empty name": built(named(b"")),
    "a final dot": built(named(b"a.org.")),
    "a null in it": built(named(b"a.org\x00b.org")),
    "no ASCII": built(named("ä.org".encode())),
    "a space in it": built(named(b"a.org b")),
    "a name too long": built(named(b"a" * 254)),
    "no list of names": built(extension(0, b"")),
    "a list too short": built(extension(0, b"\x00\x09\x00\x00\x05a.org")),
    "a hidden name": built(named(b"a.org"), extension(0xFFCE, b"x")),
    "an extension twice": built(extension(5, b"x"), extension(5, b"x")),
    "something behind the end": built(named(b"a.org"), after=b"\x00"),
    "a session too long": built(named(b"a.org"), session=bytes(33)),
    "half a cipher": built(named(b"a.org"), suites=b"\x13"),
    "no cipher": built(named(b"a.org"), suites=b""),
    "an extension cut off": built(named(b"a.org")[:-1]),
}


@pytest.mark.parametrize("data", UNREADABLE.values(), ids=UNREADABLE)
def test_what_has_no_or_two_readings_is_refused(data: bytes) -> None:
    with pytest.raises(NotHello):
        read(data)


def test_a_name_beside_an_encrypted_one_is_the_outer_one() -> None:
    assert read(built(named(b"outer.example"), extension(0xFE0D, bytes(64)))) == "outer.example"
