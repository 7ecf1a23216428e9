"""A whisper model of 600 KB that nobody trained: what it writes is nonsense, and all that loads and runs it is real."""

from pathlib import Path
from typing import Any

__all__ = ["write_model"]

_WIDE, _HEADS, _LAYERS, _BANDS = 64, 2, 1, 80
_WORDS = ("<|endoftext|>", "<|startoftranscript|>", "<|en|>", "<|de|>", "<|translate|>", "<|transcribe|>",
          "<|startoflm|>", "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>")  # fmt: skip


def write_model(folder: Path) -> None:
    """Write one, as a converter does."""
    import numpy
    from ctranslate2.specs.whisper_spec import WhisperSpec

    tokens = _tokens(folder)
    spec, lots = WhisperSpec(_LAYERS, _HEADS, _LAYERS, _HEADS), numpy.random.default_rng(7)

    def some(*shape: int) -> Any:
        return lots.normal(0, 0.05, shape).astype(numpy.float32)

    def linear(part: Any, out: int, into: int) -> None:
        part.weight, part.bias = some(out, into), numpy.zeros(out, numpy.float32)

    def norm(part: Any) -> None:
        part.gamma, part.beta = numpy.ones(_WIDE, numpy.float32), numpy.zeros(_WIDE, numpy.float32)

    def attention(part: Any, *outs: int) -> None:
        norm(part.layer_norm)
        for one, out in zip(part.linear, outs, strict=True):
            linear(one, out, _WIDE)

    for half, places in ((spec.encoder, 1_500), (spec.decoder, 448)):
        half.position_encodings.encodings = some(places, _WIDE)
        norm(half.layer_norm)
        for layer in half.layer:
            attention(layer.self_attention, 3 * _WIDE, _WIDE)
            norm(layer.ffn.layer_norm)
            linear(layer.ffn.linear_0, 4 * _WIDE, _WIDE)
            linear(layer.ffn.linear_1, _WIDE, 4 * _WIDE)
    for layer in spec.decoder.layer:
        attention(layer.attention, _WIDE, 2 * _WIDE, _WIDE)
    for conv, into in ((spec.encoder.conv1, _BANDS), (spec.encoder.conv2, _WIDE)):
        conv.weight, conv.bias = some(_WIDE, into, 3), numpy.zeros(_WIDE, numpy.float32)
    spec.decoder.embeddings.weight = spec.decoder.projection.weight = some(len(tokens), _WIDE)
    spec.register_vocabulary(tokens)
    spec.config.suppress_ids, spec.config.suppress_ids_begin = [], []
    spec.config.lang_ids = [tokens.index("<|en|>"), tokens.index("<|de|>")]
    spec.config.alignment_heads = [(0, 0)]
    spec.validate()
    spec.optimize(quantization=None)
    spec.save(str(folder))


def _tokens(folder: Path) -> list[str]:
    """Write a tokenizer of single bytes; its tokens in order."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    signs = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE(vocab={sign: at for at, sign in enumerate(signs)}, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    times = [f"<|{at * 0.02:.2f}|>" for at in range(1_501)]
    made.add_special_tokens([AddedToken(word, special=True) for word in (*_WORDS, *times)])
    made.save(str(folder / "tokenizer.json"))
    return sorted(made.get_vocab(), key=made.get_vocab().__getitem__)
