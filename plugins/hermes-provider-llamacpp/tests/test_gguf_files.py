"""What is read of a file is right, and no file makes the reader fail in another way than in words."""

import json
import random
import struct

from click.testing import CliRunner

from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import plugin_context
from hermes_core.testing.contract_base import manifest_path
from hermes_provider_llamacpp import files
from hermes_provider_llamacpp.commands import commands
from hermes_provider_llamacpp.files import found, named
from hermes_provider_llamacpp.header import Header, read_header


def test_the_header_says_what_fits_and_what_a_token_costs(file):
    assert read_header(file) == Header(name="certain", kind="llama", context=2048, cache=4 * 288)


def test_parts_belong_together_and_what_only_goes_with_a_model_is_none(file, tmp_path):
    data = file.read_bytes()
    for name in ("big-00001-of-00002", "big-00002-of-00002", "mmproj-big", "half-00001-of-00002"):
        (tmp_path / f"{name}.gguf").write_bytes(data)
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "other.gguf").write_bytes(data)
    rows = {one.name: one for one in found(tmp_path)}
    assert rows.keys() == {"big", "half", "other"}
    assert (rows["big"].size, rows["big"].problem) == (2 * len(data), "")
    assert "No such file" in rows["half"].problem


def test_a_header_is_read_once_until_its_file_is_another_one(file, tmp_path, monkeypatch):
    path, read = tmp_path / "m.gguf", []
    monkeypatch.setattr(files, "read_header", lambda one: read.append(one) or read_header(one))
    path.write_bytes(file.read_bytes())
    assert found(tmp_path) == found(tmp_path)
    assert read == [path]
    path.write_bytes(b"no model")
    assert [one.problem for one in found(tmp_path)] == ["it is cut, or no GGUF file"]


def test_no_name_of_a_file_drives_a_terminal(file, tmp_path):
    (tmp_path / "a\x1b]0;x\x07b.gguf").write_bytes(file.read_bytes())
    [one] = found(tmp_path)
    assert one.name == "a]0;xb"
    assert named([one], "a]0;xb") is one


def test_no_file_breaks_the_reader(tmp_path, file):
    whole = file.read_bytes()[:4_000]
    dice, path = random.Random(7), tmp_path / "m.gguf"
    samples = [whole[:cut] for cut in range(0, 700, 7)]
    for _ in range(400):
        spoilt = bytearray(whole)
        for _ in range(dice.randrange(1, 6)):
            spoilt[dice.randrange(600)] = dice.randrange(256)
        samples.append(bytes(spoilt))
    samples += [struct.pack("<4sIQQ", b"GGUF", 3, 0, 2**60) + b"\xff" * 64, b"GGUF" + b"\xff" * 100]
    for data in samples:
        path.write_bytes(data)
        try:
            assert read_header(path).context >= 0
        except ValueError as error:
            assert str(error)  # noqa: PT017 - either is right


def test_a_person_sees_what_is_there_and_what_it_needs(file, tmp_path):
    ctx = plugin_context(read_manifest(manifest_path("hermes_provider_llamacpp")), tmp_path)
    [listing] = commands(ctx)
    empty = CliRunner().invoke(listing.build(), [])
    assert f"There is no GGUF file in {tmp_path / 'models'}" in empty.output
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "a.gguf").write_bytes(file.read_bytes())
    (tmp_path / "models" / "b.gguf").write_text("no model")
    first, second = map(json.loads, CliRunner().invoke(listing.build(), ["--json"]).stdout.splitlines())
    assert (first["model"], first["made_for"], first["room"], first["problem"]) == ("a", 2048, 2048, "")
    assert first["memory_gb"] >= first["file_gb"]
    assert second["problem"] == "it is cut, or no GGUF file"
