"""Services that draw and film: asked once, waited for, fetched; and taken up again after a death."""

import asyncio
import base64
import json
from pathlib import Path

import pytest

import hermes_tool_images
from hermes_core.context import UrlRules
from hermes_core.errors import HermesError, ToolError
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import FakeToolContext, FakeWorkspace, plugin_context
from hermes_tool_images import making
from hermes_tool_images.config import Config
from hermes_tool_images.making import rows
from hermes_tool_images.tool import Draw, Film, draw_tool, film_tool
from hermes_tool_kit.testing import LoopbackService

KEY = "k3y-that-nobody-sees"
PNG = b"\x89PNG\r\n" + bytes(range(99))
MP4 = b"\x00\x00\x00\x18ftypmp42" + bytes(range(99))
MANIFEST = read_manifest(Path(hermes_tool_images.__file__).with_name("hermes-plugin.toml"))


class Maker(LoopbackService):
    """A server that speaks as all three services do. What is asked for is done at the ``looks``-th look."""

    def __init__(self):
        super().__init__(lambda asked: self.begun(asked.path) if asked.method == "POST" else self.looked(asked.path))
        self.looks, self.fails, self.elsewhere = 2, "", ""
        self._seen = 0

    def begun(self, path):
        if path.endswith(":generateContent"):
            data = base64.b64encode(PNG).decode()
            return {"candidates": [{"content": {"parts": [{"text": "Here:"}, {"inlineData": {"data": data}}]}}]}
        if path.startswith("/v1/images/"):
            return {"data": [{"b64_json": base64.b64encode(PNG).decode()}]}
        if path == "/v1/videos/generations":
            return {"request_id": "r-1"}
        if path.endswith(":predictLongRunning"):
            return {"name": "models/veo/operations/o-1"}
        root = self.elsewhere or self.url
        return {"request_id": "q", "status_url": f"{root}/q/status", "response_url": f"{root}/q"}

    def looked(self, path):
        if path == "/made.png":
            return PNG
        if path == "/made.mp4":
            return MP4
        if path == "/q":
            return {"images": [{"url": f"{self.url}/made.png"}], "video": {"url": f"{self.url}/made.mp4"}}
        self._seen += 1
        if self.fails == "busy" and self._seen < 3:
            return 503, {}
        if self._seen < self.looks:
            return {"status": "IN_PROGRESS"}
        if self.fails == "error":
            return {"status": "FAILED", "done": True, "error": {"message": "not that"}}
        video = {"url": f"{self.url}/made.mp4", "uri": f"{self.url}/made.mp4"}
        return {"status": "done" if path.startswith("/v1/videos") else "COMPLETED", "done": True, "video": video,
                "response": {"generateVideoResponse": {"generatedSamples": [{"video": video}]}}}  # fmt: skip


@pytest.fixture
def maker():
    made = Maker()
    yield made
    made.close()


@pytest.fixture
def make(tmp_path, maker, monkeypatch):
    monkeypatch.setattr(making, "_FIRST", 0.01)
    secrets = {row.key: KEY for row in rows().values()}

    def make(**settings):
        config = Config(**{"service_url": maker.url, **settings})
        urls = UrlRules(allow_private=True)
        return plugin_context(MANIFEST, tmp_path / "home", config=config, secrets=secrets, urls=urls)

    return make


@pytest.fixture
def context(tmp_path):
    made = FakeToolContext(FakeWorkspace(folder=tmp_path))
    (tmp_path / "cat.png").write_bytes(PNG)
    return made


async def no_notes(ctx, context):
    return not await ctx.documents.list(owner=context.session.owner, session_id=context.session.id)


@pytest.mark.parametrize("name", [name for name, row in rows().items() if row.draw])
async def test_a_service_draws(name, make, maker, context, tmp_path):
    ctx = make(draw_with=name)
    told = await draw_tool(ctx).run(context, Draw(prompt="A cat.", size="16:9", begin_with=["cat.png"]))
    assert told == "Written: picture.png"
    assert (tmp_path / "picture.png").read_bytes() == PNG
    first = maker.asked[0]
    path, headers, body = first.path, first.headers, first.json
    assert first.method == "POST"
    assert "A cat." in json.dumps(body)
    assert base64.b64encode(PNG).decode() in json.dumps(body)
    assert ("edit" in path) == (name != "gemini"), "a picture to begin with is for the route that edits"
    assert KEY in " ".join(headers.values())
    assert "{" not in path
    assert '"{' not in json.dumps(body)
    assert len([one for one in maker.asked if one.method == "POST"]) == 1
    assert await no_notes(ctx, context)


@pytest.mark.parametrize("name", [name for name, row in rows().items() if row.film])
async def test_a_service_films(name, make, maker, context, tmp_path):
    ctx = make(film_with=name)
    assert await film_tool(ctx).run(context, Film(prompt="A cat runs.")) == "Written: video.mp4"
    assert (tmp_path / "video.mp4").read_bytes() == MP4
    assert [one.method for one in maker.asked].count("POST") == 1
    assert "image" not in json.dumps(maker.asked[0].json)
    assert await no_notes(ctx, context)


async def test_in_a_chat_it_is_said_how_it_is_sent(make, context, tmp_path):
    from attrs import evolve

    context.session = evolve(context.session, origin="telegram")
    told = await draw_tool(make(draw_with="xai")).run(context, Draw(prompt="A cat."))
    assert told.endswith(f"MEDIA:{context.workspace.cwd}/picture.png")


@pytest.mark.parametrize("name", ["fal", "gemini", "xai"])
async def test_after_a_death_it_is_waited_for_and_not_asked_again(name, make, maker, context, tmp_path):
    ctx, wanted = make(film_with=name), Film(prompt="A cat runs.", path="late")
    film, maker.looks = film_tool(ctx), 10_000

    async def kept(*_, **__):  # what a kill leaves: nobody tidies up
        return True

    tidy, ctx.documents.delete = ctx.documents.delete, kept
    call = asyncio.ensure_future(film.run(context, wanted))
    while len(maker.asked) < 3:
        await asyncio.sleep(0.01)
    call.cancel()
    await asyncio.wait([call])
    ctx.documents.delete, maker.looks = tidy, 0
    assert not await no_notes(ctx, context)
    assert await film.left(context, wanted) == "Written: late.mp4"
    assert (tmp_path / "late.mp4").read_bytes() == MP4
    assert [one.method for one in maker.asked].count("POST") == 1
    assert await no_notes(ctx, context)
    with pytest.raises(ToolError, match="nothing was written"):
        await film.left(context, wanted)


async def test_what_was_cut_off_while_it_was_asked_is_said(make, context):
    ctx = make(film_with="fal")
    note = making._note(context)
    await ctx.documents.put(note, {}, owner=context.session.owner, session_id=context.session.id)
    with pytest.raises(ToolError, match="nobody knows whether"):
        await film_tool(ctx).left(context, Film(prompt="A cat runs."))
    assert await no_notes(ctx, context)


async def test_one_that_is_stopped_leaves_no_note(make, maker, context):
    ctx, maker.looks = make(film_with="xai"), 10_000
    call = asyncio.ensure_future(film_tool(ctx).run(context, Film(prompt="A cat runs.")))
    while len(maker.asked) < 3:
        await asyncio.sleep(0.01)
    call.cancel()
    await asyncio.wait([call])
    assert await no_notes(ctx, context)


async def test_a_service_that_is_busy_for_a_moment_is_asked_on(make, maker, context):
    maker.fails = "busy"
    assert "Written" in await film_tool(make(film_with="xai")).run(context, Film(prompt="A cat runs."))


async def test_a_service_that_sends_its_key_elsewhere_is_not_followed(make, maker, context):
    other = Maker()
    try:
        maker.elsewhere = other.url
        with pytest.raises(ToolError, match="another site, which is not asked with its key"):
            await draw_tool(make(draw_with="fal")).run(context, Draw(prompt="A cat."))
        assert not other.asked
    finally:
        other.close()


FAILS = {
    "xai": "could not make it",
    "fal": "could not make it",
    "gemini": "not that",
}


@pytest.mark.parametrize("name", FAILS)
async def test_what_fails_is_said(name, make, maker, context):
    maker.fails = "error"
    with pytest.raises(HermesError) as failed:
        await film_tool(make(film_with=name)).run(context, Film(prompt="A cat runs."))
    assert FAILS[name] in str(failed.value)
    assert KEY not in str(failed.value)


async def test_who_is_nobody_and_what_is_late_is_said(make, maker, context):
    with pytest.raises(HermesError, match="'painter', which is none"):
        await draw_tool(make(draw_with="painter")).run(context, Draw(prompt="A cat."))
    film = film_tool(make())
    assert "film_with" in film.needs(context.session)
    with pytest.raises(ToolError, match="No service for videos"):
        await film.run(context, Film(prompt="A cat."))
    maker.looks = 10_000
    ctx = make(film_with="xai", seconds=1)
    with pytest.raises(ToolError, match="did not make it within 1 seconds"):
        await film_tool(ctx).run(context, Film(prompt="A cat runs."))
    assert await no_notes(ctx, context)
