"""Every way to write a URL: `urls.jsonl` says what becomes of each and why."""

import json
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.context import UrlRules
from hermes_core.errors import OutOfReach
from hermes_tool_kit.addresses import check_url, refused_address

ROWS = [json.loads(line) for line in (Path(__file__).parent / "urls.jsonl").read_text().splitlines()]
OPEN, PRIVATE = UrlRules(), UrlRules(allow_private=True)


def test_a_url_is_read_one_way_or_refused(subtests):
    for row in ROWS:
        with subtests.test(row["reason"], url=ascii(row["url"])[:50]):
            read_one_way_or_refused(row)


def read_one_way_or_refused(row):
    if row["expect"] == "open":
        assert check_url(row["url"], OPEN).url == row["as"]
        assert check_url(row["as"], OPEN).url == row["as"]
        return
    with pytest.raises(OutOfReach) as refused:
        check_url(row["url"], OPEN)
    assert str(refused.value).isprintable() or "\n" in str(refused.value)
    if row["expect"] == "private":
        assert "allow_private_urls" in refused.value.hint
        check_url(row["url"], PRIVATE)
    else:
        assert "allow_private_urls" not in refused.value.hint
        with pytest.raises(OutOfReach):
            check_url(row["url"], PRIVATE)


def test_the_table_is_large_enough_to_mean_something():
    assert len(ROWS) >= 150
    assert {row["expect"] for row in ROWS} == {"open", "private", "refuse"}


PIECES = st.sampled_from(
    [
        *(
            "http://",
            "https://",
            "HTTP:",
            "//",
            "/",
            "\\",
            "@",
            ":",
            ":80",
            "[",
            "]",
            "%2e",
            "%00",
            ".",
            "..",
            "#",
            "?",
        ),
        *("127.0.0.1", "0x7f", "0177", "2130706433", "::1", "::ffff:", "169.254.169.254", "localhost", "example.org"),
        *("metadata.google.internal", "１", "。", "ß", "\u200b", "\t", "\n", " ", "a", "1", "-", "_", "xn--", "%25"),
    ]
)


@given(st.lists(PIECES, max_size=8).map("".join) | st.text(max_size=40).map("http://{}".format))
def test_whatever_is_written_is_read_or_refused_and_read_the_same_again(url):
    try:
        target = check_url(url, OPEN)
    except OutOfReach:
        return
    assert target.url.isascii()
    assert target.url.isprintable()
    assert check_url(target.url, OPEN) == target
    assert "@" not in target.authority


@given(st.integers(0, 2**32 - 1).map(IPv4Address))
def test_what_python_calls_private_is_refused(address):
    if not address.is_global or address.is_multicast:
        assert refused_address(address)
    if refused_address(address, allow_private=True):
        assert refused_address(address)


@given(
    st.sampled_from(["::ffff:0:0", "64:ff9b::", "::", "::ffff:0:0:0", "2001:4860::5efe:0:0", "2002::", "2001::"]),
    st.sampled_from(["127.0.0.1", "10.1.2.3", "169.254.169.254", "192.168.0.1", "100.64.1.1", "224.0.0.1", "0.0.0.0"]),
)
def test_no_forbidden_address_hides_in_another_form(carrier, inner):
    whole = IPv6Address(int(IPv6Address(carrier)) | int(IPv4Address(inner)))
    assert refused_address(whole)


@given(st.integers(0, 2**128 - 1).map(IPv6Address))
def test_only_addresses_given_to_the_public_are_open(address):
    if not refused_address(address):
        mapped = address.ipv4_mapped or (IPv4Address(int(address) & 0xFFFFFFFF) if int(address) >> 125 != 1 else None)
        assert mapped.is_global if mapped else address.is_global


@pytest.mark.parametrize(
    ("pattern", "url", "blocked"),
    [
        ("example.org", "https://example.org/", True),
        ("example.org", "https://www.example.org/", True),
        ("example.org", "https://myexample.org/", False),
        ("*.example.org", "https://example.org/", False),
        ("*.example.org", "https://a.b.example.org/", True),
        ("Example.ORG", "https://EXAMPLE.org./", True),
        ("https://example.org", "https://example.org/", True),
        ("ads?.example.org", "https://ads1.example.org/", True),
        ("example.org/private/*", "https://example.org/private/a", True),
        ("example.org/private/*", "https://example.org/%70rivate/a", True),
        ("example.org/private/*", "https://example.org/x/../private/a", True),
        ("example.org/private/*", "https://example.org//private/a", True),
        ("example.org/private/*", "https://example.org/./private/a", True),
        ("example.org/private/*", "https://example.org/public", False),
        ("example.org/private", "https://example.org/private?x=1", True),
        ("8.8.8.8", "https://8.8.8.8/", True),
        ("", "https://example.org/", False),
    ],
)
def test_blocked_sites_are_globs_on_host_and_path(pattern, url, blocked):
    rules = UrlRules(blocked=(pattern,))
    if not blocked:
        assert check_url(url, rules)
        return
    with pytest.raises(OutOfReach, match=r"blocked_sites"):
        check_url(url, rules)


@pytest.mark.parametrize("url", ["?k=s3cret/v", "?k=s3cret%2Fv", "?k=s3cret%252fv", "s3cret/v", "#s3cret/v"])
def test_a_url_that_carries_a_secret_is_refused_without_showing_it(url):
    with pytest.raises(OutOfReach, match="secret") as refused:
        check_url(f"https://example.org/{url}", UrlRules(is_secret=lambda text: "s3cret/v" in text))
    assert "s3cret" not in str(refused.value)
