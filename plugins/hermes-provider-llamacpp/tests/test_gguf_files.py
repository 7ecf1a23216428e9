"""What is read of a file is right, and no file makes the reader fail in another way than in words."""

import random
import struct

from hermes_provider_llamacpp.files import found
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
