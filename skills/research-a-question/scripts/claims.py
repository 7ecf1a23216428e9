"""Find claims without a place or a date.   claims.py NOTES.csv   Exit status 1 when a claim cannot be used as it is.

A line for each claim: claim,source,place,as_of. Two lines of one claim are two places; those of one source are one.
"""

import csv
import re
import sys

FIELDS = ("claim", "source", "place", "as_of")
DAY = re.compile(r"\d{4}(-\d\d(-\d\d)?)?|v?\d+(\.\d+)+")


def main(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    if not rows or any(name not in rows[0] for name in FIELDS):
        print(f"the first line has to be: {','.join(FIELDS)}")
        return 1
    claims, wrong = {}, 0
    for number, row in enumerate(rows, 2):
        told = {name: (row[name] or "").strip() for name in FIELDS}
        lacks = [name for name in FIELDS[:3] if not told[name]]
        lacks += [] if DAY.fullmatch(told["as_of"]) else ["as_of (a date or a version)"]
        if lacks:
            wrong += 1
            print(f"line {number}: not used, it lacks {', '.join(lacks)}: {told['claim'][:60]}")
        else:
            claims.setdefault(told["claim"], set()).add(told["source"])
    for claim, sources in claims.items():
        print(f"{'known' if len(sources) > 1 else 'likely'}, {len(sources)} of its own: {claim}")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        sys.exit(main(sys.argv[1]))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        sys.exit(f"claims: {error}")
