"""Compare two CSV files by a key.   reconcile.py A.csv B.csv --key KEY|LEFT=RIGHT [--ignore COLUMN]"""

import argparse
import csv
import sys
from decimal import Decimal, InvalidOperation


def plain(value):
    return value.strip().casefold().lstrip("0") or "0"


def same(one, other):
    try:
        return round(Decimal(one.replace(",", "")), 2) == round(Decimal(other.replace(",", "")), 2)
    except InvalidOperation:
        return one.strip().casefold() == other.strip().casefold()


def read(path, key):
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    if rows and key not in rows[0]:
        sys.exit(f"reconcile: {path} has no column {key}; it has {', '.join(rows[0])}")
    found, twice = {}, []
    for row in rows:
        if plain(row[key]) in found:
            twice.append(row[key])
        found.setdefault(plain(row[key]), row)
    if twice:
        sys.exit(
            f"reconcile: in {path} these keys are there twice: {', '.join(twice[:20])}; choose another key, or add them up first"
        )
    return found


def main(given):
    left, _, right = given.key.partition("=")
    right = right or left
    a, b = read(given.first, left), read(given.second, right)
    differ = agree = 0
    for key in a.keys() & b.keys():
        shared = [c for c in a[key] if c in b[key] and c not in (left, right, *given.ignore)]
        off = [f"{c}: {a[key][c]} | {b[key][c]}" for c in shared if not same(a[key][c] or "", b[key][c] or "")]
        agree, differ = agree + (not off), differ + bool(off)
        if off:
            print(f"differs {a[key][left]}: {'; '.join(off)}")
    only = (
        [(a[k], left, k) for k in sorted(a.keys() - b.keys())],
        [(b[k], right, k) for k in sorted(b.keys() - a.keys())],
    )
    for rows, path in zip(only, (given.first, given.second)):
        for row, column, _ in rows:
            print(f"only in {path}: {row[column]}: {', '.join(f'{k}={v}' for k, v in row.items() if k != column)}")
    for row, _, _ in only[0]:
        for other, column, _ in only[1]:
            values = [(row[c], other[c]) for c in row if c in other and c not in (left, right, *given.ignore)]
            if values and all(same(x or "", y or "") for x, y in values):
                print(f"perhaps the same: {row[left]} and {other[column]}")
    print(
        f"{agree} agree, {differ} differ, {len(only[0])} only in {given.first}, {len(only[1])} only in {given.second}"
    )


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("first")
    words.add_argument("second")
    words.add_argument("--key", required=True)
    words.add_argument("--ignore", action="append", default=[])
    try:
        main(words.parse_args())
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"reconcile: {error}")
