"""Real pictures and PDFs behind a real wall: made small, shown by pages, read. Bombs and broken ones cost a line."""

import io
import os
import subprocess

import pytest

from hermes_core.errors import HermesError, ToolError, UserError
from hermes_core.testing import FakeToolContext, FakeWorkspace, plugin_context
from hermes_core.types import Blob, MediaResponse, Model
from hermes_tool_vision import eyes
from hermes_tool_vision.config import Config
from hermes_tool_vision.eyes import frames_of, pages_of, read_text, small
from hermes_tool_vision.tool import Look, look_tool

from .test_contract import TestLook as _Kit

pytestmark = [pytest.mark.real, pytest.mark.timeout(180)]

Image = pytest.importorskip("PIL.Image")


def drawn(*lines, size=(900, 300), kind="PNG", noise=False):
    """A picture with these lines of text on it."""
    from PIL import ImageDraw, ImageFont

    made = Image.effect_noise(size, 90).convert("RGB") if noise else Image.new("RGB", size, "white")
    draw, font = ImageDraw.Draw(made), ImageFont.load_default(size=48)
    for at, line in enumerate(lines):
        draw.text((40, 40 + 90 * at), line, fill="black", font=font)
    out = io.BytesIO()
    made.save(out, kind)
    return out.getvalue()


def pdf(*pages):
    made = [Image.open(io.BytesIO(drawn(*lines, size=(900, 1_200)))).convert("RGB") for lines in pages]
    out = io.BytesIO()
    made[0].save(out, "PDF", save_all=True, append_images=made[1:])
    return out.getvalue()


@pytest.fixture
def make(tmp_path):
    def make(*replies, **settings):
        manifest = _Kit().read_manifest()
        return plugin_context(manifest, tmp_path / "home", config=Config(**settings), replies=list(replies))

    return make


@pytest.fixture
def context(tmp_path):
    return FakeToolContext(FakeWorkspace(folder=tmp_path))


async def test_text_in_a_picture_is_read_without_any_model(make, context, tmp_path):
    (tmp_path / "sign.png").write_bytes(drawn("Meeting moved to", "Friday 14:30"))
    ctx = make(see_with="ocr")
    said = await look_tool(ctx).run(context, Look(path="sign.png"))
    assert "nobody saw the rest" in said
    assert "Meeting moved to" in said
    assert "Friday 14:30" in said
    assert not [name for name in os.listdir("/tmp") if name.startswith("hermes-vision-")]  # noqa: PTH208


async def test_where_no_model_sees_the_text_is_read(make, context):
    from hermes_tool_vision.describing import words_for

    blank = Blob(media_type="image/png", data=drawn())
    seen, by = await words_for(make(), context.session, blank, "What?")
    assert (seen, "read here" in by) == ("(There is no text in it.)", True)
    with pytest.raises(HermesError):
        await words_for(make(see_with="model"), context.session, blank, "What?")


async def test_pages_of_a_pdf_are_pictures(make, context, tmp_path):
    data = pdf(["First page"], ["Second page"], ["Third page"])
    found, count = await pages_of(make(), Blob(media_type="application/pdf", data=data, name="a.pdf"), 2, 5)
    assert (count, [one.name for one in found]) == (3, ["a.pdf, page 2", "a.pdf, page 3"])
    assert max(Image.open(io.BytesIO(found[0].data)).size) <= 2_000
    (tmp_path / "a.pdf").write_bytes(data)
    said = await look_tool(make(see_with="ocr")).run(context, Look(path="a.pdf", page=2, pages=2))
    assert "a.pdf has 3 pages." in said
    assert "Second page" in said
    assert "Third page" in said
    assert "First page" not in said
    with pytest.raises(ToolError, match="has 3 pages"):
        await look_tool(make()).run(context, Look(path="a.pdf", page=9))


def film(path, *colours):
    """A video whose colour changes each second."""
    given = [word for colour in colours for word in ("-f", "lavfi", "-i", f"color={colour}:size=320x240:rate=10:d=1")]
    joined = "".join(f"[{number}:v]" for number in range(len(colours))) + f"concat=n={len(colours)}:v=1:a=0"
    words = ["ffmpeg", "-v", "error", "-y", *given, "-filter_complex", joined, "-pix_fmt", "yuv420p", str(path)]
    subprocess.run(words, check=True)


def colour(blob):
    """Which of the three is the strongest in the middle of a picture."""
    return "rgb"[
        max(range(3), key=lambda at: Image.open(io.BytesIO(blob.data)).convert("RGB").getpixel((160, 120))[at])
    ]


@pytest.mark.parametrize("ending", ["mp4", "webm", "mkv"])
async def test_a_video_is_seen_by_moments_that_are_spread_over_it(make, tmp_path, ending):
    path = tmp_path / f"clip.{ending}"
    film(path, "red", "lime", "blue")
    video = Blob(media_type=f"video/{ending}", data=path.read_bytes(), name=path.name)
    found, length = await frames_of(make(), video, 0.0, 3)
    assert length == pytest.approx(3.0, abs=0.2)
    assert [colour(one) for one in found] == ["r", "g", "b"]
    assert found[0].name == f"{path.name}, second 0.5"
    (one,), _ = await frames_of(make(), video, 1.5, 1)
    assert colour(one) == "g"


async def test_a_look_at_a_video_asks_about_its_frames_and_says_that_it_is_deaf(make, context, tmp_path):
    film(tmp_path / "clip.mp4", "red", "blue")
    replies = [MediaResponse(model="eyes", texts=[f"Colour {number}."]) for number in range(4)]
    said = await look_tool(make(*replies)).run(context, Look(path="clip.mp4"))
    assert said.startswith("clip.mp4 is 2 seconds long; its sound was not heard.")
    assert all(f"Colour {number}." in said for number in range(4))
    with pytest.raises(ToolError, match=r"it has 2\.0 seconds"):
        await look_tool(make()).run(context, Look(path="clip.mp4", second=9))
    for data in (b"no video", (tmp_path / "clip.mp4").read_bytes()[:700]):
        (tmp_path / "broken.mp4").write_bytes(data)
        with pytest.raises(ToolError, match="could not be looked at") as failed:
            await look_tool(make()).run(context, Look(path="broken.mp4"))
        assert len(str(failed.value)) < 400


async def test_without_ffmpeg_it_says_what_to_install(make, context, tmp_path, monkeypatch):
    (tmp_path / "clip.mp4").write_bytes(b"x")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match=r"there is no ffmpeg(?s:.*)apt install ffmpeg"):
        await look_tool(make()).run(context, Look(path="clip.mp4"))


async def test_a_large_picture_is_made_smaller_and_a_small_one_stays(make):
    data = drawn("Large", size=(4_000, 3_000), noise=True)
    assert len(data) > 3_500_000
    made = await small(make(), Blob(media_type="image/png", data=data, name="l.png"))
    assert (made.media_type, made.name) == ("image/jpeg", "l.png")
    assert len(made.data) < 3_500_000
    assert Image.open(io.BytesIO(made.data)).size == (2_000, 1_500)
    little = Blob(media_type="image/png", data=drawn("Small"))
    assert (await small(make(), little)).data == little.data


async def test_bombs_and_broken_files_cost_a_line(make, monkeypatch):
    monkeypatch.setattr(eyes, "_AS_IT_IS", 10)
    bomb = io.BytesIO()
    Image.new("1", (20_000, 20_000)).save(bomb, "PNG")
    for data in (bomb.getvalue(), b"\x89PNG that is broken", b"GIF89a and no more"):
        with pytest.raises(ToolError, match="could not be looked at") as failed:
            await small(make(), Blob(media_type="image/png", data=data))
        assert len(str(failed.value)) < 400
    with pytest.raises(ToolError, match="could not be looked at"):
        await pages_of(make(), Blob(media_type="application/pdf", data=b"%PDF-1.4 nothing"), 1, 1)
    with pytest.raises(UserError, match="has 0 bytes"):
        await read_text(make(), Blob(media_type="image/png", data=b"", name="e.png"))


async def test_several_pictures_are_looked_at_one_by_one(make, context, tmp_path):
    for name in ("a.png", "b.png"):
        (tmp_path / name).write_bytes(drawn(name))
    replies = [MediaResponse(model="eyes", texts=[text]) for text in ("A cat.", "A dog.")]
    said = await look_tool(make(*replies)).run(context, Look(path="a.png", others=["b.png"]))
    assert said == "a.png, as another model saw it:\nA cat.\n\nb.png, as another model saw it:\nA dog."
    with pytest.raises(ToolError, match="too many"):
        await look_tool(make()).run(context, Look(path="a.png", others=["b.png"] * 9))


async def test_a_model_that_sees_gets_the_pictures_themselves(hermes, scripted, tmp_path):
    from hermes_core.testing import Call
    from hermes_core.types import Feature

    place = hermes.workspace.folder
    (place / "a.png").write_bytes(drawn("x"))
    provider = scripted(Call("look", {"path": "a.png"}), "A picture.")
    provider._models = [Model(name="scripted", features=frozenset({Feature.TOOLS, Feature.IMAGES}))]
    hermes.tmp_plugin(provider)
    hermes.tmp_plugin("hermes_tool_vision")
    async for _ in hermes.turn("look", session="s"):
        pass
    parts = provider.requests[-1].messages[-1].parts[0].parts
    assert any(isinstance(part, Blob) and part.data == (place / "a.png").read_bytes() for part in parts), parts
