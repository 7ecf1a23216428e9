"""Ask CSV files with SQL; the result is CSV.   sql.py "SELECT ..." A.csv [B.csv]     sql.py --schema A.csv"""

import csv
import os
import re
import sqlite3
import sys

WHOLE, REAL = re.compile(r"-?(?:0|[1-9]\d{0,17})"), re.compile(r"-?(?:0|[1-9]\d*)\.\d+")


def kind_of(values):
    there = [v for v in values if v]
    if there and all(WHOLE.fullmatch(v) for v in there):
        return "INTEGER", int
    if there and all(WHOLE.fullmatch(v) or REAL.fullmatch(v) for v in there):
        return "REAL", float
    return "TEXT", str


def load(base, path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        text = file.read()
    first = text.partition("\n")[0]
    rows = [r for r in csv.reader(text.splitlines(keepends=True), delimiter=max(",;\t", key=first.count)) if r]
    if not rows:
        sys.exit(f"sql: {path} is empty")
    head = rows[0]
    name = re.sub(r"\W", "_", os.path.splitext(os.path.basename(path))[0])
    rows = [[*row[: len(head)], *[""] * (len(head) - len(row))] for row in rows[1:]]
    kinds = [kind_of([row[n] for row in rows]) for n in range(len(head))]
    quoted = ['"' + column.replace('"', '""') + '"' for column in head]
    base.execute(f'CREATE TABLE "{name}" ({", ".join(f"{c} {k[0]}" for c, k in zip(quoted, kinds))})')
    values = ([k[1](v) if v else None for v, k in zip(row, kinds)] for row in rows)
    base.executemany(f'INSERT INTO "{name}" VALUES ({", ".join("?" * len(head))})', values)
    return name, [f"{c} {k[0]}" for c, k in zip(quoted, kinds)], len(rows)


def main(question, paths):
    base = sqlite3.connect(":memory:")
    known = [load(base, path) for path in paths]
    if question == "--schema":
        for name, columns, count in known:
            print(f"{name} ({count} rows): {', '.join(columns)}")
        return
    base.execute("PRAGMA query_only = 1")
    found = base.execute(question)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    if found.description:
        writer.writerow([column[0] for column in found.description])
        writer.writerows(found)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    try:
        main(sys.argv[1], sys.argv[2:])
    except (OSError, UnicodeDecodeError, sqlite3.Error) as error:
        sys.exit(f"sql: {error}")
