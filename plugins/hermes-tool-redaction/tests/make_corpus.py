"""Makes ``corpus/*.jsonl`` from the contexts and drawn values: ``python tests/make_corpus.py``."""

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from more_secrets import MORE, formats  # noqa: E402
from secrets_to_hide import ALNUM, HEX, KINDS, VENDORS, Rng, base64_of, password, pem, some  # noqa: E402

SHARES = {
    "tune": 3,
    "held": 1,
    "second": 1,
    "third": 1,
}  # how often each service's format is taken, in other contexts each time

LATER = ["bench", "field", "trial"]  # sets with the formats of ``contexts/formats.txt`` too


def secret(kind: str, rng: Rng) -> list[str]:
    """A value of a kind in parts, none of which is a live format."""
    special = {
        "pct": lambda: quote(password(rng) + "@/" + some(rng, 4), safe=""),
        "sas": lambda: quote(base64_of(rng, 32), safe=""),
        "hex64": lambda: some(rng, 64, HEX),
        "slackhook": lambda: f"T{some(rng, 9).upper()}/B{some(rng, 9).upper()}/{some(rng, 24)}",
        "telegram": lambda: VENDORS["telegram"][1](rng),
        "pem1": lambda: pem(rng, 3).replace("\n", "\\n"),
    }
    value = special[kind]() if kind in special else KINDS[kind](rng)
    return [value[:4], value[4:]]


def hidden(name: str, rng: Rng) -> Iterator[dict[str, object]]:
    """The rows of one set: each context once or more, each service's format in some."""
    contexts = [
        line.split("\t", 1) for line in (HERE / f"contexts/{name}.secrets.txt").read_text().splitlines() if line
    ]
    plain = [(kind, text) for kind, text in contexts if kind != "vendor"]
    around = [text for kind, text in contexts if kind == "vendor"]
    for kind, text in plain * (2 if name == "tune" else 1):
        yield {"text": _read(text), "secret": secret(kind, rng), "kind": kind}
    for service, (prefix, body) in VENDORS.items():
        for text in rng.sample(around, SHARES[name]):
            value = body(rng)
            yield {"text": _read(text), "secret": [prefix, value[:4], value[4:]], "kind": service}


def harmless(name: str, rng: Rng) -> Iterator[dict[str, object]]:
    """Look-alikes of one set."""
    draws = {
        "sha1": lambda: some(rng, 40, HEX), "sha7": lambda: some(rng, 7, HEX), "uuid": lambda: KINDS["uuid"](rng),
        "hex64": lambda: some(rng, 64, HEX), "hex32": lambda: some(rng, 32, HEX), "hex16": lambda: some(rng, 16, HEX),
        "hex24": lambda: some(rng, 24, HEX), "hex8": lambda: some(rng, 8, HEX), "b64_64": lambda: some(rng, 86, ALNUM + "+/"),
        "b64_48": lambda: some(rng, 64, ALNUM + "+/"), "b64_32": lambda: some(rng, 43, ALNUM + "+/"),
        "ident": lambda: some(rng, 24, ALNUM),
        "b64_20": lambda: some(rng, 27, ALNUM + "+/"), "digits": lambda: str(rng.randrange(10**19, 10**20)),
        "fp": lambda: ":".join(some(rng, 2, "0123456789ABCDEF") for _ in range(14)),
    }  # fmt: skip
    for line in (HERE / f"contexts/{name}.harmless.txt").read_text().splitlines():
        for _ in range(2 if name == "tune" else 1):
            text = _read(line)
            for word, draw in draws.items():
                while f"{{{word}}}" in text:
                    text = text.replace(f"{{{word}}}", draw(), 1)
            yield {"text": text.replace("{{", "{").replace("}}", "}")}


def benchmark(name: str, rng: Rng) -> Iterator[dict[str, object]]:
    """The rows of a set after the third: each context once, each service's format in some. A format whose body looks like
    much else (its name begins with ``~``) is only taken where a name says what it is."""
    lines = [line.split("\t", 1) for line in (HERE / f"contexts/{name}.secrets.txt").read_text().splitlines() if line]
    for kind, text in lines:
        if kind not in ("vendor", "named"):
            value = MORE[kind](rng)
            yield {"text": _read(text).replace("\\t", "\t"), "secret": [value[:4], value[4:]], "kind": kind}
    named = [text for kind, text in lines if kind == "named"]
    every = [text for kind, text in lines if kind in ("vendor", "named")]
    for service, draw in formats(name).items():
        for text in rng.sample(named if service[0] == "~" else every, 2 if name == "bench" else 1):
            value = draw(rng)
            yield {"text": _read(text), "secret": [value[:4], value[4:9], value[9:]], "kind": service}


def _read(text: str) -> str:
    return text.replace("\\\\", "\0").replace("\\n", "\n").replace("\\x1b", "\x1b").replace("\0", "\\")


def main() -> None:
    """Write the files."""
    for name in sys.argv[1:] or [*SHARES, *LATER]:
        rng = random.Random(f"hermes {name}")
        secrets = hidden if name in SHARES else benchmark
        for kind, rows in (("secrets", secrets(name, rng)), ("harmless", harmless(name, rng))):
            path = HERE / f"corpus/{name}.{kind}.jsonl"
            path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
            print(path.name, len(path.read_text().splitlines()))


if __name__ == "__main__":
    main()
