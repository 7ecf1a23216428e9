"""`web_fetch` beyond one page of HTML: feeds, documents, several addresses, pages that did not change, sources."""

import asyncio
import io
import zipfile
from pathlib import Path

import pytest
from attrs import evolve

from hermes_core.context import UrlRules
from hermes_core.errors import ToolError
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import FakeToolContext, FakeWorkspace, plugin_context
from hermes_core.types import Principal, Session
from hermes_tool_web import register_slash_commands, register_tools
from hermes_tool_web.config import Config
from hermes_tool_web.tool import Fetch

from .test_feeds import ATOM, BOMB, JSON_FEED, RSS

MANIFEST = read_manifest(Path(__file__).parents[1] / "src/hermes_tool_web/hermes-plugin.toml")


@pytest.fixture
def ctx(tmp_path):
    made = plugin_context(MANIFEST, tmp_path / "home", config=Config(crawl_pause=0))
    return evolve(made, urls=UrlRules(allow_private=True))


@pytest.fixture
def fetch(ctx, tmp_path, site):
    tool = register_tools(ctx)[0]

    async def do(url="/", *, session=None, **more):
        context = FakeToolContext(FakeWorkspace(folder=tmp_path), **({"session": session} if session else {}))
        urls = " ".join(one if "://" in one else site.url + one for one in url.split())
        return await tool.run(context, Fetch(url=urls, **more))

    return do


@pytest.mark.parametrize(
    ("kind", "body"),
    [("application/rss+xml", RSS), ("text/xml", RSS), ("text/plain", ATOM), ("application/json", JSON_FEED)],
)
async def test_a_feed_is_a_list_of_its_entries(fetch, site, kind, body):
    site.pages["/"] = (kind, body.encode())
    told = await fetch()
    assert "\n## One\n" in told
    assert "<b>" not in told
    assert ".example/1\n" in told


async def test_a_long_feed_says_how_long_it_is(fetch, site):
    items = "".join(f"<item><title>{n}</title></item>" for n in range(10_000))
    site.pages["/"] = ("application/rss+xml", f"<rss><channel>{items}</channel></rss>".encode())
    told = await fetch()
    assert "[The first 50 of 10,000 entries.]" in told
    assert "## 49" in told
    assert "## 50" not in told


async def test_a_feed_made_to_grow_is_not_read_as_one(fetch, site):
    bomb = f'<!DOCTYPE x [<!ENTITY l0 "ha">{BOMB}]><rss><item><title>&l9;</title></item></rss>'
    site.pages["/"] = ("application/rss+xml", bomb.encode())
    told = await fetch()
    assert "[This feed was not read as one: it defines entities" in told
    assert "haha" not in told


def docx(text: str) -> bytes:
    body = f'<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>{text}</w:body>'
    parts = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default '
        'Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override '
        'PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml'
        '.document.main+xml"/></Types>',
        "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        "<Relationship "
        'Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
        'Target="word/document.xml"/></Relationships>',
        "word/document.xml": f'<?xml version="1.0"?>{body}</w:document>',
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return out.getvalue()


def pdf(text: str) -> bytes:
    stream = f"BT /F1 24 Tf 72 720 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
            b"/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>"
        ),
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
    ]
    out, places = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    at = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, at)


WORDS = "<w:p><w:r><w:t>Words of a letter</w:t></w:r></w:p>"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


@pytest.mark.parametrize(
    ("path", "kind", "body", "text"),
    [
        ("/a.pdf", "application/pdf", pdf("Words of a page"), "Words of a page"),
        ("/a", "application/octet-stream", pdf("Words of a page"), "Words of a page"),
        ("/a", "text/html", pdf("Words of a page"), "Words of a page"),
        ("/a", DOCX, docx(WORDS), "Words of a letter"),
        ("/letter.docx", "application/octet-stream", docx(WORDS), "Words of a letter"),
    ],
    ids=range(5),
)
async def test_a_document_is_read_as_markdown(fetch, site, path, kind, body, text):
    site.pages[path] = (kind, body)
    told = await fetch(path)
    assert text in told
    assert told.startswith(f"[1] {site.url}{path}")


@pytest.mark.parametrize(
    ("kind", "body", "said"),
    [
        ("application/pdf", b"%PDF-1.7 and no more", "a PDF that cannot be read: "),
        (DOCX, b"PK\x03\x04 and no more", "that cannot be read: "),
        (DOCX, b"no zip at all", "that cannot be read: "),
    ],
)
async def test_a_broken_document_is_one_line(fetch, site, kind, body, said):
    site.pages["/a"] = (kind, body)
    with pytest.raises(ToolError, match=said) as refused:
        await fetch("/a")
    assert not refused.value.retry
    assert "\n" not in refused.value.text.strip()


async def test_a_cancelled_reading_leaves_no_process(fetch, site, monkeypatch):
    started = []
    run = asyncio.create_subprocess_exec

    async def seen(*argv, **more):
        started.append(await run(*argv, **more))
        return started[0]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", seen)
    site.pages["/a.pdf"] = ("application/pdf", pdf("x"))
    reading = asyncio.ensure_future(fetch("/a.pdf"))
    while not started:
        await asyncio.sleep(0.01)
    reading.cancel()
    await asyncio.wait([reading])
    assert reading.cancelled()
    assert started[0].returncode == -9


async def test_a_document_that_is_too_long_is_not_half_read(ctx, site, tmp_path):
    site.pages["/a.pdf"] = ("application/pdf", pdf("x") + b"%" * 1_100_000)
    tool = register_tools(evolve(ctx, config=Config(megabytes=1)))[0]
    with pytest.raises(ToolError, match="did not come whole: it is longer than 1,000,000 bytes") as refused:
        await tool.run(FakeToolContext(FakeWorkspace(folder=tmp_path)), Fetch(url=f"{site.url}/a.pdf"))
    assert "tools.web.megabytes" in refused.value.hint


async def test_without_the_library_it_is_said_how_to_get_it(fetch, site, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "hermes_documents.reading", None)
    site.pages["/a.pdf"] = ("", pdf("x"))
    with pytest.raises(ToolError, match="which this Hermes does not read") as refused:
        await fetch("/a.pdf")
    assert "hermes-tool-web[documents]" in refused.value.hint


async def test_several_addresses_come_in_one_answer_and_one_that_fails_is_said(fetch, site):
    site.pages |= {"/a": ("text/plain", b"first " * 20_000), "/b": ("text/plain", b"second")}
    told = await fetch("/a /b /gone")
    first, second, third = told.split("\n\n---\n\n")
    assert first.startswith(f"[1] {site.url}/a")
    assert "go on with offset=" in first
    assert second == f"[2] {site.url}/b (text/plain)\n\nsecond"
    assert "404" in third
    assert len(told.encode()) < 41_000
    rest = await fetch("/a", offset=int(first.rpartition("offset=")[2].rstrip("]")))
    assert rest.startswith(f"[1] {site.url}/a")
    assert len([path for path in site.asked if path == "/a"]) == 1


async def test_where_none_of_several_can_be_had_it_is_an_error(fetch):
    with pytest.raises(ToolError, match="404"):
        await fetch("/x /y")


@pytest.mark.parametrize(
    ("url", "more", "said"),
    [("/a /b", {"offset": 5}, "one address"), ("/a /b", {"crawl": 5}, "one address"),
     (" ".join(f"/{n}" for n in range(6)), {}, "between one and 5"), ("", {}, "between one and 5")],
)  # fmt: skip
async def test_what_goes_with_one_address_only_is_refused_for_several(fetch, url, more, said):
    with pytest.raises(ToolError, match=said):
        await fetch(url, **more)


async def test_each_host_of_several_is_named(ctx):
    tool = register_tools(ctx)[0]
    assert tool.touches(Fetch(url="https://a.example/1 https://b.example/ https://a.example/2")) == [
        "host:a.example",
        "host:b.example",
    ]


def versioned(site, text: str, **headers: str):
    """A page that says its version, and that it did not change to whoever has it."""

    def answer(handler):
        if handler.headers.get("If-None-Match") == headers.get("ETag", "-"):
            handler.answer(b"", 304)
        else:
            handler.answer(text.encode(), Content_Type="text/plain", **headers)

    return answer


async def test_a_page_that_did_not_change_is_not_sent_again(fetch, site):
    site.pages["/"] = versioned(site, "the same", ETag='"v1"')
    first = await fetch()
    assert await fetch(session=Session(id="later", origin="embed", cwd="/")) == first
    assert site.requests[1][1]["if-none-match"] == '"v1"'
    site.pages["/"] = versioned(site, "another", ETag='"v2"')
    assert (await fetch()).endswith("another")
    assert (await fetch()).endswith("another")
    assert [headers.get("if-none-match") for _, headers, _ in site.requests] == [None, '"v1"', '"v1"', '"v2"']


async def test_by_its_date_too_and_a_page_that_moved_is_followed(fetch, site):
    when = "Mon, 05 Jan 2026 10:00:00 GMT"
    site.pages["/"] = lambda handler: handler.answer(b"x", Content_Type="text/plain", Last_Modified=when)
    await fetch()
    site.pages["/"] = lambda handler: handler.answer(b"", 301, Location="/new")
    site.pages["/new"] = ("text/plain", b"here now")
    assert (await fetch()).endswith("here now")
    assert site.requests[1][1]["if-modified-since"] == when


@pytest.mark.parametrize(
    "headers",
    [{}, {"ETag": '"1"', "Cache_Control": "private, no-store"}, {"ETag": '"1"', "Vary": "*"}, {"ETag": "\x01" * 3}],
)
async def test_what_is_not_to_be_kept_is_not(fetch, site, headers):
    site.pages["/"] = lambda handler: handler.answer(b"x", Content_Type="text/plain", **headers)
    await fetch()
    await fetch()
    assert all("if-none-match" not in asked for _, asked, _ in site.requests)


async def test_another_person_has_pages_of_their_own_and_erasing_takes_them(fetch, site, ctx):
    site.pages["/"] = versioned(site, "x", ETag='"v1"')
    ada, bob = (Session(id=name, origin="embed", cwd="/", owner=Principal(person=name)) for name in ("ada", "bob"))
    await fetch(session=ada)
    await fetch(session=bob)
    assert all("if-none-match" not in asked for _, asked, _ in site.requests)
    await ctx.documents.erase(ada.owner)
    await fetch(session=ada)
    await fetch(session=bob)
    assert ["if-none-match" in asked for _, asked, _ in site.requests[2:]] == [False, True]


async def test_what_is_kept_is_bounded_and_the_oldest_goes(fetch, site, ctx):
    for number in range(70):
        site.pages[f"/{number}"] = versioned(site, f"{number}", ETag=f'"{number}"')
        await fetch(f"/{number}")
    owner = FakeToolContext(FakeWorkspace(folder=Path("/nowhere"))).session.owner
    assert len([one for one in await ctx.documents.list(owner=owner) if one.name.startswith("page-")]) == 64
    await fetch("/0")
    await fetch("/69")
    assert ["if-none-match" in asked for _, asked, _ in site.requests[-2:]] == [False, True]


async def test_it_can_be_switched_off(ctx, site, tmp_path):
    tool = register_tools(evolve(ctx, config=Config(cache=False)))[0]
    site.pages["/"] = versioned(site, "x", ETag='"v1"')
    for _ in range(2):
        await tool.run(FakeToolContext(FakeWorkspace(folder=tmp_path)), Fetch(url=f"{site.url}/"))
    assert all("if-none-match" not in asked for _, asked, _ in site.requests)


async def test_a_source_keeps_its_number_and_they_are_listed(fetch, site, ctx):
    site.pages |= {"/a": ("text/html", b"<title>A</title>a"), "/b": ("text/plain", b"b")}
    session = Session(id="s", origin="embed", cwd="/")
    (command,) = register_slash_commands(ctx)
    assert await command.run(session, "") == "Nothing was searched or read on the web in this conversation."
    assert (await fetch("/a", session=session)).startswith(f"# A\n[1] {site.url}/a")
    assert (await fetch("/b", session=session)).startswith(f"[2] {site.url}/b")
    assert f"[1] {site.url}/a" in await fetch("/a", session=session)
    assert await command.run(session, "") == f"[1] A {site.url}/a\n[2] {site.url}/b"
    assert f"[1] {site.url}/b" in await fetch("/b", session=evolve(session, id="other"))


async def test_side_by_side_sources_have_numbers_of_their_own(fetch, site):
    site.pages |= {f"/{n}": ("text/plain", b"x") for n in range(12)}
    told = await asyncio.gather(*(fetch(f"/{n}") for n in range(12)))
    assert sorted(int(one.partition("[")[2].partition("]")[0]) for one in told) == list(range(1, 13))


LONG = "The text of the article goes on for a while, so that nobody takes it for a teaser. " * 5


@pytest.mark.parametrize(
    "source",
    [
        f"<div>Menu</div><main><h1>Head</h1><p>{LONG}</p></main><div>Subscribe now</div>",
        f"<div>Menu</div><div id=x role='main'><h1>Head</h1><p>{LONG}</p></div>",
        f"<div>Menu</div><article><h1>Head</h1><p>{LONG}</p></article><div>Subscribe now</div>",
        f"<div>Menu</div><main><article><h1>Head</h1><p>{LONG}</p></article><article>more</article></main>",
        f"<article>Menu</article><ARTICLE><h1>Head</h1><aside>Menu</aside><p>{LONG * 2}</p></ARTICLE><div>Menu</div>",
    ],
    ids=range(5),
)
async def test_the_main_part_of_a_page_is_what_is_read(fetch, site, source):
    site.pages["/"] = ("text/html", f"<title>T</title><body>{source}".encode())
    told = await fetch()
    assert "# Head" in told
    assert "Menu" not in told
    assert LONG[:50] in told


@pytest.mark.parametrize(
    "source",
    [
        f"<main>short</main><p>{LONG}</p>",
        f"<article>one</article><article>two</article><p>{LONG}</p>",
        f"<article><p>{LONG * 2}</p></article><article><p>{LONG * 2}</p></article>",
        f"<main></main><p>{LONG}</p>",
        f"<main><p>{LONG}",
    ],
    ids=range(5),
)
async def test_where_none_is_marked_all_of_it_is(fetch, site, source):
    site.pages["/"] = ("text/html", source.encode())
    assert LONG[:50] in await fetch()
