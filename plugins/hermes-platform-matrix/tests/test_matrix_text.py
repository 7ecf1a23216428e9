"""Text on its way out and in: markdown as HTML, sizes, threads, names, and what strangers may put into events."""

import json
from html.parser import HTMLParser

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hermes_core.errors import UserError
from hermes_core.types import Blob, Buttons, Chat, Message, Reasoning, Text
from hermes_platform_matrix.incoming import addresses, parts, read, replied_to, thread_of, without_name
from hermes_platform_matrix.markup import html_of, sound
from hermes_platform_matrix.media import safe_name, safe_type
from hermes_platform_matrix.outgoing import LIMIT, edited, file_content, related, text_contents, text_of

ALLOWED = {"p", "br", "strong", "em", "s", "del", "code", "pre", "a", "ol", "ul", "li", "blockquote", "hr"}
ALLOWED |= {"h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"}
NAUGHTY = st.text(alphabet=st.sampled_from(list("<>&\"'`*_~[]()!|#-=:/\\ \n\t1a.🦊\u202e\x00\ud83e")), max_size=60)


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag, attrs) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in ("br", "hr"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag) -> None:
        assert self.open
        assert self.open.pop() == tag


@given(st.one_of(NAUGHTY, st.text()))
@example("[x](javascript:alert(1))")
@example("![x](https://a.org/b.png) ![y](data:image/png;base64,AAAA)")
@example("<img src=x onerror=alert(1)><script>")
@example('```py" onload="x\ncode\n```')
@example("| a | b |\n|:-:|--:|\n| <b> | [l](x:y) |")
def test_html_holds_only_what_matrix_allows(text):
    html = html_of(sound(text))
    tags = Tags()
    tags.feed(html)
    tags.close()
    assert tags.open == []
    for tag, attributes in tags.seen:
        assert tag in ALLOWED, html
        assert set(attributes) <= {"a": {"href"}, "code": {"class"}, "ol": {"start"}}.get(tag, set()), html
        if href := attributes.get("href"):
            assert href.partition(":")[0].lower() in ("https", "http", "ftp", "mailto", "magnet"), html


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("plain words\nin two lines", ""),
        ("**bold** and `code`", "<p><strong>bold</strong> and <code>code</code></p>"),
        ("1 < 2 & **so**", "<p>1 &lt; 2 &amp; <strong>so</strong></p>"),
        ("a\nb *c*", "<p>a<br />\nb <em>c</em></p>"),
        ("```python\nx = 1\n```", '<pre><code class="language-python">x = 1\n</code></pre>'),
        ("3. three\n4. four", '<ol start="3">\n<li>three</li>\n<li>four</li>\n</ol>'),
        ("![a cat](https://e.org/c.png)", '<p><a href="https://e.org/c.png">a cat</a></p>'),
        ("![a cat](file:///etc/passwd) *x*", "<p>![a cat](file:///etc/passwd) <em>x</em></p>"),
        ("[x](tel:123) **y**", "<p>x <strong>y</strong></p>"),
        ("~~old~~", "<p><s>old</s></p>"),
    ],
)
def test_markdown_becomes_html(text, html):
    assert html_of(text) == html


@given(st.text(alphabet=st.characters(), max_size=300).map(lambda t: t * 60), st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_every_event_fits_and_no_character_is_lost(text, wide):
    text = sound((text + "🦊" * wide)[:LIMIT])
    contents = list(text_contents(text))
    assert "".join(c["body"] for c in contents) == text
    for content in contents:
        size = len(json.dumps(content, ensure_ascii=False).encode())
        assert size * 4 / 3 + 1500 < 65_536, "encrypted it does not fit into an event"


@pytest.mark.parametrize("text", ["x" * LIMIT, "**b** " * 2600, "狐" * 10_000])
def test_an_edit_fits_into_one_event(text):
    content = edited(list(text_contents(text)), "$e")
    assert content["m.new_content"]["body"] == text
    assert content["m.relates_to"] == {"rel_type": "m.replace", "event_id": "$e"}
    assert len(json.dumps(content, ensure_ascii=False).encode()) * 4 / 3 + 1500 < 65_536


def test_what_fits_into_no_event_is_refused():
    with pytest.raises(UserError, match="too long"):
        text_of(Message(role="assistant", parts=(Text(text="x" * (LIMIT + 1)),)))
    with pytest.raises(UserError, match="too long"):
        edited(list(text_contents("🦊" * LIMIT)), "$e")


def test_parts_that_are_not_text_are_left_out():
    parts_ = (Reasoning(text="hm"), Text(text="one"), Buttons(buttons=()), Text(text="two"))
    assert text_of(Message(role="assistant", parts=parts_)) == "one\n\ntwo"


def test_a_message_is_put_at_its_place():
    assert related({"body": "x"}, Chat("!r"), first=True, author="@a:s") == {"body": "x"}
    thread = related({"body": "x"}, Chat("!r", thread="$t"), first=True, author="")["m.relates_to"]
    assert thread == {
        "rel_type": "m.thread",
        "event_id": "$t",
        "is_falling_back": True,
        "m.in_reply_to": {"event_id": "$t"},
    }
    both = related({"body": "x"}, Chat("!r", thread="$t", reply_to="$m"), first=True, author="@a:s")
    assert both["m.relates_to"]["is_falling_back"] is False
    assert both["m.relates_to"]["m.in_reply_to"] == {"event_id": "$m"}
    assert both["m.mentions"] == {"user_ids": ["@a:s"]}
    later = related({"body": "x"}, Chat("!r", reply_to="$m"), first=False, author="@a:s")
    assert later == {"body": "x"}


REPLY = {"msgtype": "m.text", "body": "> <@a:s> old\n> lines\n\nnew\n> kept"}
REPLY["m.relates_to"] = {"m.in_reply_to": {"event_id": "$a"}}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"msgtype": "m.text", "body": "hello"}, "hello"),
        ({"msgtype": "m.emote", "body": "waves"}, "* waves"),
        ({"msgtype": "m.notice", "body": "beep"}, "beep"),
        ({"msgtype": "m.key.verification.request", "body": "verify me"}, None),
        ({"msgtype": "m.text"}, None),
        ({"msgtype": "m.text", "body": 7}, None),
        ({"msgtype": "m.location", "body": "here", "geo_uri": "geo:1,2"}, "here\ngeo:1,2"),
        ({"msgtype": "m.text", "body": "* x", "m.relates_to": {"rel_type": "m.replace", "event_id": "$a"}}, None),
        (REPLY, "new\n> kept"),
        ({"msgtype": "m.text", "body": "> a quotation of mine"}, "> a quotation of mine"),
        ({"msgtype": "m.text", "body": "half \ud83e nul \x00"}, "half ? nul \ufffd"),
    ],
)
def test_what_an_event_says(content, text):
    said = read("m.room.message", content)
    assert (said and said.text) == text


KEYS = ["msgtype", "body", "m.relates_to", "rel_type", "event_id", "m.in_reply_to", "m.mentions", "user_ids"]
KEYS += ["formatted_body", "filename", "info", "is_falling_back"]
WORDS = st.text(max_size=10) | st.sampled_from(["$a", "m.thread", "m.text", "m.replace"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["msgtype", "body", "m.relates_to", "m.mentions", "formatted_body"]), JSON))
def test_nothing_in_an_event_breaks_reading(content):
    said = read("m.room.message", content)
    for event_id in (thread_of(content), replied_to(content)):
        assert event_id == "" or event_id.startswith("$")
    if said:
        said.text.encode()
        addresses(content, said.text, "@bot:s", ("Bot", "bot"))
        assert parts(said, None, "")


@pytest.mark.parametrize(
    ("text", "content", "wanted"),
    [
        ("hi", {"m.mentions": {"user_ids": ["@bot:s"]}}, True),
        ("hi", {"m.mentions": {"user_ids": ["@other:s"]}}, False),
        ("I like Bot", {"m.mentions": {}}, False),
        ("Bot: do it", {"m.mentions": {}}, True),
        ("@bot do it", {"m.mentions": {}}, True),
        ("bottom: line", {"m.mentions": {}}, False),
        ("hey bot, do it", {}, True),
        ("robots are fine", {}, False),
        ("@bot:s what now", {}, True),
        ("x", {"formatted_body": '<a href="https://matrix.to/#/%40bot%3As">B</a> x'}, True),
        ("x", {"formatted_body": '<a href="https://matrix.to/#/@bottle:s">B</a> x'}, False),
    ],
)
def test_who_is_spoken_to(text, content, wanted):
    assert addresses(content, text, "@bot:s", ("Bot", "")) is wanted


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Bot: /status", "/status"),
        ("@Bot, go", "go"),
        ("@bot:s: go", "go"),
        ("@bot:s go", "go"),
        ("bot", "bot"),
        ("Bot:", "Bot:"),
        ("botany: x", "botany: x"),
    ],
)
def test_our_name_at_the_start_is_no_part_of_what_is_said(text, rest):
    assert without_name(text, "@bot:s", ("Bot",)) == rest


@given(
    st.one_of(st.text(), st.none(), st.integers()), st.one_of(st.text(), st.sampled_from(["image/png", "text/html; x"]))
)
@example("../../etc/passwd", "text/plain")
@example("..\\..\\x.exe", "")
@example(".bashrc", "text/plain")
@example("a\u202egnp.exe", "image/png")
@example("con\x00.txt", "text/plain")
def test_a_file_name_leads_nowhere_else(name, media_type):
    safe = safe_name(name, media_type)
    assert safe == safe.strip()
    assert not safe.startswith((".", "-"))
    assert not set(safe) & set("/\\\0\n\r")
    assert safe.isprintable()
    assert 3 <= len(safe.encode()) <= 100
    assert "." in safe
    assert safe_type(media_type).isascii()


def test_a_voice_message_is_one():
    content = file_content(Blob(media_type="audio/ogg; codecs=opus", data=b""), "n.ogg", 3, {"url": "mxc://s/x"})
    assert content["msgtype"] == "m.audio"
    assert content["org.matrix.msc3245.voice"] == {}
    assert "org.matrix.msc3245.voice" not in file_content(Blob(media_type="audio/mpeg", data=b""), "n.mp3", 3, {})
