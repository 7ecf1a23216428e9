"""A page of any length is read soon, whatever a careless pattern would look for in it."""

import pytest

from hermes_tool_kit.fetching import Fetched
from hermes_tool_web.readable import readable


@pytest.mark.parametrize("unit", ["](data:", "<a style", "<title>", "<!--", "&#", "<"])
def test_a_page_of_nothing_but_beginnings_is_read_soon(unit):
    for kind in ("text/html", "text/plain"):
        body = (unit * ((500_000 if unit == "](data:" else 50_000) // len(unit))).encode()
        readable(Fetched("http://a.example/", 200, {"content-type": kind}, body), links=True)


def test_an_address_that_runs_something_is_taken_out_and_half_a_one_stays():
    page = b"<p>[a](javascript:alert(1) b</p><p>](data:never closed</p>"
    text = readable(Fetched("http://a.example/", 200, {"content-type": "text/html"}, page), links=True).text
    assert "javascript:" not in text
    assert "data:never closed" in text
