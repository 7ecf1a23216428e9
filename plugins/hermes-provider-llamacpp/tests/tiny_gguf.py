"""A real GGUF file of a llama whose weights are made so that what it says is certain: each token has one that follows.

Its attention and its layers do nothing; the last token of a prompt chooses what is said. The template ends a prompt
with one of four, by what was asked: a greeting, a call where there are tools, words about a result, or an endless song.
"""

import struct
from array import array
from pathlib import Path

__all__ = ["write"]

NORMAL, UNKNOWN, CONTROL, USER, BYTE = 1, 2, 3, 4, 6
CALL = '{"name": "add", "arguments": {"a": 2, "b": 3}}'
CHAINS = {
    "<|greet|>": ["Hel", "lo."],
    "<|call|>": ["<tool_call>\n", CALL, "\n</tool_call>"],
    "<|result|>": ["It", " is 5."],
}
SONG = "<|sing|>"
TEMPLATE = """{%- if tools %}Tools: for a call write <tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call>
{%- for tool in tools %}{{ tool | tojson }}{% endfor %}{% endif %}
{%- for m in messages %}
{%- if m.role == 'assistant' %}assistant: {{ m.content or '' }}
{%- if m.tool_calls %}{%- for c in m.tool_calls %}
<tool_call>
{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}
</tool_call>{%- endfor %}{% endif %}
{% elif m.role == 'tool' %}<tool_response>{{ m.content }}</tool_response>
{% else %}{{ m.role }}: {{ m.content }}
{% endif %}{%- endfor %}
{%- if add_generation_prompt %}
{%- if 'sing' in messages[-1].content %}<|sing|>
{%- elif messages[-1].role == 'tool' %}<|result|>
{%- elif tools %}<|call|>
{%- else %}<|greet|>{% endif %}{% endif %}"""


def write(file: Path, *, context: int = 2048) -> None:
    """Write it: about 800 kB."""
    tokens = [("<unk>", UNKNOWN), ("<s>", CONTROL), ("</s>", CONTROL), *((f"<0x{n:02X}>", BYTE) for n in range(256))]
    after: dict[int, int] = {}
    for marker, words in CHAINS.items():
        first = len(tokens)
        tokens += [(marker, USER), *((word.replace(" ", "▁"), NORMAL) for word in words)]
        after |= {first + n: first + n + 1 for n in range(len(words))} | {first + len(words): 2}
    after |= {len(tokens): len(tokens) + 1, len(tokens) + 1: len(tokens) + 1}
    tokens += [(SONG, USER), ("la", NORMAL)]
    width = -(-len(tokens) // 32) * 32
    facts = [
        _fact("general.architecture", "llama"),
        _fact("general.name", "certain"),
        _fact("llama.context_length", context),
        _fact("llama.embedding_length", width),
        _fact("llama.block_count", 1),
        _fact("llama.feed_forward_length", 32),
        _fact("llama.attention.head_count", 2),
        _fact("llama.attention.head_count_kv", 2),
        _fact("llama.attention.layer_norm_rms_epsilon", 1e-5),
        _fact("llama.rope.dimension_count", width // 2),
        _fact("tokenizer.ggml.model", "llama"),
        _fact("tokenizer.ggml.tokens", [text for text, _ in tokens]),
        _fact("tokenizer.ggml.scores", [0.0] * len(tokens)),
        _fact("tokenizer.ggml.token_type", [kind for _, kind in tokens]),
        _fact("tokenizer.ggml.bos_token_id", 1),
        _fact("tokenizer.ggml.eos_token_id", 2),
        _fact("tokenizer.ggml.unknown_token_id", 0),
        _fact("tokenizer.chat_template", TEMPLATE),
    ]
    same, next_one = array("f", bytes(4 * width * len(tokens))), array("f", bytes(4 * width * len(tokens)))
    for token in range(len(tokens)):
        same[token * width + token] = 1.0
    for token, follows in after.items():
        next_one[follows * width + token] = 10.0
    flat, ones = (lambda *n: array("f", bytes(4 * n[0] * n[-1]))), array("f", [1.0] * width)
    tensors = {"token_embd.weight": ((width, len(tokens)), same), "output.weight": ((width, len(tokens)), next_one)}
    tensors |= dict.fromkeys(
        ("output_norm.weight", "blk.0.attn_norm.weight", "blk.0.ffn_norm.weight"), ((width,), ones)
    )
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        tensors[f"blk.0.{name}.weight"] = (width, width), flat(width, width)
    tensors |= {f"blk.0.{name}.weight": ((width, 32), flat(width, 32)) for name in ("ffn_gate", "ffn_up")}
    tensors["blk.0.ffn_down.weight"] = (32, width), flat(32, width)
    described, data = b"", b""
    for name, (shape, values) in tensors.items():
        described += _text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, len(data))
        data += values.tobytes() + bytes(-len(values.tobytes()) % 32)
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(facts)) + b"".join(facts) + described
    file.write_bytes(head + bytes(-len(head) % 32) + data)


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _fact(name: str, value: object) -> bytes:
    return _text(name) + _typed(value)


def _typed(value: object, *, bare: bool = False) -> bytes:
    kind, data = 8, b""
    if isinstance(value, list):
        inner = struct.pack("<I", 5) if isinstance(value[0], int) else _typed(value[0])[:4]
        kind, data = 9, inner + struct.pack("<Q", len(value)) + b"".join(_typed(one, bare=True) for one in value)
    elif isinstance(value, str):
        data = _text(value)
    elif isinstance(value, float):
        kind, data = 6, struct.pack("<f", value)
    elif isinstance(value, int):
        kind, data = 4, struct.pack("<I", value)
    return data if bare else struct.pack("<I", kind) + data
