"""What is hidden of each text of the corpora, to the character: ``python tests/hiding.py`` writes it down.

In ``corpus/hidden/`` each line is a text: the places that are hidden, with ``!`` where nothing of them may be shown.
Texts are also dressed up, as they come out of logs, files and addresses.
"""

import json
import re
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from engine import redact
from measuring import HERE, rows

FOLDER = HERE / "corpus" / "hidden"
SETS = ["tune", "held", "second", "third", "bench", "field", "trial"]
NAMES = [f"{name}.{kind}" for name in SETS for kind in ("secrets", "harmless")]
EDGES = "edges"  # texts that are just a secret, or just none: for each there is a mistake that only it tells
FILLER = "Nothing to see in this line, nor in the next one.\n"
BEFORE = "PASSWORD, secret and key are words as well: "


def nth(text: str, pattern: str) -> re.Match[str]:
    """One of the places of a pattern in a text, another one in each text; the end where there is none."""
    found = list(re.finditer(pattern, text)) or [re.compile("$").search(text)]
    return found[zlib.crc32(text.encode()) % len(found)]  # type: ignore[return-value]


def replaced(text: str, pattern: str, new: Callable[[str], str]) -> str:
    """A text with one place of a pattern changed."""
    place = nth(text, pattern)
    return text[: place.start()] + new(place[0]) + text[place.end() :]


DRESSES: dict[str, Callable[[str], str]] = {
    "in JSON": lambda text: json.dumps({"level": "info", "message": text, "n": 1}),
    "twice in JSON": lambda text: json.dumps({"body": json.dumps({"text": text})}),
    "in an address": lambda text: f"GET /log?line={quote(text)}&n=1 HTTP/1.1",
    "in colours": lambda text: text.replace("=", "\x1b[1m=\x1b[0m").replace(": ", "\x1b[36m: \x1b[0m"),
    "behind lines": lambda text: f"{FILLER * 20}  > {text}\n{FILLER}",
    "in a command": lambda text: f'$ run --with "{text}" --quiet && echo done',
    "as a comment": lambda text: f"x = 1  # {text}\r\ny = 2\r\n",
    "said again": lambda text: f"{text}\nas I said: {text} and so on",
    # nearly the same: what is just no secret any more, or still one
    "a sign lost": lambda text: replaced(text, r"[^\w\s]", lambda sign: ""),
    "a sign doubled": lambda text: replaced(text, r"[^\w\s]", lambda sign: sign * 2),
    "another sign": lambda text: replaced(
        text, r"[=:/@.-]", lambda sign: "=:/@.-"["=:/@.-".index(sign) - 1 if sign else 0]
    ),
    "a blank more": lambda text: replaced(text, r"[^\w\s]", lambda sign: f" {sign}"),
    "a blank behind": lambda text: replaced(text, r"[^\w\s]", lambda sign: f"{sign} "),
    "a line broken": lambda text: replaced(text, r"[=: ]", lambda sign: f"{sign}\n"),
    "a word cut": lambda text: replaced(text, r"\w{5,}", lambda word: word[: len(word) * 2 // 3]),
    "a word longer": lambda text: replaced(text, r"\w{5,}", lambda word: f"{word}Qx7{word[::-1]}"),
    "a digit lost": lambda text: replaced(text, r"\d", lambda digit: ""),
    "glued": lambda text: replaced(text, r"\b\w", lambda letter: f"x{letter}"),
    "loud": str.upper,
    "low": str.lower,
    "wrapped": lambda text: "\n".join(text[at : at + 64] for at in range(0, len(text), 64)),
    "behind words": lambda text: f"{BEFORE}{text}{BEFORE}",
    "in a table": lambda text: (
        "| name | value |\n|---|---|\n| " + text.replace(" ", " | ", 1).replace("=", " | ", 1) + " |"
    ),
    "in YAML": lambda text: "key: |\n  " + text.replace("=", ": ", 1) + "\nother: >-\n  " + text + "\n",
    "begun before": lambda text: text[-60:] + "\n" + text[: len(text) // 2],
}


def hidden(text: str) -> str:
    """The places of a text that are hidden."""
    secrets: list[tuple[str, bool]] = []

    def mark(secret: str, whole: bool) -> str:
        secrets.append((secret, whole))
        return "\0"

    places, end = [], 0
    for before, (secret, whole) in zip(redact(text, mask=mark).split("\0"), secrets, strict=False):
        begin = end + len(before)
        end = begin + len(secret)
        places.append(f"{begin}-{end}{'!' if whole else ''}")
    return " ".join(places)


def texts(name: str) -> list[str]:
    """The texts of a set; for a dress every seventh of all, starting with its own."""
    if name not in DRESSES:
        return [row["text"] for row in rows(name)]
    every = [row["text"] for one in NAMES for row in rows(one)]
    return [DRESSES[name](text) for text in every[list(DRESSES).index(name) % 7 :: 7]]


def path_of(name: str) -> Path:
    """The file that says what is hidden."""
    return FOLDER / f"{name.replace(' ', '-')}.txt"


def main() -> None:
    """Write down what is hidden now."""
    FOLDER.mkdir(exist_ok=True)
    for name in (*NAMES, EDGES, *DRESSES):
        path_of(name).write_text("".join(f"{hidden(text)}\n" for text in texts(name)))


if __name__ == "__main__":
    sys.exit(main())
