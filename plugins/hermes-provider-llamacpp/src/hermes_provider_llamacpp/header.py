"""What a GGUF file says of its model, read without loading it.

Source: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. What is there behind the figures of a model (its
vocabulary, its weights) is not read.
"""

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from hermes_core.values import frozen

__all__ = ["Header", "read_header"]

_MAGIC = b"GGUF"
_PLAIN = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_TEXT, _LIST = 8, 9
_MOST_FACTS, _MOST_TEXT, _MOST_ITEMS = 10_000, 1 << 20, 1 << 16
_CACHED = 2  # bytes of one figure of the cache


@frozen(kw_only=True)
class Header:
    """``context`` is how many tokens the model was made for, 0 where it does not say; ``cache`` the bytes of one."""

    name: str = ""
    kind: str = ""
    context: int = 0
    cache: int = 0


def read_header(file: Path) -> Header:
    """Read what a file says. Raises OSError, and ValueError where it is no GGUF file of version 2 or 3."""
    with file.open("rb") as opened:
        try:
            return _header(_facts(opened))
        except (struct.error, UnicodeDecodeError, OverflowError, MemoryError) as error:
            raise ValueError("it is cut, or no GGUF file") from error


def _facts(file: BinaryIO) -> Mapping[str, object]:
    """Read facts up to those of the vocabulary, which stand last and are long."""
    magic, version, _tensors, count = struct.unpack("<4sIQQ", file.read(24))
    if magic != _MAGIC or version not in (2, 3):
        raise ValueError("it is no GGUF file of version 2 or 3")
    found: dict[str, object] = {}
    for _ in range(min(count, _MOST_FACTS)):
        name = _text(file)
        if name.startswith("tokenizer."):
            break
        found[name] = _value(file, *_unpack(file, "<I"))
    return found


def _unpack(file: BinaryIO, form: str) -> tuple[int]:
    value: tuple[int] = struct.unpack(form, file.read(struct.calcsize(form)))
    return value


def _text(file: BinaryIO) -> str:
    (size,) = _unpack(file, "<Q")
    if size > _MOST_TEXT:
        raise ValueError("a text in it is longer than any is")
    data = file.read(size)
    if len(data) < size:
        raise ValueError("it is cut")
    return data.decode()


def _value(file: BinaryIO, kind: int) -> object:
    if kind == _TEXT:
        return _text(file)
    if kind == _LIST:
        (inner,), (size,) = _unpack(file, "<I"), _unpack(file, "<Q")
        if size > _MOST_ITEMS or inner == _LIST:
            raise ValueError("a list in it is longer than any is")
        return [_value(file, inner) for _ in range(size)]
    if kind not in _PLAIN:
        raise ValueError(f"it has values of a kind that is not known: {kind}")
    return _unpack(file, _PLAIN[kind])[0]


def _header(facts: Mapping[str, object]) -> Header:
    kind = str(facts.get("general.architecture") or "")

    def figure(name: str) -> int:
        value = facts.get(f"{kind}.{name}")
        value = max(value, default=0) if isinstance(value, list) else value
        return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**9 else 0

    heads = figure("attention.head_count")
    width = figure("embedding_length") // heads if heads else 0
    keys = figure("attention.key_length") or width
    values = figure("attention.value_length") or width
    per_layer = (figure("attention.head_count_kv") or heads) * (keys + values) * _CACHED
    name = str(facts.get("general.name") or "")
    return Header(name=name, kind=kind, context=figure("context_length"), cache=per_layer * figure("block_count"))
