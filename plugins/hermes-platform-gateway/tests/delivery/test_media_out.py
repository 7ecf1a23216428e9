"""Files that an answer names are sent if they may be; what is not sent is said."""

import os
from pathlib import Path

import pytest
from gateway_house import context_of

from hermes_core.testing import FakePlatform
from hermes_core.types import Blob, Feature, Principal
from hermes_platform_gateway.outward.media_out import with_files
from hermes_platform_gateway.outward.pieces import pieces_of, said, text_of


@pytest.fixture
async def work(hermes, scripted, tmp_path):
    """A session that works on this machine, in a folder of its own."""
    folder = tmp_path / "desk"
    folder.mkdir()
    hermes.tmp_plugin(scripted())
    hermes.tmp_plugin("hermes_backend_local")
    open_too = [str(tmp_path / "reports"), str(tmp_path / "home")]
    hermes.configure({"terminal.backend": "local", "terminal.cwd": str(folder), "gateway.media_max_mb": 1})
    hermes.configure({"gateway.media_folders": open_too})
    await hermes.runtime.sessions.take("s", "far", hermes.runtime.owner)
    return folder


@pytest.fixture
def answer(hermes, work):
    async def attach(text: str):
        message = await with_files(context_of(hermes), "s", Principal(), text)
        return text_of(message), [part for part in message.parts if isinstance(part, Blob)]

    return attach


async def test_a_file_that_is_named_is_attached_as_it_was(answer, work):
    report = work / "report of today.pdf"
    report.write_bytes(b"%PDF 1")
    text, [blob] = await answer(f'Here it is.\n\nMEDIA:"{report}"\n\nAnything else?')
    report.write_bytes(b"changed")
    assert text == "Here it is.\n\nAnything else?"
    assert (blob.name, blob.media_type) == ("report of today.pdf", "application/pdf")
    assert Path(blob.path).read_bytes() == b"%PDF 1"
    assert Path(blob.path).stat().st_mode & 0o077 == 0 or Path(blob.path).parent.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("tag", ["MEDIA:{}", "`MEDIA:{}`", "MEDIA: {}", "MEDIA:`{}`", "MEDIA:'{}'", "(MEDIA:{})."])
async def test_tags_as_models_write_them(answer, work, tag):
    (work / "a.png").write_bytes(b"png")
    text, blobs = await answer(f"See {tag.format(work / 'a.png')}")
    assert [blob.name for blob in blobs] == ["a.png"]
    assert "MEDIA" not in text


async def test_the_same_file_twice_is_one_and_there_are_at_most_ten(answer, work):
    for number in range(12):
        (work / str(number)).write_bytes(b"x")
    text, blobs = await answer(" ".join(f"MEDIA:{work / str(number)}" for number in (0, *range(12))))
    assert len(blobs) == 10
    assert text == "(2 more files were not sent: 10 are the most.)"


async def test_an_address_attaches_nothing(answer, work):
    (work / "a.png").write_bytes(b"png")
    for text in (
        f"[1] A page https://a.example/?MEDIA:{work / 'a.png'}",
        f"See <http://a.example/(MEDIA:{work}/a.png)>",
    ):
        assert await answer(text) == (text, [])
    text, blobs = await answer(f"As https://a.example/ says.\nMEDIA:{work / 'a.png'}")
    assert (text, len(blobs)) == ("As https://a.example/ says.", 1)


@pytest.mark.parametrize("text", ["No file here.", "```\nMEDIA:/etc/passwd\n```", "MEDIA: is a tag", "MEDIA:relative"])
async def test_what_names_no_file_is_left_as_it_is(answer, text):
    assert await answer(text) == (text, [])


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("nothing.txt", "No such file"),
        ("large.bin", "larger than 1 MB"),
        (".ssh/config", ".ssh is hidden"),
        ("id_ed25519", "looks like a key"),
        ("server.PEM", "looks like a key"),
        ("link", "outside"),
        ("folder", "is a folder"),
        ("pipe", "not a file"),
        ("../outside.txt", "outside"),
    ],
)
async def test_what_may_not_be_sent_is_said_in_a_line(answer, work, name, why):
    (work / "large.bin").write_bytes(b"x" * (1024 * 1024 + 1))
    (work / ".ssh").mkdir()
    for key in (".ssh/config", "id_ed25519", "server.PEM", "../outside.txt"):
        (work / key).write_text("secret")
    (work / "link").symlink_to("/etc/hostname")
    (work / "folder").mkdir()
    os.mkfifo(work / "pipe")
    text, blobs = await answer(f"Here: MEDIA:{work}/{name} it is.")
    assert blobs == []
    assert text.startswith("Here:")
    assert f"({Path(name).name} was not sent: " in text
    assert why in text


async def test_nothing_of_the_house_is_sent(answer, hermes):
    home = hermes.runtime.home
    assert str(home.root) in context_of(hermes).config.media_folders
    for file in (home.config_file, home.env_file, home.database, home.outputs / "other" / "x.txt"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        text, blobs = await answer(f"MEDIA:{file}")
        assert blobs == []
        assert "was not sent" in text
    own = home.outputs / "s" / "long.txt"
    own.parent.mkdir(parents=True)
    own.write_text("what a tool said")
    assert [blob.name for blob in (await answer(f"MEDIA:{own}"))[1]] == ["long.txt"]


async def test_a_folder_that_the_settings_name_is_open(answer, tmp_path):
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "q1.csv").write_text("1,2")
    assert [blob.name for blob in (await answer(f"MEDIA:{tmp_path}/reports/q1.csv"))[1]] == ["q1.csv"]


async def test_in_another_place_its_own_files_are_meant(hermes, scripted, tmp_path):
    """Where tools work on another machine, or in a container, a path is one of there."""
    hermes.tmp_plugin(scripted())
    hermes.workspace.__init__({"/there/a.txt": b"of there"})
    await hermes.runtime.sessions.take("s", "far", hermes.runtime.owner)
    (tmp_path / "a.txt").write_text("of here")
    message = await with_files(context_of(hermes), "s", Principal(), f"MEDIA:/there/a.txt MEDIA:{tmp_path}/a.txt")
    [text, blob] = message.parts
    assert Path(blob.path).read_bytes() == b"of there"
    assert "a.txt was not sent" in text.text


async def test_a_platform_without_files_is_told_in_words(answer, work):
    (work / "a.txt").write_text("a")
    text, blobs = await answer(f"Here. MEDIA:{work}/a.txt")
    message = said(text, *blobs)
    plain = pieces_of(message, FakePlatform(features=()))
    assert [text_of(piece) for piece in plain] == ["Here.\n\n(a.txt is not sent: fake takes no files.)"]
    media = pieces_of(message, FakePlatform(features=(Feature.MEDIA,)))
    assert [text_of(piece) for piece in media] == ["Here.", ""]
