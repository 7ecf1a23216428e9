"""Feeds as entries: RSS, Atom, JSON; long ones, broken ones, and those made to break a reader."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tool_web.feeds import looks_like_feed, read_feed

RSS = """<?xml version="1.0"?><rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"
xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>News &amp; more</title><link>https://a.example/</link>
<image><title>Logo</title><url>https://a.example/i.png</url></image>
<item><title>One</title><link>https://a.example/1</link><pubDate>Mon, 05 Jan 2026 10:00:00 GMT</pubDate>
<dc:creator>Ada</dc:creator><description>short</description>
<content:encoded><![CDATA[<p>The <b>whole</b> text.</p>]]></content:encoded></item>
<item><title>Two</title><guid isPermaLink="false">x-2</guid><guid>https://a.example/2</guid></item>
</channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Atom</title><link rel="self" href="https://b.example/feed"/>
<entry><title type="html">One</title><link rel="edit" href="https://b.example/edit"/><link href="https://b.example/1"/>
<id>tag:b.example,2026:1</id><updated>2026-01-05T10:00:00Z</updated><author><name>Bob</name></author>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>In <em>parts</em>.</p></div></content>
</entry></feed>"""
RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
<channel><title>Old</title></channel><item><title>One</title><link>https://c.example/1</link></item></rdf:RDF>"""
JSON_FEED = json.dumps(
    {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "JSON",
        "items": [
            {
                "id": "1",
                "url": "https://d.example/1",
                "title": "One",
                "content_html": "<p>Text",
                "date_published": "2026-01-05",
                "authors": [{"name": "Eve"}],
            },
            {"id": 2, "title": None, "authors": [], "content_text": "no title"},
        ],
    }
)


@pytest.mark.parametrize(
    ("text", "title", "first", "count"),
    [
        (RSS, "News & more", ("One", "https://a.example/1", "Mon, 05 Jan 2026 10:00:00 GMT", "Ada"), 2),
        (ATOM, "Atom", ("One", "https://b.example/1", "2026-01-05T10:00:00Z", "Bob"), 1),
        (RDF, "Old", ("One", "https://c.example/1", "", ""), 1),
        (JSON_FEED, "JSON", ("One", "https://d.example/1", "2026-01-05", "Eve"), 2),
    ],
    ids=["rss", "atom", "rdf", "json"],
)
def test_each_kind_is_read(text, title, first, count):
    feed = read_feed(text.encode())
    assert (feed.title, tuple(feed.entries[0][:4]), feed.count) == (title, first, count)
    assert looks_like_feed("", text) or looks_like_feed("application/json", text)


def test_the_whole_text_is_taken_before_the_short_one_and_markup_in_it_stays_whole():
    assert read_feed(RSS.encode()).entries[0].text == "<p>The <b>whole</b> text.</p>"
    assert read_feed(RSS.encode()).entries[1].url == "https://a.example/2"
    assert read_feed(ATOM.encode()).entries[0].text == "In parts."


def test_of_a_long_feed_the_first_entries_are_kept_and_all_are_counted():
    items = "".join(f"<item><title>{n}</title></item>" for n in range(10_000))
    feed = read_feed(f"<rss><channel>{items}</channel></rss>".encode())
    assert feed.count == 10_000
    assert [entry.title for entry in feed.entries] == [str(n) for n in range(50)]


def test_what_stands_before_the_break_is_read():
    feed = read_feed(RSS[: RSS.index("<item><title>Two")].encode())
    assert [entry.title for entry in feed.entries] == ["One"]
    assert feed.broken


BOMB = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f'<!DOCTYPE x [<!ENTITY l0 "ha">{BOMB}]><rss><item><title>&l9;</title></item></rss>', "entities"),
        (
            '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><rss><item><title>&e;</title></item></rss>',
            "entities",
        ),
        ('<!DOCTYPE x SYSTEM "http://evil.example/x.dtd"><html/>', "no feed"),
        ("<html><item2/></html>", "no feed"),
        ("nothing of the kind", "syntax error"),
        ('{"items": 3}', "no items"),
        ("{" * 100_000, "Expecting|nested"),
        ('{"items":' + "[" * 100_000, "Expecting|nested"),
        ("", "no element"),
    ],
    ids=range(9),
)
def test_what_is_none_or_means_ill_is_refused(text, said):
    with pytest.raises(ValueError, match=said):
        read_feed(text.encode())


@pytest.mark.parametrize("depth", [10_000, 100_000])
def test_a_deep_one_ends(depth):
    with suppress(ValueError):
        read_feed(f"<rss><item><title>{'<b>' * depth}x".encode())


@given(st.binary(max_size=300) | st.text(alphabet="<>/itemrslank=&;\"' {}[]:", max_size=300).map(str.encode))
def test_any_bytes_are_a_feed_or_an_error(data):
    with suppress(ValueError):
        assert read_feed(data).count >= 0
    with suppress(ValueError):
        assert read_feed(b"<rss><item>" + data).count >= 0
