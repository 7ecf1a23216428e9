"""Count the kinds of lines of a log.   log_kinds.py LOG [--level WORD] [--rare] [--unlike GOOD_LOG] [--most N]"""

import argparse
import gzip
import re
import sys

TIME = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?|\b\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}|^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d"
)
MASKS = (
    (TIME, "<time>"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.I), "<id>"),
    (re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b"), "<address>"),
    (re.compile(r"\b(?:0x)?(?=[0-9a-f]*\d)[0-9a-f]{8,}\b", re.I), "<hex>"),
    (re.compile(r"\"[^\"]{0,500}\"|'[^']{0,500}'"), "<words>"),
    (re.compile(r"(?<![A-Za-z])\d+(?:\.\d+)?"), "<n>"),
)


def lines_of(path):
    opened = (
        gzip.open(path, "rt", encoding="utf-8", errors="replace")
        if path.endswith(".gz")
        else open(path, encoding="utf-8", errors="replace")
    )
    with opened as file:
        yield from enumerate(file, 1)


def kind_of(line):
    for shape, name in MASKS:
        line = shape.sub(name, line)
    return " ".join(line.split())[:300]


def kinds(path, level):
    found = {}
    for number, line in lines_of(path):
        if line.strip() and (not level or level.lower() in line.lower()):
            row = found.setdefault(kind_of(line), [0, number, number, line.strip()])
            row[0] += 1
            row[2] = number
    return found


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("log")
    words.add_argument("--level", default="")
    words.add_argument("--rare", action="store_true")
    words.add_argument("--unlike", default="")
    words.add_argument("--most", type=int, default=30)
    given = words.parse_args()
    try:
        found = kinds(given.log, given.level)
        known = kinds(given.unlike, "") if given.unlike else {}
    except OSError as error:
        sys.exit(f"log_kinds: {error}")
    new = {kind: row for kind, row in found.items() if kind not in known}
    order = sorted(
        new.items(),
        key=(lambda one: one[1][1]) if given.unlike else (lambda one: one[1][0] if given.rare else -one[1][0]),
    )
    for kind, (count, first, last, sample) in order[: given.most]:
        print(f"{count} x, lines {first} to {last}: {kind}\n    first: {sample[:300]}")
    print(
        f"{len(new)} kinds{f' that {given.unlike} does not have' if given.unlike else ''}, {sum(row[0] for row in new.values())} lines"
    )
