"""How much of a secret is left in a text, and what a corpus says of the engine."""

import json
from pathlib import Path

from engine import redact

HERE = Path(__file__).parent


def rows(name: str) -> list[dict[str, str]]:
    """A set of the corpus, put together."""
    found = []
    for line in (HERE / "corpus" / f"{name}.jsonl").read_text().splitlines():
        row = json.loads(line)
        value = "".join(row.get("secret", ()))
        found.append({"text": row["text"].replace("§", value), "secret": value, "kind": row.get("kind", "")})
    return found


def left(secret: str, shown: str, size: int = 6, around: str = "") -> bool:
    """Whether so many characters of a secret's body are still there: beyond the six and four that a mask may show.

    What the text ``around`` it holds too says nothing: a key may begin with the name of its service.
    """
    for line in secret.replace("\\n", "\n").split("\n"):
        body = line[6:-4] if len(line) >= 18 else line
        told = min(size, len(body))
        parts = {body[at : at + told] for at in range(len(body) - told + 1)} if told else set()
        if any(part in shown and part not in around for part in parts):
            return True
    return False


def missed(name: str) -> list[dict[str, str]]:
    """The secrets of a set that are still to be read after redaction."""
    return [row for row in rows(f"{name}.secrets") if left(row["secret"], redact(row["text"]))]


def alarms(name: str) -> list[dict[str, str]]:
    """The look-alikes of a set that were changed."""
    return [row for row in rows(f"{name}.harmless") if redact(row["text"]) != row["text"]]


def main() -> None:
    """Print the figures and what went wrong."""
    import sys

    for name in sys.argv[1:]:
        bad, wrong = missed(name), alarms(name)
        for row in bad:
            print("LEFT ", row["kind"], repr(row["text"])[:200], "->", repr(redact(row["text"]))[:160])
        for row in wrong:
            print("ALARM", repr(row["text"])[:150], "->", repr(redact(row["text"]))[:150])
        a, b = len(rows(f"{name}.secrets")), len(rows(f"{name}.harmless"))
        print(f"{name}: recall {1 - len(bad) / a:.4f} of {a}, false alarms {len(wrong) / b:.4f} of {b}")


if __name__ == "__main__":
    main()
