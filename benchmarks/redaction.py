"""How fast secrets are taken out of text: ``benchmarks/redaction.py [--megabytes N]``. CPU time, after the first use.

Plain logs, code and JSON, most of it without a secret; then lines made to be slow, at one length and at twice that.
"""

import argparse
import json
import random
import time
from collections.abc import Callable
from pathlib import Path

import hermes_core
from hermes_core.masking.watched import Watched
from hermes_known.known import Known
from hermes_known.stream import masked_text
from hermes_tool_redaction.masker import Secrets

MASKERS = [Watched("tool/redaction", Secrets())]

WORDS = [
    "the",
    "user",
    "request",
    "failed",
    "with",
    "error",
    "connection",
    "opened",
    "closed",
    "while",
    "reading",
    "from",
    "server",
    "handler",
    "started",
]
BOUND = 20.0  # MB/s
HOSTILE = [
    "a=",
    "password=",
    'token="',
    "QUJD",
    "-----BEGIN RSA PRIVATE KEY-----",
    "://",
    "a://b:c@",
    "eyJaaaaaaa.",
    "\\",
    "%3D",
]


def logs(chance: random.Random) -> str:
    """Lines as services write them."""
    return "".join(
        f"2026-11-{chance.randint(1, 28):02} 12:{chance.randint(0, 59):02}:{chance.randint(0, 59):02},"
        f"{chance.randint(0, 999):03} "
        f"INFO app.{chance.choice(WORDS)} [{chance.randint(1000, 9999)}] {' '.join(chance.choices(WORDS, k=10))} "
        f"id={chance.getrandbits(64):x} took {chance.random():.3f}s\n"
        for _ in range(1000)
    )


def code(_: random.Random) -> str:
    """This program."""
    return "".join(path.read_text() for path in sorted(Path(hermes_core.__file__).parent.rglob("*.py")))


def dense(chance: random.Random) -> str:
    """JSON with many short fields, some of whose names are those of secrets."""
    return "".join(
        json.dumps(
            {"id": f"{chance.getrandbits(128):x}", "key": chance.choice(WORDS), "n": chance.random(), "tags": WORDS[:3]}
        )
        + "\n"
        for _ in range(1000)
    )


def prose(chance: random.Random) -> str:
    """Sentences, the names of secrets in every other of them."""
    words = [*(WORDS * 12), "password", "token", "key", "secret", "code"]
    return "".join(" ".join(chance.choices(words, k=12)).capitalize() + ".\n" for _ in range(4000))


def seconds(text: str) -> float:
    """CPU seconds of one redaction, the best of three."""
    found = []
    for _ in range(3):
        began = time.process_time()
        masked_text(text, Known(), MASKERS)
        found.append(time.process_time() - began)
    return min(found)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--megabytes", type=int, default=2)
    size = parser.parse_args().megabytes << 20
    seconds("password=swordfish77 https://a:b@c sk-" + "a1" * 20)
    kinds: tuple[tuple[str, Callable[[random.Random], str]], ...] = (
        ("logs", logs),
        ("code", code),
        ("dense JSON", dense),
        ("prose", prose),
    )
    for name, make in kinds:
        text = make(random.Random(1))
        text = (text * (size // len(text) + 1))[:size]
        speed = size / seconds(text) / 1e6
        missed = "   missed" if speed < BOUND else ""
        print(f"{name:12} {speed:6.1f} MB/s{missed}")
    for unit in HOSTILE:
        once, twice = (seconds((unit * (n // len(unit) + 1))[:n]) for n in (1 << 18, 1 << 19))
        missed = "   missed" if twice > 3.5 * once + 0.01 else ""
        print(f"{unit[:12]!r:16} 256 KB {once * 1000:7.1f} ms   twice that x{twice / once:.1f}{missed}")


if __name__ == "__main__":
    main()
