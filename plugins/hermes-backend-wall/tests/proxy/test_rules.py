"""Rules are read in one way, and open what they say."""

import pytest

from hermes_backend_wall.proxy.rules import Rule, Rules
from hermes_core.errors import UserError


def opened(rule: str, host: str, port: int) -> bool:
    return Rules([Rule.read(rule)]).find(host, port) is not None


@pytest.mark.parametrize(
    ("rule", "host", "port", "expected"),
    [
        ("example.org", "example.org", 443, True),
        ("example.org", "example.org", 80, True),
        ("example.org", "example.org", 8443, False),
        ("example.org:8443", "example.org", 8443, True),
        ("example.org:8443", "example.org", 443, False),
        ("Example.ORG.", "example.org", 443, True),
        ("example.org", "a.example.org", 443, False),
        ("example.org", "badexample.org", 443, False),
        ("example.org", "example.org.evil.net", 443, False),
        ("*.example.org", "a.example.org", 443, True),
        ("*.example.org", "a.b.example.org", 443, True),
        ("*.example.org", "example.org", 443, False),
        ("*.example.org", "badexample.org", 443, False),
        ("bücher.example", "xn--bcher-kva.example", 443, True),
        ("93.184.216.34", "93.184.216.34", 443, True),
        ("[2606:2800:220:1::1]:8443", "2606:2800:220:1::1", 8443, True),
    ],
)
def test_a_rule_opens_what_it_says(rule: str, host: str, port: int, expected: bool) -> None:
    assert opened(rule, host, port) is expected


@pytest.mark.parametrize(
    "text",
    [
        "*",
        "*.org",
        "*.localhost",
        "a*.org",
        "*.93.184.216.34",
        "https://a.org",
        "a.org/x",
        "x@a.org",
        "a.org:0",
        "a.org:99999",
        "a..org",
        "0x7f.1",
        "127.1",
        "a.org:25",
        "metadata.google.internal",
        "ｅ.org",
        "",
        "a b",
    ],
)
def test_what_is_too_wide_or_no_host_is_no_rule(text: str) -> None:
    with pytest.raises(UserError):
        Rule.read(text)


def test_a_rule_for_the_persons_network_comes_first() -> None:
    rules = Rules([Rule.read("*.corp.example"), Rule.read("mirror.corp.example", private=True)])
    found = rules.find("mirror.corp.example", 443)
    assert found is not None
    assert found.private


@pytest.mark.parametrize("text", ["example.org", "*.example.org", "example.org:8443", "[2606:2800:220:1::1]:8443"])
def test_a_rule_is_written_as_it_is_read(text: str) -> None:
    assert str(Rule.read(text)) == text
