"""Find what makes a text hard to read.   plain.py FILE [--most WORDS]    Exit status 1 when a sentence is too long."""

import argparse
import re
import sys

PHRASES = {
    "in order to": "to",
    "due to the fact that": "because",
    "at this point in time": "now",
    "with regard to": "about",
    "in the event that": "if",
    "a large number of": "many",
    "prior to": "before",
    "subsequent to": "after",
    "is able to": "can",
    "make a decision": "decide",
    "utilise": "use",
    "utilize": "use",
    "in accordance with": "by",
    "for the purpose of": "for",
    "it should be noted that": "(nothing)",
    "take into consideration": "consider",
}
PASSIVE = re.compile(r"\b(?:is|are|was|were|be|been|being)\s+(?:\w+ly\s+)?(\w{3,}(?:ed|en))\b", re.I)
END = re.compile(r"(?<=[.!?…])[\"”’)]*\s+(?=[\"“‘(]?[A-ZÀ-ÞΑ-ΩА-Я0-9])")
SHORT = re.compile(r"\b(?:e\.g|i\.e|etc|Mr|Mrs|Ms|Dr|No|vs|approx|z\.B|d\.h)\.$")


def sentences(text):
    """Each sentence with the line it begins in; headings, lists and empty lines end one."""
    pieces, line, begun, kept = [], 0, 0, []
    for line, words in enumerate([*text.splitlines(), ""], 1):
        plain = re.sub(r"^\s*(?:[-*>]|\d+[.)]|#{1,6})\s+", "", words)
        if not words.strip() or plain != words:
            if kept:
                pieces.append((begun, " ".join(kept)))
            kept = []
        if plain.strip():
            begun = begun if kept else line
            kept.append(plain.strip())
    for start, whole in pieces:
        held = ""
        for one in END.split(whole):
            held = f"{held} {one}".strip()
            if not SHORT.search(held):
                yield start, held
                held = ""
        if held:
            yield start, held


def main(path, most):
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"```.*?```", lambda m: "\n" * m[0].count("\n"), file.read(), flags=re.S)
    found, long, count = list(sentences(text)), 0, 0
    for line, one in found:
        words = re.findall(r"[^\W_][\w'’-]*", one)
        count += len(words)
        if len(words) > most:
            long += 1
            print(f"{line}: {len(words)} words: {one[:80]}…")
        for hit in PASSIVE.finditer(one):
            print(f"{line}: passive? {hit[0]}")
        for phrase, better in PHRASES.items():
            if re.search(rf"\b{phrase}\b", one, re.I):
                print(f"{line}: {phrase!r}: {better}")
    print(f"{len(found)} sentences, {count / max(1, len(found)):.0f} words each, {long} of more than {most}")
    return 1 if long else 0


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("file")
    words.add_argument("--most", type=int, default=25)
    given = words.parse_args()
    try:
        sys.exit(main(given.file, given.most))
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"plain: {error}")
